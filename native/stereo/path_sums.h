// Semi-global matching (Hirschmueller 2008): census cost, eight paths, best disparity, left-right
// check.
#pragma once

#include "native/stereo/images.h"
#include "native/stereo/kernels.h"

namespace s2r::stereo {

struct MatchArgs {
  const Kernels& kernels;
  PaddedImage left;
  PaddedImage right;
  int width;
  int height;
  int min_disparity;
  int disparities;  // a multiple of kDisparityBlock
  int threads;
  int uniqueness_permille;
  int left_right_max_px;
};

// Writes the disparity of every pixel that passes the checks; the others keep what `map` held.
void matchPaths(const MatchArgs& args, FloatMap& map);

}  // namespace s2r::stereo
