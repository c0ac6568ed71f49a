#include "native/scene/support_plane.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <random>

#include "native/scene/patch.h"

namespace s2r::scene {

namespace {

constexpr int kTrials = 400;
constexpr int kMaxSamples = 5000;
constexpr double kMinShare = 0.2;

struct Sample {
  Vec3 p_world;
  double tolerance_m;
};

/// Range noise of triangulating sensors grows with the square of depth.
double tolerance(double depth_m) {
  return 0.004 + 0.004 * depth_m * depth_m;
}

std::vector<Sample> gather(const View& view, const PixelBox& region, const uint8_t* exclude) {
  std::vector<Sample> samples;
  const double stride_real = std::sqrt(static_cast<double>(region.area()) / kMaxSamples);
  const int stride = std::max(1, static_cast<int>(std::ceil(stride_real)));
  for (int y = region.y0; y < region.y1; y += stride) {
    for (int x = region.x0; x < region.x1; x += stride) {
      const float z = view.depth(x, y);
      if (z <= 0.0f || (exclude && exclude[view.index(x, y)]))
        continue;
      samples.push_back({view.pointWorld(x, y, z), tolerance(z)});
    }
  }
  return samples;
}

double score(const Plane& plane, const std::vector<Sample>& samples) {
  double sum = 0.0;
  for (const Sample& s : samples) {
    const double r = plane.height(s.p_world) / s.tolerance_m;
    sum += std::max(0.0, 1.0 - r * r);
  }
  return sum;
}

/// Weighted least-squares plane of the samples within `gate` tolerances of `start`.
std::optional<Plane> refit(const Plane& start, const std::vector<Sample>& samples, double gate) {
  Vec3 mean = Vec3::Zero();
  double weight = 0.0;
  auto weightOf = [&](const Sample& s) {
    const double r = start.height(s.p_world) / (gate * s.tolerance_m);
    const double w = std::max(0.0, 1.0 - r * r) / s.tolerance_m;
    return w * w;
  };
  for (const Sample& s : samples) {
    const double w = weightOf(s);
    mean += w * s.p_world;
    weight += w;
  }
  if (weight <= 0.0)
    return std::nullopt;
  mean /= weight;
  Eigen::Matrix3d cov = Eigen::Matrix3d::Zero();
  for (const Sample& s : samples) {
    const Vec3 d = s.p_world - mean;
    cov += weightOf(s) * d * d.transpose();
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(cov);
  Plane plane;
  plane.normal = eigen.eigenvectors().col(0);
  if (plane.normal.dot(start.normal) < 0.0)
    plane.normal = -plane.normal;
  plane.offset_m = plane.normal.dot(mean);
  return plane;
}

bool allowed(const Plane& plane, const SupportOptions& options) {
  return !options.gravity_known || plane.normal.z() >= std::cos(options.max_tilt_rad);
}

std::optional<Support> search(const View& view,
                              const PixelBox& region,
                              const SupportOptions& options) {
  const std::vector<Sample> samples = gather(view, region, options.exclude);
  if (samples.size() < 50)
    return std::nullopt;
  std::mt19937 random(7u);  // fixed: the same view must give the same plane
  auto pick = [&] { return samples[random() % samples.size()].p_world; };
  const Vec3 camera = view.X_world_camera.translation();
  Plane best;
  double best_score = 0.0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Vec3 a = pick();
    Vec3 normal = Vec3::UnitZ();
    if (!options.gravity_known || trial % 2 == 0) {
      normal = (pick() - a).cross(pick() - a);
      if (normal.norm() < 1e-9)
        continue;
      normal.normalize();
    }
    if (normal.dot(camera - a) < 0.0)
      normal = -normal;
    const Plane plane{normal, normal.dot(a)};
    if (!allowed(plane, options))
      continue;
    const double s = score(plane, samples);
    if (s > best_score) {
      best_score = s;
      best = plane;
    }
  }
  for (double gate : {2.0, 1.5, 1.0, 1.0}) {
    const auto better = refit(best, samples, gate);
    if (!better || !allowed(*better, options))
      break;
    best = *better;
  }
  std::vector<double> residual;
  for (const Sample& s : samples) {
    const double h = std::abs(best.height(s.p_world));
    if (h < 2.0 * s.tolerance_m)
      residual.push_back(h);
  }
  if (static_cast<double>(residual.size()) < kMinShare * static_cast<double>(samples.size())) {
    return std::nullopt;
  }
  auto middle = residual.begin() + static_cast<long>(residual.size() / 2);
  std::nth_element(residual.begin(), middle, residual.end());
  return Support{best, 1.4826 * *middle};
}

}  // namespace

std::optional<Support> findSupport(const View& view,
                                   const PixelBox& box,
                                   const SupportOptions& options) {
  const PixelBox near = growBox(box, std::max(60, box.width()), std::max(60, box.height()), view);
  if (auto found = search(view, near, options))
    return found;
  return search(view, {0, 0, view.width, view.height}, options);
}

}  // namespace s2r::scene
