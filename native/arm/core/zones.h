// Bodies of the arm, its gripper and its load against zones of the world. Nothing allocates.
#pragma once

#include <Eigen/Geometry>

#include "native/arm/core/config.h"

namespace s2r::arm {

// Origin and axes of the base, of each DH frame and of the TCP, in world.
struct Frame {
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  [[nodiscard]] Eigen::Vector3d operator*(const Vector3& local) const {
    return R * Eigen::Vector3d(local[0], local[1], local[2]) + p;
  }
};
using Frames = std::array<Frame, 8>;

class Chain {
 public:
  explicit Chain(const CoreConfig& config);
  [[nodiscard]] Frames frames(const Joints& q_rad) const noexcept;
  [[nodiscard]] const Eigen::Matrix3d& R_world_base() const noexcept { return base_.R; }

 private:
  struct Row {
    double a, d, sin_alpha, cos_alpha, offset;
  };
  std::array<Row, kJoints> rows_{};
  Frame base_, flange_tcp_;
};

class ZoneChecker {
 public:
  // A body this much deeper than it was where the motion began is a violation.
  static constexpr double kSlack_m = 1e-4;

  struct Hit {
    int body = kNoIndex, zone = kNoIndex;  // zone kNoIndex: none
    double distance_m = 0, limit_m = 0;
  };

  explicit ZoneChecker(const CoreConfig& config);
  void setLoad(const LoadUpdate& load) noexcept;
  // A motion begins here: bodies that are inside a zone may part from it, but not go deeper.
  void startAt(const Joints& q_rad) noexcept;
  // The worst violation at q.
  [[nodiscard]] Hit check(const Joints& q_rad) const noexcept;

 private:
  template <typename Visit>
  void visit(const Joints& q_rad, Visit visitor) const noexcept;

  Chain chain_;
  std::array<Body, kMaxBodies + 1> bodies_{};  // the load last
  std::array<Zone, kMaxZones> zones_{};
  std::array<Frame, kMaxZones> boxes_{};
  int body_count_, zone_count_;
  bool carried_ = false;
  std::array<std::array<double, kMaxZones>, kMaxBodies + 1> allowed_m_{};
};

// Distance of a capsule's axis to a box of half sizes `half` about the origin; negative inside, by
// the depth of the axis point that lies deepest.
[[nodiscard]] double segmentToBox(const Eigen::Vector3d& p0,
                                  const Eigen::Vector3d& p1,
                                  const Eigen::Vector3d& half);

}  // namespace s2r::arm
