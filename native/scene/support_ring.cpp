#include "native/scene/support_ring.h"

#include <algorithm>

#include "native/scene/patch.h"

namespace s2r::scene {

std::optional<Ring> supportAround(const View& view,
                                  const Patch& patch,
                                  const Mask& mask,
                                  double ceiling_z_m) {
  constexpr double kCluster = 0.004;  // half width of a height cluster [m]
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
  std::sort(heights.begin(), heights.end());
  size_t best_from = 0, best_count = 0;
  for (size_t from = 0, to = 0; from < heights.size(); ++from) {
    while (to < heights.size() && heights[to] - heights[from] <= 2.0 * kCluster)
      ++to;
    if (to - from > best_count) {
      best_count = to - from;
      best_from = from;
    }
  }
  if (best_count < kLeastPixels)
    return std::nullopt;
  const double z = heights[best_from + best_count / 2];
  std::vector<double> off;
  for (double h : heights) {
    if (std::abs(h - z) <= 4.0 * kCluster)
      off.push_back(std::abs(h - z));
  }
  std::nth_element(off.begin(), off.begin() + static_cast<long>(off.size() / 2), off.end());
  return Ring{z, 1.4826 * off[off.size() / 2]};
}

}  // namespace s2r::scene
