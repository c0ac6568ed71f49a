// Forward kinematics and Jacobian of a serial arm in standard Denavit-Hartenberg form.
#pragma once

#include "native/pose/model.h"

namespace s2r::pose {

// frames[0] is the base, frames[i] the DH frame after joint i (frames[6] is the flange), in world.
using Frames = std::array<Transform, 7>;

class Kinematics {
 public:
  explicit Kinematics(const ArmModel& model);

  [[nodiscard]] Frames frames(const Joints& q_rad) const;
  [[nodiscard]] Transform forward(const Joints& q_rad) const;  // X_world_tcp
  // Rows: linear then angular velocity of the TCP in world axes.
  [[nodiscard]] Matrix6 jacobian(const Joints& q_rad) const;
  [[nodiscard]] Transform tcpOf(const Frames& frames) const { return frames[6] * X_flange_tcp_; }
  // As jacobian(), from frames that are known already.
  [[nodiscard]] Matrix6 jacobianOf(const Frames& frames) const;

 private:
  struct Row {
    double a, d, sin_alpha, cos_alpha, offset;
  };
  std::array<Row, 6> rows_;
  Transform X_world_base_, X_flange_tcp_;
};

// Rotation vector that turns `from` into `to`, in world axes.
[[nodiscard]] Vec3 rotationBetween(const Mat3& from, const Mat3& to);
// Rotation by a rotation vector (exponential map).
[[nodiscard]] Mat3 rotationOf(const Vec3& rotation_vector);

}  // namespace s2r::pose
