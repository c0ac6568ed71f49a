// Joints along a TCP path, continuous in one branch of the inverse kinematics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "native/pose/cartesian_path.h"
#include "native/pose/inverse.h"

namespace s2r::pose {

enum class PlanCode { kOk, kUnreachable, kJointLimit, kNotLinear, kCollision };

struct FollowOptions {
  double step_m = 0.001;  // of path length between nodes, at most
  int min_nodes = 200;
  int max_nodes = 16384;
  double largest_jump_rad = 0.03;  // between nodes; larger: more nodes, or no continuous way
};

struct Followed {
  PlanCode code = PlanCode::kOk;
  std::string reason;
  double failed_at = 0;       // path length
  std::vector<Joints> nodes;  // at even path lengths, first at 0, last at the section's length
};

// `q_start_rad` must reach the section's first pose.
[[nodiscard]] Followed follow(const Inverse& inverse,
                              const ArmModel& model,
                              const PathSection& section,
                              const Joints& q_start_rad,
                              const FollowOptions& options = {});

// Text of a joint beyond its limit, "joint 6 would reach 6.41 rad, its limit is 6.28".
[[nodiscard]] std::optional<std::string> limitBroken(const ArmModel& model, const Joints& q_rad);

}  // namespace s2r::pose
