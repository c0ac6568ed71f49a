// From a grasp centre and a closing direction to approach, contact and lift poses that can be
// driven.
#pragma once

#include "native/pose/compile_common.h"

namespace s2r::pose {

struct GraspRequest {
  Vec3 grasp_center_world_m = Vec3::Zero();
  Vec3 closing_axis_world = Vec3::UnitY();
  Vec3 approach_axis_world = -Vec3::UnitZ();
  std::optional<UprightBox> target_box;
  std::vector<float> target_points_world_m;  // N x 3, may be empty
  Scene scene;
  Joints q_seed_rad = Joints::Zero();
  double opening_margin_m = 0.012;
  double max_opening_m = 0;
  double fingertip_clearance_m = 0.004;
  double approach_distance_m = 0.10;
  double lift_height_m = 0.12;
};

struct Grasp {
  CompileOutcome outcome;
  CompiledPose approach, contact, lift;
  double opening_m = 0;
  std::optional<double> object_width_m;
  double raised_m = 0;
};

[[nodiscard]] Grasp compileGrasp(const Arm& arm, const GraspRequest& request);

}  // namespace s2r::pose
