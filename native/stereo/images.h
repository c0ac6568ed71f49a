// Grey images and float maps, both with padding around every row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "native/stereo/kernels.h"
#include "native/stereo/scratch.h"

namespace s2r::stereo {

inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
// Columns on both sides of a row: the reach of every window and a vector that starts at the last
// pixel.
inline constexpr int kPadColumns = 24;
// Rows above and below.
inline constexpr int kPadRows = 3;
static_assert(kPadRows >= kCensusReach && kPadRows >= kRefineRadius);

class GreyImage {
 public:
  // Interleaved 8-bit samples, 1 channel or R G B, to grey times 128; the border repeats the edge.
  GreyImage(std::span<const uint8_t> samples, int width, int height, int channels, int threads);

  [[nodiscard]] PaddedImage view() const { return view_; }

 private:
  Scratch<int16_t> store_;
  PaddedImage view_;
};

// height * width floats, all `value` at first, padding included.
class FloatMap {
 public:
  FloatMap(int width, int height, float value);

  [[nodiscard]] float* row(int y) const { return first_ + y * stride_; }
  [[nodiscard]] ptrdiff_t stride() const { return stride_; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

 private:
  int width_;
  int height_;
  ptrdiff_t stride_;
  Scratch<float> store_;
  float* first_;
};

}  // namespace s2r::stereo
