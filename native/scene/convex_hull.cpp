#include "native/scene/convex_hull.h"

#include <algorithm>
#include <cmath>

namespace s2r::scene {

namespace {

double turn(const Vec2& a, const Vec2& b, const Vec2& c) {
  return (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
}

}  // namespace

std::vector<Vec2> convexHull(std::vector<Vec2> points) {
  auto before = [](const Vec2& a, const Vec2& b) {
    return a.x() != b.x() ? a.x() < b.x() : a.y() < b.y();
  };
  std::sort(points.begin(), points.end(), before);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3)
    return points;
  std::vector<Vec2> hull;
  auto add = [&](const Vec2& p, size_t keep) {
    while (hull.size() > keep && turn(hull[hull.size() - 2], hull.back(), p) <= 0.0)
      hull.pop_back();
    hull.push_back(p);
  };
  for (const Vec2& p : points)
    add(p, 1);
  const size_t lower = hull.size();
  for (auto p = points.rbegin() + 1; p != points.rend(); ++p)
    add(*p, lower);
  hull.pop_back();
  return hull;
}

double polygonArea(const std::vector<Vec2>& corners) {
  double twice = 0.0;
  for (size_t i = 0; i < corners.size(); ++i) {
    const Vec2& a = corners[i];
    const Vec2& b = corners[(i + 1) % corners.size()];
    twice += a.x() * b.y() - a.y() * b.x();
  }
  return 0.5 * twice;
}

Mask fillHull(const Mask& mask) {
  std::vector<Vec2> ends;  // only a row's first and last pixel can be corners
  for (int y = 0; y < mask.height; ++y) {
    int first = -1, last = -1;
    for (int x = 0; x < mask.width; ++x) {
      if (!mask(x, y))
        continue;
      if (first < 0)
        first = x;
      last = x;
    }
    if (first >= 0)
      ends.emplace_back(first, y);
    if (last > first)
      ends.emplace_back(last, y);
  }
  Mask out = mask;
  const std::vector<Vec2> hull = convexHull(ends);
  if (hull.size() < 3)
    return out;
  for (int y = 0; y < mask.height; ++y) {
    double left = mask.width, right = -1.0;
    for (size_t i = 0; i < hull.size(); ++i) {
      const Vec2& a = hull[i];
      const Vec2& b = hull[(i + 1) % hull.size()];
      if (y < std::min(a.y(), b.y()) || y > std::max(a.y(), b.y()))
        continue;
      const double t = a.y() == b.y() ? 0.0 : (y - a.y()) / (b.y() - a.y());
      for (double x :
           {a.x() + t * (b.x() - a.x()), a.y() == b.y() ? b.x() : a.x() + t * (b.x() - a.x())}) {
        left = std::min(left, x);
        right = std::max(right, x);
      }
    }
    const int from = std::max(0, static_cast<int>(std::ceil(left - 1e-9)));
    const int to = std::min(mask.width - 1, static_cast<int>(std::floor(right + 1e-9)));
    for (int x = from; x <= to; ++x)
      out(x, y) = 1;
  }
  return out;
}

}  // namespace s2r::scene
