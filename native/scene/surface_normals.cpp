#include "native/scene/surface_normals.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "native/scene/patch.h"

namespace s2r::scene {

Raster<Vec3f> estimateNormals(const View& view,
                              const Patch& patch,
                              int radius_px,
                              double noise_m,
                              const Mask* wanted) {
  const int width = patch.depth_m.width;
  const int height = patch.depth_m.height;
  Raster<Vec3f> normals(width, height, Vec3f::Zero());
  const Vec3f camera = view.X_world_camera.translation().cast<float>();
  const int step = radius_px > 4 ? 2 : 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float z = patch.depth_m(x, y);
      if (z <= 0.0f || (wanted && !(*wanted)(x, y)))
        continue;
      const float jump = static_cast<float>(depthJump(view, z, noise_m));
      const Vec3f origin = patch.p_world(x, y);
      Vec3f sum = Vec3f::Zero();
      Eigen::Matrix3f outer = Eigen::Matrix3f::Zero();
      int count = 0;
      for (int dy = -radius_px; dy <= radius_px; dy += step) {
        for (int dx = -radius_px; dx <= radius_px; dx += step) {
          if (!patch.depth_m.inside(x + dx, y + dy))
            continue;
          const float zn = patch.depth_m(x + dx, y + dy);
          const float reach = static_cast<float>(std::max({std::abs(dx), std::abs(dy), 1}));
          if (zn <= 0.0f || std::abs(zn - z) > jump * std::min(reach, 2.0f))
            continue;
          const Vec3f d = patch.p_world(x + dx, y + dy) - origin;
          sum += d;
          outer += d * d.transpose();
          ++count;
        }
      }
      if (count < 6)
        continue;
      const Vec3f mean = sum / static_cast<float>(count);
      const Eigen::Matrix3f cov = outer / static_cast<float>(count) - mean * mean.transpose();
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3f> eigen;
      eigen.computeDirect(cov);
      Vec3f n = eigen.eigenvectors().col(0);
      if (n.dot(camera - origin) < 0.0f)
        n = -n;
      if (n.allFinite())
        normals(x, y) = n;
    }
  }
  return normals;
}

int radiusInPixels(const View& view, const Patch& patch, double radius_m) {
  std::vector<float> depths;
  for (float z : patch.depth_m.data) {
    if (z > 0.0f)
      depths.push_back(z);
  }
  if (depths.empty())
    return 2;
  auto middle = depths.begin() + static_cast<long>(depths.size() / 2);
  std::nth_element(depths.begin(), middle, depths.end());
  return std::clamp(static_cast<int>(std::lround(radius_m / view.pixelSize(*middle))), 2, 9);
}

}  // namespace s2r::scene
