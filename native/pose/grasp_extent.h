// What the fingers will meet at a grasp, from what was measured of the target.
#pragma once

#include "native/pose/compile_grasp.h"

namespace s2r::pose {

// What the fingers will meet, in the grasp frame (origin at the grasp centre, y closing, z
// approach).
struct Extent {
  double low_y = 0, high_y = 0;  // within the width of the fingers
  double top_z = 0, bottom_z = 0;
};

[[nodiscard]] Transform poseOf(const UprightBox& box);

// Empty when nothing of the target was measured between the fingers.
[[nodiscard]] std::optional<Extent> measureExtent(const GraspRequest& request,
                                                  const Transform& X_world_grasp,
                                                  const Gripper& gripper);

// How far the TCP must be drawn back so that the palm stays off the object; more than `most_m` when
// that is not enough.
[[nodiscard]] double palmRaise(const Arm& arm,
                               const Transform& X_world_tcp,
                               const UprightBox& box,
                               double most_m);

}  // namespace s2r::pose
