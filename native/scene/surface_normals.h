#pragma once

#include "native/scene/types.h"

namespace s2r::scene {

/// Unit normals in world, towards the camera; zero where depth is unknown or too few neighbours
/// share the surface. A plane is fitted to the neighbours within `radius_px` that no depth jump
/// separates.
[[nodiscard]] Raster<Vec3f> estimateNormals(const View& view,
                                            const Patch& patch,
                                            int radius_px,
                                            double noise_m,
                                            const Mask* wanted = nullptr);

/// Radius [px] that covers `radius_m` at the patch's median depth, within [2, 9].
[[nodiscard]] int radiusInPixels(const View& view, const Patch& patch, double radius_m);

}  // namespace s2r::scene
