#include "native/scene/measure_geometry.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numbers>

#include "native/scene/outline_fit.h"
#include "native/scene/patch.h"
#include "native/scene/support_ring.h"
#include "native/scene/surface_normals.h"

namespace s2r::scene {

namespace {

constexpr size_t kLeastPoints = 12;
constexpr size_t kMostForFits = 4000;
constexpr double kTrim = 0.01;
// From above a fifth of a ball faces up within 26 degrees; four fifths and more of a flat top do.
constexpr double kFlatShare = 0.45;
// A part of the mask that a depth step separates, smaller than this share of the largest part and
// this far beside it, is background that leaked in.
constexpr double kLeastPart = 0.15;
constexpr double kBeside_m = 0.012;

struct Surface {
  std::vector<Vec3> points;
  std::vector<Vec3f> normals;
  double noise_m = 0.0;          // of one pixel's depth against its neighbours
  double surface_noise_m = 0.0;  // the same over larger distances, which stereo correlates
  double pixel_m = 0.001;        // spacing of the points
  long mask_pixels = 0;
};

double quantile(std::vector<double> values, double share) {
  auto at = values.begin() + std::lround(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<double> heightsOf(const std::vector<Vec3>& points) {
  std::vector<double> z;
  for (const Vec3& p : points)
    z.push_back(p.z());
  return z;
}

/// A pixel stays when at least a third of its neighbours in the mask continue its surface.
Mask dropFloating(const View& view, const Patch& patch, const Mask& mask) {
  Mask out(mask.width, mask.height);
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      const float z = patch.depth_m(x, y);
      if (!mask(x, y) || z <= 0.0f)
        continue;
      int near = 0, known = 0;
      const double jump = depthJump(view, z, 0.0);
      for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) {
          if ((dx == 0 && dy == 0) || !mask.inside(x + dx, y + dy) || !mask(x + dx, y + dy))
            continue;
          const float zn = patch.depth_m(x + dx, y + dy);
          if (zn <= 0.0f)
            continue;
          ++known;
          near += std::abs(zn - z) <= jump;
        }
      }
      out(x, y) = known >= 3 && 3 * near >= known;
    }
  }
  return out;
}

/// Drops small parts that a depth step separates from the largest and that lie beside it.
void dropSmallParts(const View& view, const Patch& patch, Mask& kept) {
  Raster<int> label(kept.width, kept.height, -1);
  std::vector<long> area;
  std::vector<Eigen::AlignedBox2d> extent;
  std::vector<Vec2> sum;
  std::vector<std::pair<int, int>> stack;
  for (int y = 0; y < kept.height; ++y) {
    for (int x = 0; x < kept.width; ++x) {
      if (!kept(x, y) || label(x, y) >= 0)
        continue;
      label(x, y) = static_cast<int>(area.size());
      area.push_back(0);
      extent.emplace_back();
      sum.emplace_back(Vec2::Zero());
      stack.assign(1, {x, y});
      while (!stack.empty()) {
        const auto [px, py] = stack.back();
        stack.pop_back();
        ++area.back();
        const Vec2 p = patch.p_world(px, py).head<2>().cast<double>();
        extent.back().extend(p);
        sum.back() += p;
        const double z = patch.depth_m(px, py);
        const double jump = depthJump(view, z, 0.0);
        for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
          const int xn = px + dx, yn = py + dy;
          if (!kept.inside(xn, yn) || !kept(xn, yn) || label(xn, yn) >= 0)
            continue;
          if (std::abs(patch.depth_m(xn, yn) - z) > jump)
            continue;
          label(xn, yn) = label(x, y);
          stack.emplace_back(xn, yn);
        }
      }
    }
  }
  if (area.empty())
    return;
  const auto largest =
      static_cast<size_t>(std::max_element(area.begin(), area.end()) - area.begin());
  for (size_t i = 0; i < kept.data.size(); ++i) {
    if (!kept.data[i])
      continue;
    const auto part = static_cast<size_t>(label.data[i]);
    const auto pixels = static_cast<double>(area[part]);
    if (pixels >= kLeastPart * static_cast<double>(area[largest]))
      continue;
    if (extent[largest].exteriorDistance(sum[part] / pixels) > kBeside_m)
      kept.data[i] = 0;
  }
}

/// Second differences of depth along rows: zero on any plane, sqrt(6) times the noise of one pixel.
double rangeNoise(const Patch& patch, const Mask& kept) {
  std::vector<double> bends;
  for (int y = 0; y < kept.height; ++y) {
    for (int x = 0; x + 2 < kept.width; ++x) {
      if (!kept(x, y) || !kept(x + 1, y) || !kept(x + 2, y))
        continue;
      const double bend =
          patch.depth_m(x, y) - 2.0 * patch.depth_m(x + 1, y) + patch.depth_m(x + 2, y);
      bends.push_back(std::abs(bend) / std::sqrt(6.0));
    }
  }
  return bends.empty() ? 0.0 : 1.4826 * quantile(std::move(bends), 0.5);
}

Surface gather(const View& view, const Patch& patch, const Mask& mask) {
  Surface s;
  s.mask_pixels = areaOf(mask);
  Mask kept = dropFloating(view, patch, mask);
  dropSmallParts(view, patch, kept);
  s.noise_m = rangeNoise(patch, kept);
  s.surface_noise_m = s.noise_m;
  Patch own = patch;  // normals from the object's own pixels only
  for (size_t i = 0; i < own.depth_m.data.size(); ++i) {
    if (!kept.data[i])
      own.depth_m.data[i] = 0.0f;
  }
  const int radius = std::min(6, radiusInPixels(view, own, 0.006 + 2.0 * s.noise_m));
  const Raster<Vec3f> normals = estimateNormals(view, own, radius, s.noise_m);
  std::vector<double> spacing;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!kept(x, y))
        continue;
      s.points.push_back(own.p_world(x, y).cast<double>());
      s.normals.push_back(normals(x, y));
      spacing.push_back(view.pixelSize(own.depth_m(x, y)));
    }
  }
  if (!spacing.empty())
    s.pixel_m = quantile(std::move(spacing), 0.5);
  return s;
}

void keep(Surface& s, const std::vector<bool>& wanted) {
  size_t to = 0;
  for (size_t i = 0; i < s.points.size(); ++i) {
    if (!wanted[i])
      continue;
    s.points[to] = s.points[i];
    s.normals[to++] = s.normals[i];
  }
  s.points.resize(to);
  s.normals.resize(to);
}

/// Height of a flat top: median of the upward-facing points near the highest ones; otherwise a high
/// percentile, less what noise adds to it.
double topOf(const Surface& s, std::vector<bool>& on_top) {
  const double high = quantile(heightsOf(s.points), 0.99);
  const double band = std::max(0.004, 6.0 * s.noise_m);
  constexpr float kUp = 0.9f;
  double level = high - 0.5 * band;
  on_top.assign(s.points.size(), false);
  size_t count = 0, in_band = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<double> z;
    in_band = 0;
    for (size_t i = 0; i < s.points.size(); ++i) {
      on_top[i] = std::abs(s.points[i].z() - level) <= band;
      in_band += on_top[i];
      on_top[i] = on_top[i] && s.normals[i].z() > kUp;
      if (on_top[i])
        z.push_back(s.points[i].z());
    }
    count = z.size();
    if (count < kLeastPoints)
      break;
    level = quantile(z, 0.5);
  }
  const bool flat =
      count >= kLeastPoints && 10 * count >= 4 * in_band && 20 * count >= s.points.size();
  if (flat)
    return level;
  on_top.assign(s.points.size(), false);
  return high - s.noise_m;
}

void principalAxes(const std::vector<Vec3>& points, Geometry& out) {
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : points)
    mean += p / static_cast<double>(points.size());
  Eigen::Matrix3d cov = Eigen::Matrix3d::Zero();
  for (const Vec3& p : points)
    cov += (p - mean) * (p - mean).transpose() / static_cast<double>(points.size());
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(cov);
  out.centroid_world = mean;
  auto directed = [](Vec3 v) {
    int largest = 0;
    v.cwiseAbs().maxCoeff(&largest);
    return v[largest] < 0.0 ? Vec3(-v) : v;
  };
  out.principal_axes[0] = directed(eigen.eigenvectors().col(2));
  out.principal_axes[1] = directed(eigen.eigenvectors().col(1));
  out.principal_axes[2] = out.principal_axes[0].cross(out.principal_axes[1]);
  for (size_t k = 0; k < 3; ++k) {
    std::vector<double> along;
    for (const Vec3& p : points)
      along.push_back(out.principal_axes[k].dot(p - mean));
    const double range = quantile(along, 1.0 - kTrim) - quantile(along, kTrim);
    out.extents_m[static_cast<Eigen::Index>(k)] = range / (1.0 - 2.0 * kTrim);
  }
}

template <typename T>
std::vector<T> thinned(const std::vector<T>& all, size_t most) {
  if (all.size() <= most)
    return all;
  std::vector<T> out;
  for (size_t k = 0; k < most; ++k)
    out.push_back(all[k * all.size() / most]);
  return out;
}

/// A ball: the points lie on a sphere that is about as large as they spread and rests near the
/// support.
std::optional<Sphere> ballOf(const Surface& s, double height_m) {
  const auto sphere = fitSphere(thinned(s.points, kMostForFits));
  if (!sphere || sphere->rms > std::max(0.0015, 1.5 * s.surface_noise_m) ||
      sphere->rms > 0.15 * sphere->radius)
    return std::nullopt;
  if (std::abs(2.0 * sphere->radius - height_m) > 0.25 * height_m)
    return std::nullopt;
  return sphere;
}

/// Returns the root mean square misfit of the outline [m].
double fitUpright(const Surface& s,
                  const std::vector<bool>& on_top,
                  double bottom_m,
                  Geometry& out) {
  UprightBox& box = out.upright_box;
  const double height = std::max(0.0, out.top_z_m - bottom_m);
  box.size_m.z() = height;
  box.center_world.z() = 0.5 * (out.top_z_m + bottom_m);
  const auto flat = static_cast<double>(std::count(on_top.begin(), on_top.end(), true));
  const bool mostly_flat = flat > kFlatShare * static_cast<double>(s.points.size());
  const auto ball = mostly_flat ? std::nullopt : ballOf(s, height);
  if (ball) {
    box.center_world.head<2>() = ball->center.head<2>();
    box.size_m.head<2>().setConstant(2.0 * ball->radius);
    out.top_z_m = ball->center.z() + ball->radius;
    box.size_m.z() = std::max(0.0, out.top_z_m - bottom_m);
    box.center_world.z() = 0.5 * (out.top_z_m + bottom_m);
    return ball->rms;
  }
  std::vector<Vec2> all, top;
  for (size_t i = 0; i < s.points.size(); ++i) {
    all.push_back(s.points[i].head<2>());
    if (on_top[i])
      top.push_back(s.points[i].head<2>());
  }
  all = thinned(all, kMostForFits);
  const double blur = std::max(2.0 * s.noise_m, 2.5 * s.pixel_m);
  const OutlineShape shape = compareOutlines(all, kTrim);
  if (shape.round()) {
    const Circle circle = sharpenCircle(shape.circle, all, blur);
    box.center_world.head<2>() = circle.center;
    box.size_m.head<2>().setConstant(2.0 * circle.radius);
    return shape.circle_rms;
  }
  Rectangle r = leastAreaRectangle(all, kTrim);
  r = sharpenSides(r, all, blur);
  if (r.size.x() < r.size.y()) {
    std::swap(r.size.x(), r.size.y());
    r.yaw_rad += 0.5 * std::numbers::pi;
  }
  box.center_world.head<2>() = r.center;
  box.size_m.head<2>() = r.size;
  box.yaw_rad = r.yaw_rad > 0.5 * std::numbers::pi ? r.yaw_rad - std::numbers::pi : r.yaw_rad;
  box.yaw_defined = true;
  return shape.rectangle_rms;
}

}  // namespace

std::optional<Geometry> measureGeometry(const View& view,
                                        const uint8_t* mask,
                                        const MeasureOptions& options) {
  PixelBox bounds{view.width, view.height, 0, 0};
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      if (!mask[view.index(x, y)])
        continue;
      bounds = {std::min(bounds.x0, x), std::min(bounds.y0, y), std::max(bounds.x1, x + 1),
                std::max(bounds.y1, y + 1)};
    }
  }
  if (bounds.x1 == 0)
    return std::nullopt;
  const int margin = static_cast<int>(20.0 * std::max(1.0, view.width / 640.0));
  const Patch patch = cutPatch(view, growBox(bounds, margin, margin, view));
  Mask own(patch.depth_m.width, patch.depth_m.height);
  for (int y = 0; y < own.height; ++y) {
    for (int x = 0; x < own.width; ++x)
      own(x, y) = mask[view.index(x + patch.region.x0, y + patch.region.y0)] != 0;
  }
  Surface s = gather(view, patch, own);
  if (s.points.size() < kLeastPoints)
    return std::nullopt;

  Geometry out;
  const double ceiling = quantile(heightsOf(s.points), 0.5) + std::max(0.003, 2.0 * s.noise_m);
  const std::optional<Ring> ring = supportAround(view, patch, own, ceiling);
  if (ring) {
    out.support_z_m = ring->z_m;
    s.surface_noise_m = std::max(s.noise_m, ring->noise_m);
    if (options.sharp_edges) {
      const double top = quantile(heightsOf(s.points), 0.98);
      const double room = std::max(0.012, 0.3 * (top - ring->z_m));
      const auto contact = contactHeight(view, patch, own, ring->z_m - 0.01, top - room);
      if (contact && *contact > ring->z_m + std::max(0.012, 4.0 * ring->noise_m) &&
          !ballOf(s, top - ring->z_m))
        out.support_z_m = *contact;
    }
  }
  if (std::isfinite(options.support_z_m))
    out.support_z_m = options.support_z_m;
  const auto continuous = static_cast<double>(s.points.size());
  const double high = quantile(heightsOf(s.points), 0.98);
  if (out.support_z_m && high - *out.support_z_m > 0.012) {
    const double floor_z = *out.support_z_m + std::min(0.008, 0.3 * (high - *out.support_z_m));
    std::vector<bool> wanted;
    for (const Vec3& p : s.points)
      wanted.push_back(p.z() > floor_z);
    if (static_cast<size_t>(std::count(wanted.begin(), wanted.end(), true)) >= kLeastPoints)
      keep(s, wanted);
  }
  std::vector<bool> on_top;
  out.top_z_m = topOf(s, on_top);
  principalAxes(s.points, out);
  out.point_count = s.points.size();
  const double bottom = out.support_z_m ? std::min(*out.support_z_m, out.top_z_m)
                                        : quantile(heightsOf(s.points), 0.02);
  const double misfit = fitUpright(s, on_top, bottom, out);

  const double enough = std::min(1.0, static_cast<double>(s.points.size()) / 150.0);
  // Pixels without depth or afloat count in full; those dropped at the support's height, which may
  // be a tray's floor as well as a lost side, by a third.
  const double coverage = continuous / static_cast<double>(std::max(1L, s.mask_pixels));
  const double dropped = 1.0 - static_cast<double>(s.points.size()) / continuous;
  const double scale = std::max(0.005, out.upright_box.size_m.head<2>().minCoeff());
  const double fit = 1.0 / (1.0 + std::pow(misfit / (0.15 * scale), 2));
  out.confidence = std::clamp(std::sqrt(enough) * std::min(1.0, coverage / 0.8) *
                                  (1.0 - dropped / 3.0) * fit * (out.support_z_m ? 1.0 : 0.7),
                              0.0, 1.0);

  if (options.max_points > 0) {
    for (const Vec3& p : thinned(s.points, options.max_points)) {
      for (int k = 0; k < 3; ++k)
        out.points_world.push_back(static_cast<float>(p[k]));
    }
  }
  return out;
}

}  // namespace s2r::scene
