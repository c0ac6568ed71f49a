#include "native/scene/patch.h"

#include <algorithm>

namespace s2r::scene {

Patch cutPatch(const View& view, const PixelBox& region) {
  Patch patch;
  patch.region = intersect(region, {0, 0, view.width, view.height});
  const int width = patch.region.width();
  const int height = patch.region.height();
  patch.depth_m = Raster<float>(width, height, 0.0f);
  patch.p_world = Raster<Vec3f>(width, height, Vec3f::Zero());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int u = x + patch.region.x0;
      const int v = y + patch.region.y0;
      const float z = view.depth(u, v);
      if (z <= 0.0f)
        continue;
      patch.depth_m(x, y) = z;
      patch.p_world(x, y) = view.pointWorld(u, v, z).cast<float>();
    }
  }
  return patch;
}

PixelBox growBox(const PixelBox& box, int margin_x, int margin_y, const View& view) {
  return intersect({box.x0 - margin_x, box.y0 - margin_y, box.x1 + margin_x, box.y1 + margin_y},
                   {0, 0, view.width, view.height});
}

double depthJump(const View& view, double depth_m, double noise_m) {
  constexpr double kTanSteepest = 5.7;  // 80 degrees from facing the camera
  return std::max(kTanSteepest * view.pixelSize(depth_m), 4.0 * noise_m);
}

Raster<float> distanceTo(const Mask& mask) {
  constexpr float kFar = 1e6f;
  Raster<float> d(mask.width, mask.height, kFar);
  for (size_t i = 0; i < d.data.size(); ++i) {
    if (mask.data[i])
      d.data[i] = 0.0f;
  }
  auto relax = [&](int x, int y, int dx, int dy, float step) {
    if (d.inside(x + dx, y + dy))
      d(x, y) = std::min(d(x, y), d(x + dx, y + dy) + step);
  };
  for (int y = 0; y < d.height; ++y) {
    for (int x = 0; x < d.width; ++x) {
      relax(x, y, -1, 0, 1.0f);
      relax(x, y, 0, -1, 1.0f);
      relax(x, y, -1, -1, 1.5f);
      relax(x, y, 1, -1, 1.5f);
    }
  }
  for (int y = d.height - 1; y >= 0; --y) {
    for (int x = d.width - 1; x >= 0; --x) {
      relax(x, y, 1, 0, 1.0f);
      relax(x, y, 0, 1, 1.0f);
      relax(x, y, 1, 1, 1.5f);
      relax(x, y, -1, 1, 1.5f);
    }
  }
  return d;
}

Mask invert(const Mask& mask) {
  Mask out(mask.width, mask.height);
  std::transform(mask.data.begin(), mask.data.end(), out.data.begin(),
                 [](uint8_t m) { return static_cast<uint8_t>(m ? 0 : 1); });
  return out;
}

PixelBox boundsOf(const Mask& mask) {
  PixelBox box{mask.width, mask.height, 0, 0};
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask(x, y))
        continue;
      box.x0 = std::min(box.x0, x);
      box.y0 = std::min(box.y0, y);
      box.x1 = std::max(box.x1, x + 1);
      box.y1 = std::max(box.y1, y + 1);
    }
  }
  return box.x1 == 0 ? PixelBox{} : box;
}

long areaOf(const Mask& mask) {
  return std::count_if(mask.data.begin(), mask.data.end(), [](uint8_t m) { return m != 0; });
}

}  // namespace s2r::scene
