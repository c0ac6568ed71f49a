// Jerk-limited joint, linear and path motions, checked against a scene.
#pragma once

#include "native/pose/collision.h"
#include "native/pose/timing.h"

namespace s2r::pose {

// An arm and what is computed once from its model. Shared, read-only, between threads.
struct Arm {
  explicit Arm(ArmModel arm_model) : model(std::move(arm_model)), inverse(model) {
    model.touching_capsules = findTouchingCapsules(model);
  }
  ArmModel model;
  Inverse inverse;
  [[nodiscard]] const Kinematics& kinematics() const { return inverse.kinematics(); }
};

struct PlanCommon {
  Joints q_start_rad = Joints::Zero();
  std::optional<Scene> scene;
  Tool tool;
  double dt_s = 0.002, min_duration_s = 0;
  double velocity_scale = 1, acceleration_scale = 1, jerk_scale = 1;
};
struct JointRequest : PlanCommon {
  std::optional<Joints> q_goal_rad;       // either this
  std::optional<Transform> X_world_goal;  // or this
  bool detour = true;
};
struct PathRequest : PlanCommon {
  std::vector<Transform> poses_world;
  CartesianLimits limits;
  double blend_m = 0.005;
};

struct Plan {
  PlanCode code = PlanCode::kOk;
  std::string reason;
  std::optional<Hit> hit;
  std::optional<int> pose_index;
  Samples samples;
  std::vector<double> pose_times_s;
  bool detour = false;
  std::optional<double> clearance_m;
};

[[nodiscard]] Plan planJoint(const Arm& arm, const JointRequest& request);
[[nodiscard]] Plan planPath(const Arm& arm, const PathRequest& request);

// Words for a hit: "link 3 would be -0.012 m from zone rack".
[[nodiscard]] std::string describe(const Hit& hit);

// Walks joint nodes (straight in joint space between them) at no more than 5 mm or 1 degree of
// motion between checks; the first violation, or the smallest clearance.
struct Walked {
  std::optional<Hit> hit;
  double clearance_m = kFarClearance_m;
  double failed_at = 0;  // in nodes
};
[[nodiscard]] Walked walk(const Arm& arm,
                          CollisionChecker& checker,
                          const std::vector<Joints>& nodes);

}  // namespace s2r::pose
