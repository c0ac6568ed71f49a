#include "native/scene/support_ring.h"

#include <algorithm>

#include "native/scene/patch.h"

namespace s2r::scene {

namespace {

constexpr double kCluster = 0.004;  // half width of a height cluster [m]

struct Cluster {
  double z_m = 0.0;
  size_t count = 0;
};

/// The window of heights that holds most of them; sorts its argument.
Cluster largestCluster(std::vector<double>& heights) {
  std::sort(heights.begin(), heights.end());
  Cluster best;
  for (size_t from = 0, to = 0; from < heights.size(); ++from) {
    while (to < heights.size() && heights[to] - heights[from] <= 2.0 * kCluster)
      ++to;
    if (to - from > best.count)
      best = {heights[from + (to - from) / 2], to - from};
  }
  return best;
}

}  // namespace

std::optional<Ring> supportAround(const View& view,
                                  const Patch& patch,
                                  const Mask& mask,
                                  double ceiling_z_m) {
  constexpr size_t kLeastPixels = 30;
  const double scale = std::max(1.0, view.width / 640.0);
  const double inner = 4.0 * scale;  // clear of fattened edges
  const double outer = 16.0 * scale;
  const Raster<float> distance = distanceTo(mask);
  std::vector<double> heights;
  size_t ring = 0;
  for (size_t i = 0; i < distance.data.size(); ++i) {
    if (distance.data[i] <= inner || distance.data[i] > outer)
      continue;
    ++ring;
    if (patch.depth_m.data[i] <= 0.0f)
      continue;
    const double z = patch.p_world.data[i].z();
    if (z <= ceiling_z_m)
      heights.push_back(z);
  }
  if (heights.size() < std::max(kLeastPixels, ring / 8))
    return std::nullopt;
  const Cluster best = largestCluster(heights);
  if (best.count < kLeastPixels)
    return std::nullopt;
  const double z = best.z_m;
  std::vector<double> off;
  for (double h : heights) {
    if (std::abs(h - z) <= 4.0 * kCluster)
      off.push_back(std::abs(h - z));
  }
  std::nth_element(off.begin(), off.begin() + static_cast<long>(off.size() / 2), off.end());
  return Ring{z, 1.4826 * off[off.size() / 2]};
}

std::optional<double> contactHeight(const View& view,
                                    const Patch& patch,
                                    const Mask& mask,
                                    double lowest_z_m,
                                    double highest_z_m) {
  constexpr size_t kLeastPixels = 20;
  constexpr double kLeastShare = 0.4;
  const int reach = static_cast<int>(5.0 * std::max(1.0, view.width / 640.0));
  std::vector<double> heights;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      const float z = patch.depth_m(x, y);
      if (mask(x, y) || z <= 0.0f)
        continue;
      const double height = patch.p_world(x, y).z();
      if (height < lowest_z_m || height > highest_z_m)
        continue;
      int nearest = reach * reach + 1;
      float beside = 0.0f;
      for (int dy = -reach; dy <= reach; ++dy) {
        for (int dx = -reach; dx <= reach; ++dx) {
          if (dx * dx + dy * dy >= nearest || !mask.inside(x + dx, y + dy) || !mask(x + dx, y + dy))
            continue;
          nearest = dx * dx + dy * dy;
          beside = patch.depth_m(x + dx, y + dy);
        }
      }
      if (beside > 0.0f && std::abs(beside - z) <= depthJump(view, z, 0.0))
        heights.push_back(height);
    }
  }
  const size_t all = heights.size();
  const Cluster best = largestCluster(heights);
  if (best.count < kLeastPixels ||
      static_cast<double>(best.count) < kLeastShare * static_cast<double>(all))
    return std::nullopt;
  return best.z_m;
}

}  // namespace s2r::scene
