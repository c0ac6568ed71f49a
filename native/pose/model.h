// Plain data of one arm. Frames: X_a_b is the pose of frame b in frame a; world is z up; the TCP
// has its origin between the fingertips, +z along the approach, +y along the closing direction. SI
// units.
#pragma once

#include <Eigen/Geometry>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace s2r::pose {

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;
using Transform = Eigen::Isometry3d;
using Joints = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr int kJoints = 6;

// Standard Denavit-Hartenberg row: Rz(q + theta_offset) Tz(d) Tx(a) Rx(alpha).
struct DhRow {
  double a_m = 0, d_m = 0, alpha_rad = 0, theta_offset_rad = 0;
};

struct Capsule {
  Vec3 p0_m = Vec3::Zero(), p1_m = Vec3::Zero();
  double radius_m = 0;
};

struct LinkCapsule {
  int link = 0;
  Capsule capsule;
};

// Fingers are boxes, in the TCP frame: width along x, thickness outwards along y from the inner
// face at +-opening/2, and from z = tip_beyond_tcp back over length.
struct Gripper {
  std::vector<Capsule> capsules;
  double max_opening_m = 0, min_opening_m = 0;
  double finger_length_m = 0, finger_width_m = 0, finger_thickness_m = 0, tip_beyond_tcp_m = 0,
         grip_depth_m = 0;
};

struct ArmModel {
  std::string name;
  std::array<DhRow, 6> dh;
  Transform X_world_base = Transform::Identity();
  Transform X_flange_tcp = Transform::Identity();
  Joints position_min_rad = Joints::Constant(-2 * kPi);
  Joints position_max_rad = Joints::Constant(2 * kPi);
  Joints velocity_max_rad_s = Joints::Constant(kPi);
  Joints acceleration_max_rad_s2 = Joints::Constant(8);
  Joints jerk_max_rad_s3 = Joints::Constant(80);
  std::vector<LinkCapsule> capsules;
  Gripper gripper;
  int fixed_links = 1;
  std::vector<std::pair<int, int>> self_collision_ignore = {{3, 5}, {4, 6}};
  // Capsules (by index) of one arm that touch in every configuration; see findTouchingCapsules.
  std::vector<std::pair<int, int>> touching_capsules;
};

struct OrientedBox {
  Transform X_world_box = Transform::Identity();
  Vec3 size_m = Vec3::Zero();
};

// A carried object: a box rigid with the TCP, whose own +z was up when it stood on its support.
struct HeldObject {
  Transform X_tcp_object = Transform::Identity();
  Vec3 size_m = Vec3::Zero();
  bool round = false;
};

}  // namespace s2r::pose
