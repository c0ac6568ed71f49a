// Convex bodies and their signed distances (negative: how deep they overlap), all in world.
#pragma once

#include <array>

#include "native/pose/model.h"

namespace s2r::pose {

enum class ShapeKind { kCapsule, kBox, kCylinder };

struct Shape {
  ShapeKind kind = ShapeKind::kCapsule;
  // Capsule.
  Vec3 p0 = Vec3::Zero(), p1 = Vec3::Zero();
  double radius = 0;
  // Box, or the elliptic cylinder inscribed in it with its axis along the box's z.
  Mat3 axes = Mat3::Identity();
  Vec3 half = Vec3::Zero();
  // Bounding ball.
  Vec3 center = Vec3::Zero();
  double bound = 0;
};

[[nodiscard]] Shape capsuleShape(const Capsule& capsule, const Transform& X_world_frame);
[[nodiscard]] Shape boxShape(const Transform& X_world_box, const Vec3& size_m, bool round = false);

// Distance of a point from the surface. For the elliptic cylinder a lower bound that is exact for
// circles.
[[nodiscard]] double distanceToPoint(const Shape& shape, const Vec3& point);
[[nodiscard]] double lowestZ(const Shape& shape);
// Capsules against capsules and boxes: exact. Boxes against boxes: the largest separation along a
// separating axis, never more than the true distance, with the right sign. Cylinders count as
// boxes.
[[nodiscard]] double distanceBetween(const Shape& a, const Shape& b);
// Distance between the bounding balls, a lower bound of any distance.
[[nodiscard]] double boundDistance(const Shape& a, const Shape& b);
// The farthest that any point of `a` has moved when it became `b` (same body, two configurations).
[[nodiscard]] double displacement(const Shape& a, const Shape& b);

}  // namespace s2r::pose
