#include "native/scene/binary_cut.h"

#include <algorithm>
#include <cmath>

namespace s2r::scene {

Mask cutBinary(const Raster<float>& cost,
               const Raster<float>& weight_x,
               const Raster<float>& weight_y,
               const Raster<int8_t>& fixed,
               int iterations) {
  const int width = cost.width;
  const int height = cost.height;
  // Step sizes: primal * dual * 8 <= 1, as 8 bounds the squared norm of the discrete gradient.
  constexpr float kPrimal = 0.35f;
  constexpr float kDual = 0.35f;
  Raster<float> u(width, height, 0.0f), lead(width, height, 0.0f);
  Raster<float> px(width, height, 0.0f), py(width, height, 0.0f);
  for (size_t i = 0; i < u.data.size(); ++i) {
    u.data[i] = fixed.data[i] > 0 || (fixed.data[i] == 0 && cost.data[i] < 0.0f) ? 1.0f : 0.0f;
  }
  lead = u;
  for (int it = 0; it < iterations; ++it) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const size_t i = u.index(x, y);
        if (x + 1 < width) {
          const float w = weight_x.data[i];
          px.data[i] = std::clamp(px.data[i] + kDual * (lead.data[i + 1] - lead.data[i]), -w, w);
        }
        if (y + 1 < height) {
          const float w = weight_y.data[i];
          const size_t below = i + static_cast<size_t>(width);
          py.data[i] = std::clamp(py.data[i] + kDual * (lead.data[below] - lead.data[i]), -w, w);
        }
      }
    }
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const size_t i = u.index(x, y);
        if (fixed.data[i] != 0)
          continue;
        float divergence = px.data[i] + py.data[i];
        if (x > 0)
          divergence -= px.data[i - 1];
        if (y > 0)
          divergence -= py.data[i - static_cast<size_t>(width)];
        const float old = u.data[i];
        u.data[i] = std::clamp(old + kPrimal * (divergence - cost.data[i]), 0.0f, 1.0f);
        lead.data[i] = 2.0f * u.data[i] - old;
      }
    }
  }
  Mask out(width, height);
  for (size_t i = 0; i < u.data.size(); ++i)
    out.data[i] = u.data[i] > 0.5f;
  return out;
}

}  // namespace s2r::scene
