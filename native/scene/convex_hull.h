#pragma once

#include <Eigen/Core>
#include <vector>

#include "native/scene/types.h"

namespace s2r::scene {

using Vec2 = Eigen::Vector2d;

/// Corners of the convex hull, counter-clockwise, without collinear points (Andrew's monotone
/// chain).
[[nodiscard]] std::vector<Vec2> convexHull(std::vector<Vec2> points);

[[nodiscard]] double polygonArea(const std::vector<Vec2>& corners);

/// Every pixel whose centre lies in the convex hull of the mask's pixel centres.
[[nodiscard]] Mask fillHull(const Mask& mask);

}  // namespace s2r::scene
