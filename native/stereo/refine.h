// Sub-pixel refinement of a disparity map on the images themselves.
#pragma once

#include "native/stereo/images.h"
#include "native/stereo/kernels.h"

namespace s2r::stereo {

// Several rounds of: warp the right image by the current disparity (cubic spline along the row),
// then in a window around each pixel, over the neighbours of its own surface, fit the plane of
// disparities that explains the remaining grey differences best in the least-squares sense (Lucas
// and Kanade 1981, with a plane instead of a shift, an unknown offset of brightness, and the
// disparity before as a prior, which decides where there is no texture). The centre takes the
// plane's value. This removes the pull of matching costs to whole pixels. `spare` is scratch of the
// map's size; the result is left in `map`.
// Returns the grey levels by which the left image exceeds the right one at the result.
[[nodiscard]] FloatMap refine(const Kernels& kernels,
                              PaddedImage left,
                              PaddedImage right,
                              FloatMap& map,
                              FloatMap& spare,
                              int threads);

}  // namespace s2r::stereo
