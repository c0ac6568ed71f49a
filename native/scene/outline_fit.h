#pragma once

#include "native/scene/convex_hull.h"
#include "native/scene/types.h"

namespace s2r::scene {

/// Rectangle seen from above: `size.x()` along `yaw_rad`, `size.y()` across it.
struct Rectangle {
  Vec2 center = Vec2::Zero();
  Vec2 size = Vec2::Zero();
  double yaw_rad = 0.0;
};

struct Circle {
  Vec2 center = Vec2::Zero();
  double radius = 0.0;
};

struct Sphere {
  Vec3 center = Vec3::Zero();
  double radius = 0.0;
  double rms = 0.0;  ///< Root mean square distance of the points from the surface.
};

/// Least-area rectangle that leaves out the share `trim` of the points beyond each side. Yaw within
/// [0, pi/2) to a tenth of a degree.
[[nodiscard]] Rectangle leastAreaRectangle(const std::vector<Vec2>& points, double trim);

/// Moves each side to where the density of points falls to half of the inside's, which neither
/// noise nor stray points shift. `blur_m` is the width over which density is averaged.
[[nodiscard]] Rectangle sharpenSides(const Rectangle& start,
                                     const std::vector<Vec2>& points,
                                     double blur_m);

/// How well rectangle and circle explain the outline, by their support functions (the farthest
/// reach in each direction) fitted with least squares to the points' own.
struct OutlineShape {
  double rectangle_rms = 0.0;
  double circle_rms = 0.0;
  Circle circle;

  /// Round when the circle leaves clearly less unexplained.
  [[nodiscard]] bool round() const { return circle_rms < 0.7 * rectangle_rms; }
};

[[nodiscard]] OutlineShape compareOutlines(const std::vector<Vec2>& points, double trim);

/// Circle through the places where, sector by sector, the density of points falls to half of the
/// inside's.
[[nodiscard]] Circle sharpenCircle(const Circle& start,
                                   const std::vector<Vec2>& points,
                                   double blur_m);

/// Algebraic least-squares sphere followed by two Gauss-Newton rounds on the distances.
[[nodiscard]] std::optional<Sphere> fitSphere(const std::vector<Vec3>& points);

}  // namespace s2r::scene
