#pragma once

#include "native/scene/types.h"

namespace s2r::scene {

/// Back-projects the pixels of `region` (clipped to the view).
[[nodiscard]] Patch cutPatch(const View& view, const PixelBox& region);

/// The box grown by `margin_x` and `margin_y` pixels on each side, clipped to the view.
[[nodiscard]] PixelBox growBox(const PixelBox& box, int margin_x, int margin_y, const View& view);

/// Largest depth difference [m] of neighbouring pixels on one surface. A surface seen at up to
/// about 80 degrees stays connected: the step per pixel is tan(80 deg) of a pixel's own size.
[[nodiscard]] double depthJump(const View& view, double depth_m, double noise_m);

/// The part of a raster within `box`, which must lie inside it.
template <typename T>
[[nodiscard]] Raster<T> crop(const Raster<T>& raster, const PixelBox& box) {
  Raster<T> out(box.width(), box.height());
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x)
      out(x, y) = raster(x + box.x0, y + box.y0);
  }
  return out;
}

/// Distance [px, city-block with diagonals of 1.5] from every pixel to the nearest non-zero pixel
/// of `mask`.
[[nodiscard]] Raster<float> distanceTo(const Mask& mask);

[[nodiscard]] Mask invert(const Mask& mask);

/// Tight half-open bounds of non-zero pixels; all zeros for an empty mask.
[[nodiscard]] PixelBox boundsOf(const Mask& mask);

[[nodiscard]] long areaOf(const Mask& mask);

}  // namespace s2r::scene
