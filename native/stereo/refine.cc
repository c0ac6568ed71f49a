#include "native/stereo/refine.h"

#include <utility>

namespace s2r::stereo {
namespace {

// Greatest step of disparity within one surface of a window.
constexpr float kSurfaceStep = 0.7f;
// Weight of the disparity before, in squared grey levels per squared pixel, for each round. The
// first one must free it from the pull to whole pixels, the second averages what the first has left
// of the images' noise. More weight would average more, but flatten small round things.
constexpr float kPriorWeights[] = {3.0f, 20.0f};
constexpr float kMaxStep = 0.5f;
// Grey images hold 128 times the grey level.
constexpr float kGreyScale = 1.0f / 128.0f;

// Coefficients of the cubic spline through one row (Unser, Aldroubi and Eden 1993). Polynomials
// through four pixels would pull fine texture towards whole pixels by some hundredths.
void splineRow(const int16_t* row, int width, float* out) {
  constexpr float kPole = -0.26794919f;  // sqrt(3) - 2
  constexpr float kGain = 6.0f;
  float state = kGain / (1.0f - kPole) * static_cast<float>(row[0]);
  for (int x = 0; x < width; ++x) {
    state = kGain * static_cast<float>(row[x]) + kPole * state;
    out[x] = state;
  }
  const float second = width > 1 ? out[width - 2] : state;
  state = kPole / (kPole * kPole - 1.0f) * (state + kPole * second);
  out[width - 1] = state;
  for (int x = width - 2; x >= 0; --x) {
    state = kPole * (state - out[x]);
    out[x] = state;
  }
}

// Residual of one row at its current disparities, and the slope of the right image there.
void warpRow(const int16_t* left,
             const float* right_spline,
             const float* disparity,
             int width,
             float* slope,
             float* error) {
  const auto limit = static_cast<float>(width - 2);
  for (int x = 0; x < width; ++x) {
    slope[x] = 0.0f;
    error[x] = 0.0f;
    const float position = static_cast<float>(x) - disparity[x];
    // False for an unknown disparity too.
    if (!(position >= 1.0f && position < limit))
      continue;
    const int column = static_cast<int>(position);
    const float t = position - static_cast<float>(column);
    const float a = right_spline[column - 1];
    const float b = right_spline[column];
    const float c = right_spline[column + 1];
    const float d = right_spline[column + 2];
    const float c0 = (a + 4.0f * b + c) * (1.0f / 6.0f);
    const float c1 = 0.5f * (c - a);
    const float c2 = 0.5f * (a + c) - b;
    const float c3 = (d - a) * (1.0f / 6.0f) + 0.5f * (b - c);
    const float value = c0 + t * (c1 + t * (c2 + t * c3));
    slope[x] = kGreyScale * (c1 + t * (2.0f * c2 + t * 3.0f * c3));
    error[x] = kGreyScale * (static_cast<float>(left[x]) - value);
  }
}

}  // namespace

FloatMap refine(const Kernels& kernels,
                PaddedImage left,
                PaddedImage right,
                FloatMap& map,
                FloatMap& spare,
                int threads) {
  const FloatMap slope(map.width(), map.height(), 0.0f);
  FloatMap error(map.width(), map.height(), 0.0f);
  const FloatMap spline(map.width(), map.height(), 0.0f);
  inParts(threads, map.height(), [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      splineRow(right.data + y * right.stride, map.width(), spline.row(y));
    }
  });
  const auto warp = [&] {
    inParts(threads, map.height(), [&](int first, int last) {
      for (int y = first; y < last; ++y) {
        warpRow(left.data + y * left.stride, spline.row(y), map.row(y), map.width(), slope.row(y),
                error.row(y));
      }
    });
  };
  for (const float prior_weight : kPriorWeights) {
    warp();
    inParts(threads, map.height(), [&](int first, int last) {
      for (int y = first; y < last; ++y) {
        kernels.refineRow({map.width(), map.stride(), kSurfaceStep, prior_weight, kMaxStep,
                           map.row(y), slope.row(y), error.row(y), spare.row(y)});
      }
    });
    std::swap(map, spare);
  }
  warp();
  return error;
}

}  // namespace s2r::stereo
