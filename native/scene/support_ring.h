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

/// Height at which the mask's surface runs on into what it stands on, without a step in depth: the
/// bottom edge of a side that the camera sees. Only heights within [lowest_z_m, highest_z_m] count.
/// Empty where no such edge is seen.
[[nodiscard]] std::optional<double> contactHeight(const View& view,
                                                  const Patch& patch,
                                                  const Mask& mask,
                                                  double lowest_z_m,
                                                  double highest_z_m);

}  // namespace s2r::scene
