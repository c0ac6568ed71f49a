// Clean-up of a disparity map. NaN is unknown everywhere.
#pragma once

#include <cstdint>

#include "native/stereo/images.h"

namespace s2r::stereo {

// Drops four-connected regions of fewer than `least_px` pixels. Neighbours belong together where
// their disparities differ by at most `step_px`.
void dropSpeckles(const FloatMap& map, int least_px, float step_px);

// Copies `from` to `map` and fills runs of unknown pixels, no longer than `longest_px`, between two
// known ones of a row; runs at the image's border stay unknown. What a run gets depends on the
// disparities at its two ends, taken as medians of what is known there:
// - nearly the same: it is interpolated.
// - nearer on the right: the left camera sees background there that the right one cannot, for as
// many
//   pixels as the two disparities differ (the width of an occlusion). A run of about that width
//   gets the background's disparity, and what exceeds it is shared between both ends. Any other run
//   stays unknown.
// - nearer on the left: nothing is hidden there, so only the shortest runs are filled, with the
// background. So no pixel gets a disparity between a near and a far surface. Returns how many were
// filled.
int64_t fillRuns(const FloatMap& map, const FloatMap& from, int longest_px);

}  // namespace s2r::stereo
