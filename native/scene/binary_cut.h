#pragma once

#include "native/scene/types.h"

namespace s2r::scene {

/// Labels pixels so that sum(cost over labelled pixels) + weighted boundary length is least.
///
/// `cost` is negative where a pixel wants to be in. `weight_x`, `weight_y` price a boundary between
/// a pixel and its right and lower neighbour. Solves the convex relaxation (weighted total
/// variation of u in [0, 1]) by a first-order primal-dual scheme (Chambolle and Pock, "A
/// first-order primal-dual algorithm for convex problems", 2011) and thresholds at 1/2, which loses
/// nothing (Chan, Esedoglu, Nikolova, 2006). `fixed` holds +1 (in), -1 (out) or 0 (free) per pixel.
[[nodiscard]] Mask cutBinary(const Raster<float>& cost,
                             const Raster<float>& weight_x,
                             const Raster<float>& weight_y,
                             const Raster<int8_t>& fixed,
                             int iterations);

}  // namespace s2r::scene
