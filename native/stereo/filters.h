// Clean-up of a disparity map. NaN is unknown everywhere.
#pragma once

#include <cstdint>

#include "native/stereo/images.h"

namespace s2r::stereo {

// Drops four-connected regions of fewer than `least_px` pixels. Neighbours belong together where
// their disparities differ by at most `step_px`.
void dropSpeckles(const FloatMap& map, int least_px, float step_px);

// Windows that straddle an edge carry a near surface's disparity onto the hidden background on its
// left. Drops such pixels (at most three of a row): known ones right of unknown ones, at a step
// towards the camera, where the images differ (`error`, grey levels) by much more than they do
// further in.
void trimRims(const FloatMap& map, const FloatMap& error);

// Copies `from` to `map` and fills runs of unknown pixels, no longer than `longest_px`, between two
// known ones of a row; runs at the image's border stay unknown. What a run gets depends on the
// surfaces (disparity and slope) at its two ends:
// - one continues the other: it is interpolated.
// - the right one is nearer: the left camera sees background there that the right one cannot, for
// as
//   many pixels as the two disparities differ (the width of an occlusion). A run of about that
//   width gets the background's disparity. Any other run stays unknown.
// - the left one is nearer: nothing is hidden there, so only the shortest runs are filled, with the
// background's. So no pixel gets a disparity between a near and a far surface. Returns how many
// were filled.
int64_t fillRuns(const FloatMap& map, const FloatMap& from, int longest_px);

}  // namespace s2r::stereo
