#pragma once

#include "native/scene/types.h"

namespace s2r::scene {

struct Ring {
  double z_m = 0.0;
  double noise_m = 0.0;  ///< Robust standard deviation of the heights: what the depth of this view
                         ///< is worth here.
};

/// Height [world z] of the surface that surrounds a mask (patch-sized): the largest cluster of
/// heights in a ring just outside it that is not above `ceiling_z_m`. Empty where too little of the
/// ring has depth.
[[nodiscard]] std::optional<Ring> supportAround(const View& view,
                                                const Patch& patch,
                                                const Mask& mask,
                                                double ceiling_z_m);

}  // namespace s2r::scene
