#include "native/scene/test_support/ray_caster.h"

#include <algorithm>
#include <cmath>

namespace s2r::scene::test {

namespace {

struct Hit {
  double t = std::numeric_limits<double>::infinity();
  Vec3 normal = Vec3::UnitZ();
};

/// Slab test in the body's frame; the entry side gives the normal.
Hit hitBox(const Vec3& o, const Vec3& d, const Vec3& half) {
  double enter = 0.0, leave = std::numeric_limits<double>::infinity();
  int axis = -1;
  for (int k = 0; k < 3; ++k) {
    if (std::abs(d[k]) < 1e-12) {
      if (std::abs(o[k]) > half[k])
        return {};
      continue;
    }
    const double a = (-half[k] - o[k]) / d[k], b = (half[k] - o[k]) / d[k];
    if (std::min(a, b) > enter) {
      enter = std::min(a, b);
      axis = k;
    }
    leave = std::min(leave, std::max(a, b));
  }
  if (axis < 0 || enter > leave)
    return {};
  Hit hit;
  hit.t = enter;
  hit.normal = Vec3::Zero();
  hit.normal[axis] = d[axis] > 0 ? -1.0 : 1.0;
  return hit;
}

Hit hitCylinder(const Vec3& o, const Vec3& d, double radius, double half) {
  Hit hit;
  const double a = d.head<2>().squaredNorm(), b = o.head<2>().dot(d.head<2>());
  const double c = o.head<2>().squaredNorm() - radius * radius;
  const double root = b * b - a * c;
  if (root >= 0.0 && a > 1e-12) {
    const double t = (-b - std::sqrt(root)) / a;
    const Vec3 p = o + t * d;
    if (t > 0 && std::abs(p.z()) <= half)
      hit = {t, Vec3(p.x(), p.y(), 0).normalized()};
  }
  if (std::abs(d.z()) > 1e-12) {
    const double t = (half - o.z()) / d.z();
    const Vec3 p = o + t * d;
    if (t > 0 && t < hit.t && p.head<2>().norm() <= radius)
      hit = {t, Vec3::UnitZ()};
  }
  return hit;
}

Hit hitBall(const Vec3& o, const Vec3& d, double radius) {
  const double a = d.squaredNorm(), b = o.dot(d), c = o.squaredNorm() - radius * radius;
  const double root = b * b - a * c;
  if (root < 0.0)
    return {};
  const double t = (-b - std::sqrt(root)) / a;
  return t > 0 ? Hit{t, (o + t * d).normalized()} : Hit{};
}

Hit hitBody(const Body& body, const Vec3& origin, const Vec3& direction) {
  const Eigen::AngleAxisd turn(-body.yaw_rad, Vec3::UnitZ());
  const Vec3 o = turn * (origin - body.center), d = turn * direction;
  Hit hit;
  switch (body.shape) {
    case Shape::kBox:
      hit = hitBox(o, d, 0.5 * body.size);
      break;
    case Shape::kCylinder:
      hit = hitCylinder(o, d, 0.5 * body.size.x(), 0.5 * body.size.z());
      break;
    case Shape::kBall:
      hit = hitBall(o, d, 0.5 * body.size.x());
      break;
  }
  hit.normal = turn.inverse() * hit.normal;
  return hit;
}

/// A quarter of all 3 mm cells are darker, by a hash of the cell.
double marks(const Vec3& p) {
  const auto cell = [](double v) {
    return static_cast<uint32_t>(static_cast<int32_t>(std::floor(v / 0.003)));
  };
  uint32_t h = cell(p.x()) * 73856093u ^ cell(p.y()) * 19349663u ^ cell(p.z()) * 83492791u;
  h ^= h >> 13;
  h *= 0x5bd1e995u;
  h ^= h >> 15;
  return (h & 3u) == 0 ? 0.65 : 1.0;
}

}  // namespace

void Stage::lookAt(const Vec3& target,
                   double distance_m,
                   double azimuth_rad,
                   double elevation_rad) {
  const Vec3 back(std::cos(elevation_rad) * std::cos(azimuth_rad),
                  std::cos(elevation_rad) * std::sin(azimuth_rad), std::sin(elevation_rad));
  const Vec3 z = -back;
  Vec3 x = z.cross(Vec3::UnitZ());
  if (x.norm() < 1e-6)
    x = Vec3::UnitX();
  x.normalize();
  const Vec3 y = z.cross(x);
  X_world_camera.linear() << x, y, z;
  X_world_camera.translation() = target + distance_m * back;
}

View Shot::view() const {
  View v;
  v.width = width;
  v.height = height;
  v.depth_m = depth_m.data();
  v.rgb = rgb.data();
  v.intrinsics = intrinsics;
  v.X_world_camera = X_world_camera;
  return v;
}

std::vector<uint8_t> Shot::maskOf(int body) const {
  std::vector<uint8_t> mask(owner.size());
  std::transform(owner.begin(), owner.end(), mask.begin(),
                 [&](uint8_t o) { return o == body ? 1 : 0; });
  return mask;
}

Shot shoot(const Stage& stage) {
  Shot shot;
  shot.width = stage.width;
  shot.height = stage.height;
  shot.intrinsics = stage.intrinsics;
  shot.X_world_camera = stage.X_world_camera;
  const size_t count = static_cast<size_t>(stage.width) * static_cast<size_t>(stage.height);
  shot.depth_m.assign(count, std::numeric_limits<float>::quiet_NaN());
  shot.rgb.assign(count * 3, 0);
  shot.owner.assign(count, 0);
  const Vec3 origin = stage.X_world_camera.translation();
  const Vec3 light = Vec3(0.3, -0.5, 0.8).normalized();
  View rays;
  rays.intrinsics = stage.intrinsics;
  for (int v = 0; v < stage.height; ++v) {
    for (int u = 0; u < stage.width; ++u) {
      const size_t i =
          static_cast<size_t>(v) * static_cast<size_t>(stage.width) + static_cast<size_t>(u);
      const Vec3 direction =
          stage.X_world_camera.linear() * rays.rayCamera(u, v);  // t is the depth
      Hit best;
      std::array<uint8_t, 3> paint = stage.table_rgb;
      if (direction.z() < -1e-9)
        best.t = -origin.z() / direction.z();
      for (size_t k = 0; k < stage.bodies.size(); ++k) {
        const Hit hit = hitBody(stage.bodies[k], origin, direction);
        if (hit.t >= best.t)
          continue;
        best = hit;
        paint = stage.bodies[k].rgb;
        shot.owner[i] = static_cast<uint8_t>(k + 1);
      }
      if (!std::isfinite(best.t) || best.t > 5.0)
        continue;
      shot.depth_m[i] = static_cast<float>(best.t);
      const double shade = (0.45 + 0.55 * std::max(0.0, best.normal.dot(light))) *
                           marks(origin + best.t * direction + 1e-4 * best.normal);
      for (size_t k = 0; k < 3; ++k)
        shot.rgb[i * 3 + k] = static_cast<uint8_t>(shade * paint[k]);
    }
  }
  return shot;
}

void addDepthNoise(Shot& shot, double sigma_m, std::mt19937& random) {
  std::normal_distribution<double> noise(0.0, sigma_m);
  for (float& z : shot.depth_m)
    z += static_cast<float>(noise(random));
}

void degradeLikeStereo(Shot& shot,
                       double baseline_m,
                       double sigma_px,
                       int fatten_px,
                       std::mt19937& random) {
  const int w = shot.width, h = shot.height;
  const double fb = shot.intrinsics.fx_px * baseline_m;
  auto at = [&](int x, int y) {
    return static_cast<size_t>(y) * static_cast<size_t>(w) + static_cast<size_t>(x);
  };
  std::vector<double> exact(shot.depth_m.size()), grown, coarse;
  for (size_t i = 0; i < exact.size(); ++i)
    exact[i] = std::isfinite(shot.depth_m[i]) ? fb / shot.depth_m[i] : 0.0;
  grown = exact;
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      for (int dy = -fatten_px; dy <= fatten_px; ++dy) {
        for (int dx = -fatten_px; dx <= fatten_px; ++dx) {
          if (dx * dx + dy * dy > fatten_px * fatten_px || x + dx < 0 || x + dx >= w ||
              y + dy < 0 || y + dy >= h)
            continue;
          grown[at(x, y)] = std::max(grown[at(x, y)], exact[at(x + dx, y + dy)]);
        }
      }
    }
  }
  constexpr int kCell = 6;  // noise is shared by neighbours, as matching windows overlap
  const int cells_x = w / kCell + 2, cells_y = h / kCell + 2;
  std::normal_distribution<double> noise(0.0, sigma_px);
  coarse.resize(static_cast<size_t>(cells_x) * static_cast<size_t>(cells_y));
  for (double& c : coarse)
    c = noise(random);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      double d = grown[at(x, y)];
      if (d <= 0.0)
        continue;
      const double fx = static_cast<double>(x % kCell) / kCell,
                   fy = static_cast<double>(y % kCell) / kCell;
      const size_t c = static_cast<size_t>(y / kCell) * static_cast<size_t>(cells_x) +
                       static_cast<size_t>(x / kCell);
      const size_t below = c + static_cast<size_t>(cells_x);
      d += (coarse[c] * (1 - fx) + coarse[c + 1] * fx) * (1 - fy) +
           (coarse[below] * (1 - fx) + coarse[below + 1] * fx) * fy;
      shot.depth_m[at(x, y)] = static_cast<float>(fb / (std::round(d * 16.0) / 16.0));
    }
    // A pixel is seen by the left camera only when something nearer ends up at its place in the
    // right image.
    double reach = -1e9;
    for (int x = w - 1; x >= 0; --x) {
      const double d = grown[at(x, y)];
      const double right = x - d;
      if (x < w - 1 && right > reach - 0.5 && reach > -1e8 && grown[at(x + 1, y)] > d + 1.0)
        reach = x + 1 - grown[at(x + 1, y)];
      if (reach > -1e8 && right >= reach)
        shot.depth_m[at(x, y)] = std::numeric_limits<float>::quiet_NaN();
      else
        reach = -1e9;
    }
  }
}

}  // namespace s2r::scene::test
