#include "native/stereo/images.h"

#include <algorithm>

namespace s2r::stereo {

GreyImage::GreyImage(std::span<const uint8_t> samples,
                     int width,
                     int height,
                     int channels,
                     int threads) {
  const ptrdiff_t stride = width + 2 * kPadColumns;
  store_ = scratch<int16_t>(stride * (height + 2 * kPadRows));
  int16_t* first = store_.get() + kPadRows * stride + kPadColumns;
  view_ = PaddedImage{first, stride};
  inParts(threads, height, [&](int from, int to) {
    for (int y = from; y < to; ++y) {
      const uint8_t* in = samples.data() + ptrdiff_t{y} * width * channels;
      int16_t* out = first + y * stride;
      for (int x = 0; x < width; ++x) {
        // ITU-R BT.601 weights in 1/256, at 1/128 grey level: three noisy channels make a finer
        // one.
        const int grey = channels == 1
                             ? in[x] * 128
                             : (85 * in[3 * x] + 86 * in[3 * x + 1] + 85 * in[3 * x + 2]) / 2;
        out[x] = static_cast<int16_t>(grey);
      }
      std::fill_n(out - kPadColumns, kPadColumns, out[0]);
      std::fill_n(out + width, kPadColumns, out[width - 1]);
    }
  });
  const int16_t* top = first - kPadColumns;
  const int16_t* bottom = top + (height - 1) * stride;
  for (int y = 1; y <= kPadRows; ++y) {
    std::copy_n(top, stride, first - kPadColumns - y * stride);
    std::copy_n(bottom, stride, first - kPadColumns + (height - 1 + y) * stride);
  }
}

FloatMap::FloatMap(int width, int height, float value)
    : width_(width), height_(height), stride_(width + 2 * kPadColumns) {
  const ptrdiff_t total = stride_ * (height + 2 * kPadRows);
  store_ = scratch<float>(total);
  std::fill_n(store_.get(), total, value);
  first_ = store_.get() + kPadRows * stride_ + kPadColumns;
}

}  // namespace s2r::stereo
