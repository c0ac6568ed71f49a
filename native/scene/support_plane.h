#pragma once

#include "native/scene/types.h"

namespace s2r::scene {

struct SupportOptions {
  bool gravity_known = true;         ///< The normal must then be near world z.
  double max_tilt_rad = 0.2618;      ///< 15 degrees.
  const uint8_t* exclude = nullptr;  ///< View-sized; non-zero pixels take no part. May be null.
};

struct Support {
  Plane plane;
  double noise_m = 0.0;  ///< Robust standard deviation of the surface's points about the plane.
};

/// The plane that most of the points around `box` lie on: seeded random consensus, then weighted
/// least squares. Looks in three times the box first, then in the whole view. Empty where no plane
/// holds enough points. Same input, same answer.
[[nodiscard]] std::optional<Support> findSupport(const View& view,
                                                 const PixelBox& box,
                                                 const SupportOptions& options);

}  // namespace s2r::scene
