// From a held object and a target point to carry, release and retreat poses that can be driven.
#pragma once

#include "native/pose/compile_common.h"

namespace s2r::pose {

struct PlaceRequest {
  HeldObject held;
  Vec3 target_point_world_m = Vec3::Zero();
  std::optional<Vec3> object_axis_world;
  Vec3 anchor_on_object_m = Vec3::Zero();
  Scene scene;
  std::vector<float> support_cloud_world_m;  // N x 3; empty: the scene's cloud
  Joints q_seed_rad = Joints::Zero();
  std::optional<double> held_opening_m;
  double release_opening_m = 0;
  double release_height_m = 0.004;
  double carry_height_m = 0.12;
};

struct Place {
  CompileOutcome outcome;
  CompiledPose carry, release, retreat;
  double opening_m = 0;
  double support_z_m = 0, support_seen = 0;
  double object_yaw_rad = 0;
  OrientedBox may_touch;
};

[[nodiscard]] Place compilePlace(const Arm& arm, const PlaceRequest& request);

}  // namespace s2r::pose
