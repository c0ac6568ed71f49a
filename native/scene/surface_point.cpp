#include "native/scene/surface_point.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "native/scene/patch.h"

namespace s2r::scene {

namespace {

constexpr int kSearch_px = 3;
constexpr double kRadius_m = 0.006;
constexpr double kNoise_m = 0.0015;

}  // namespace

std::optional<SurfacePoint> pointFromPixel(const View& view, double u, double v) {
  const int x0 = std::clamp(static_cast<int>(std::lround(u)), 0, view.width - 1);
  const int y0 = std::clamp(static_cast<int>(std::lround(v)), 0, view.height - 1);
  float depth = 0.0f;
  double nearest = std::numeric_limits<double>::infinity();
  int sx = x0, sy = y0;
  for (int y = std::max(0, y0 - kSearch_px); y <= std::min(view.height - 1, y0 + kSearch_px); ++y) {
    for (int x = std::max(0, x0 - kSearch_px); x <= std::min(view.width - 1, x0 + kSearch_px);
         ++x) {
      const double distance = std::hypot(x - u, y - v);
      if (distance > kSearch_px || distance >= nearest || view.depth(x, y) <= 0.0f)
        continue;
      nearest = distance;
      depth = view.depth(x, y);
      sx = x;
      sy = y;
    }
  }
  if (depth <= 0.0f)
    return std::nullopt;
  const int radius =
      std::clamp(static_cast<int>(std::lround(kRadius_m / view.pixelSize(depth))), 2, 8);
  const double jump = depthJump(view, depth, kNoise_m);
  std::vector<Vec3> near;
  for (int y = std::max(0, sy - radius); y <= std::min(view.height - 1, sy + radius); ++y) {
    for (int x = std::max(0, sx - radius); x <= std::min(view.width - 1, sx + radius); ++x) {
      const float z = view.depth(x, y);
      if (z > 0.0f && std::abs(z - depth) <= jump)
        near.push_back(view.pointWorld(x, y, z));
    }
  }
  if (near.size() < 6)
    return std::nullopt;
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : near)
    mean += p / static_cast<double>(near.size());
  Eigen::Matrix3d cov = Eigen::Matrix3d::Zero();
  for (const Vec3& p : near)
    cov += (p - mean) * (p - mean).transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(cov);
  SurfacePoint out;
  const Vec3 camera = view.X_world_camera.translation();
  out.normal_world = eigen.eigenvectors().col(0);
  if (out.normal_world.dot(camera - mean) < 0.0)
    out.normal_world = -out.normal_world;
  const Vec3 ray = view.X_world_camera.linear() * view.rayCamera(u, v);
  const double facing = ray.dot(out.normal_world);
  const double t = (mean - camera).dot(out.normal_world) / facing;
  // A surface seen edge-on has no stable crossing: then the measured depth is the better answer.
  const bool stable = facing < -0.1 * ray.norm() && std::abs(t - depth) <= 2.0 * jump;
  out.point_world = camera + (stable ? t : static_cast<double>(depth)) * ray;
  return out;
}

std::vector<float> pointCloud(const View& view,
                              int stride,
                              const uint8_t* mask,
                              const uint8_t* exclude) {
  std::vector<float> out;
  for (int y = 0; y < view.height; y += stride) {
    for (int x = 0; x < view.width; x += stride) {
      const size_t i = view.index(x, y);
      const float z = view.depth(x, y);
      if (z <= 0.0f || (mask && !mask[i]) || (exclude && exclude[i]))
        continue;
      const Vec3 p = view.pointWorld(x, y, z);
      for (int k = 0; k < 3; ++k)
        out.push_back(static_cast<float>(p[k]));
    }
  }
  return out;
}

}  // namespace s2r::scene
