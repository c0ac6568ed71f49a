// Kinematics and a plain dynamic model of the emulated UR5e.
//
// Geometry: the maker's published Denavit-Hartenberg table, to which the arm's own calibration is
// added. Masses and centres of mass: the maker's article on the same table; links are taken as
// point masses, so the torques are those of gravity and of the links' translation only.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "backends/emulators/ur-controller/state.h"
#include "native/pose/inverse.h"

namespace s2r::ur {

// Deviation of the true arm from the published table, one a joint.
struct KinematicDeltas {
  Vec6 theta_rad{}, a_m{}, d_m{}, alpha_rad{};
};

struct Payload {
  double mass_kg = 0;
  Vec3 cog_m = Vec3::Zero();  // from the flange, in its axes
  Vec6 inertia_kg_m2{};
};

// x y z and a rotation vector <-> transform.
[[nodiscard]] Transform transformOf(const Vec6& pose);
[[nodiscard]] Vec6 poseOf(const Transform& X);

class Arm {
 public:
  explicit Arm(const KinematicDeltas& deltas);

  void setTcp(const Vec6& tcp_offset);
  [[nodiscard]] const Vec6& tcp() const { return tcp_; }
  [[nodiscard]] const Transform& X_flange_tcp() const { return X_flange_tcp_; }
  [[nodiscard]] const KinematicDeltas& deltas() const { return deltas_; }
  [[nodiscard]] static const std::array<pose::DhRow, 6>& nominalDh();
  [[nodiscard]] std::array<pose::DhRow, 6> dh() const;

  [[nodiscard]] Transform flange(const Joints& q_rad) const;
  [[nodiscard]] Transform tool(const Joints& q_rad) const { return flange(q_rad) * X_flange_tcp_; }
  // Rows: linear then angular velocity of the TCP in base axes.
  [[nodiscard]] pose::Matrix6 jacobian(const Joints& q_rad) const;
  [[nodiscard]] Vec3 elbow(const Joints& q_rad) const;
  // Joint speeds that give a twist of the TCP; empty next to a singularity.
  [[nodiscard]] std::optional<Joints> jointSpeeds(const Joints& q_rad, const Joints& twist) const;
  // Nearest solution to a seed within +-2 pi; empty when the pose is out of reach.
  [[nodiscard]] std::optional<Joints> inverse(const Transform& X_base_tcp,
                                              const Joints& q_near_rad) const;
  // Continues from a seed close by; empty when no exact solution is found there.
  [[nodiscard]] std::optional<Joints> follow(const Transform& X_base_tcp,
                                             const Joints& q_seed_rad) const;

  [[nodiscard]] Joints gravityTorque(const Joints& q_rad,
                                     const Payload& payload,
                                     const Vec3& gravity) const;
  [[nodiscard]] pose::Matrix6 massMatrix(const Joints& q_rad, const Payload& payload) const;
  [[nodiscard]] Joints coriolisTorque(const Joints& q_rad,
                                      const Joints& qd_rad_s,
                                      const Payload& payload) const;
  [[nodiscard]] pose::Matrix6 jacobianDerivative(const Joints& q_rad, const Joints& qd_rad_s) const;

 private:
  KinematicDeltas deltas_;
  Vec6 tcp_{};
  Transform X_flange_tcp_ = Transform::Identity();
  std::unique_ptr<pose::Inverse> inverse_;  // of the flange
};

}  // namespace s2r::ur
