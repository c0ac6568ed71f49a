#pragma once

#include "native/scene/types.h"

namespace s2r::scene {

struct SurfacePoint {
  Vec3 point_world = Vec3::Zero();
  Vec3 normal_world = Vec3::UnitZ();  ///< Towards the camera.
};

/// Where the ray through pixel (u, v) meets the plane of its surroundings. The depth at the pixel,
/// or the nearest known one within 3 px, chooses the surface; neighbours that no jump separates
/// from it shape the plane. Empty where no depth is near or fewer than 6 neighbours share the
/// surface.
[[nodiscard]] std::optional<SurfacePoint> pointFromPixel(const View& view, double u, double v);

/// World coordinates, three floats per pixel with depth, of every stride-th row and column. `mask`
/// keeps non-zero pixels, `exclude` drops them; both view-sized or null.
[[nodiscard]] std::vector<float> pointCloud(const View& view,
                                            int stride,
                                            const uint8_t* mask,
                                            const uint8_t* exclude);

}  // namespace s2r::scene
