#include "native/stereo/filters.h"

#include <algorithm>
#include <cmath>

namespace s2r::stereo {
namespace {

// Surfaces that miss each other by no more across a run are one.
constexpr float kSurfaceStep = 1.0f;
// Steepest slope of one surface, and greatest difference of slope on both sides of a run, in pixels
// per column.
constexpr float kSteepestSlope = 0.5f;
constexpr float kSlopeStep = 0.15f;
// By how much a run may be longer than the occlusion that explains it.
constexpr int kOcclusionSlack = 4;
// Pixels at the left rim of a near surface that are judged by the seven further in, on the same
// surface.
constexpr int kRimWidth = 3;
constexpr int kRimReference = 7;
constexpr float kRimStep = 3.0f;
// A pixel is false where the images differ by more than so many grey levels and so many times the
// usual.
constexpr float kRimGreyLevels = 6.0f;
constexpr float kRimRatio = 3.0f;
// Longest run that is filled beside a near surface on its left.
constexpr int kLongestBehind = 3;

int32_t rootOf(int32_t* parents, int32_t i) {
  while (parents[i] != i) {
    parents[i] = parents[parents[i]];
    i = parents[i];
  }
  return i;
}

void join(int32_t* parents, int32_t a, int32_t b) {
  a = rootOf(parents, a);
  b = rootOf(parents, b);
  parents[std::max(a, b)] = std::min(a, b);
}

// How many of the `kRimWidth` pixels that begin at x do not show the surface further in: the images
// differ there by clearly more than they do on it. 0 where too little of it is known.
int falseRim(const float* row, const float* error, int x, int width) {
  float beyond[kRimReference];
  int count = 0;
  for (int i = x + kRimWidth; i < std::min(width, x + kRimWidth + kRimReference); ++i) {
    if (std::abs(row[i] - row[x]) <= kRimStep)
      beyond[count++] = std::abs(error[i]);
  }
  if (count <= kRimReference / 2)
    return 0;
  std::nth_element(beyond, beyond + count / 2, beyond + count);
  const float usual = kRimGreyLevels + kRimRatio * beyond[count / 2];
  int rim = 0;
  for (int i = 0; i < kRimWidth; ++i) {
    if (std::abs(error[x + i]) > usual)
      rim = i + 1;
  }
  return rim;
}

// Median of the known pixels in the block of three rows and columns around (x, y); unknown where
// there are none.
float blockMedian(const FloatMap& map, int x, int y) {
  float values[9];
  int count = 0;
  for (int row = y - 1; row <= y + 1; ++row) {
    for (int column = x - 1; column <= x + 1; ++column) {
      const float value = map.row(row)[column];  // padding is unknown
      if (!std::isnan(value)) {
        values[count++] = value;
      }
    }
  }
  if (count == 0) {
    return kUnknown;
  }
  std::nth_element(values, values + count / 2, values + count);
  return values[count / 2];
}

// The surface beside an unknown run: its disparity one pixel beyond the pixel that ends the run,
// and its slope per column. That last pixel's own match was made half in the dark, so medians
// around it are taken.
struct Surface {
  float disparity;
  float slope;
};

Surface surfaceBeside(const FloatMap& map, int x, int y, int side) {
  const float near = blockMedian(map, x + side, y);
  const float slope = (blockMedian(map, x + 4 * side, y) - near) / static_cast<float>(3 * side);
  // Steeper: the second block is on another surface. Unknown: there is no second block.
  return {near, std::abs(slope) <= kSteepestSlope ? slope : 0.0f};
}

// Fills row[0..gap) between two surfaces; tells how many.
int fillRun(float* row, int gap, Surface left, Surface right) {
  const auto span = static_cast<float>(gap + 3);
  const float rise = right.disparity - left.disparity;
  const bool parallel = std::abs(right.slope - left.slope) <= kSlopeStep;
  const float expected = parallel ? 0.5f * (left.slope + right.slope) * span : 0.0f;
  if (std::abs(rise - expected) <= kSurfaceStep) {
    for (int i = 0; i < gap; ++i) {
      row[i] = left.disparity + rise * static_cast<float>(i + 2) / span;
    }
    return gap;
  }
  const int hidden = static_cast<int>(std::lround(rise));
  if (rise < 0 ? gap > kLongestBehind : gap - hidden > kOcclusionSlack) {
    return 0;
  }
  // A slope beside an edge is too uncertain to be carried on.
  std::fill_n(row, gap, std::min(left.disparity, right.disparity));
  return gap;
}

}  // namespace

void dropSpeckles(const FloatMap& map, int least_px, float step_px) {
  if (least_px <= 1)
    return;
  const int width = map.width();
  const int32_t count = width * map.height();
  const auto parents = scratch<int32_t>(count);
  const auto sizes = scratch<int32_t>(count);
  for (int y = 0; y < map.height(); ++y) {
    const float* row = map.row(y);
    const float* above = map.row(y - 1);  // unknown padding above the first row
    for (int x = 0; x < width; ++x) {
      const int32_t i = y * width + x;
      const bool left = std::abs(row[x] - row[x - 1]) <= step_px;
      const bool up = std::abs(row[x] - above[x]) <= step_px;
      parents[i] = left ? parents[i - 1] : (up ? parents[i - width] : i);
      if (left && up)
        join(parents.get(), i, i - width);
    }
  }
  std::fill_n(sizes.get(), count, 0);
  for (int32_t i = 0; i < count; ++i) {
    parents[i] = rootOf(parents.get(), i);
    ++sizes[parents[i]];
  }
  for (int y = 0; y < map.height(); ++y) {
    float* row = map.row(y);
    const int32_t* parent = parents.get() + ptrdiff_t{y} * width;
    for (int x = 0; x < width; ++x) {
      if (sizes[parent[x]] < least_px)
        row[x] = kUnknown;
    }
  }
}

void trimRims(const FloatMap& map, const FloatMap& error) {
  for (int y = 0; y < map.height(); ++y) {
    float* row = map.row(y);
    int known = -1;
    for (int x = 0; x < map.width(); ++x) {
      if (std::isnan(row[x]))
        continue;
      const bool rim = known >= 0 && x - known > 1 && row[x] - row[known] > kSurfaceStep;
      const int dropped = rim ? falseRim(row, error.row(y), x, map.width()) : 0;
      std::fill_n(row + x, dropped, kUnknown);
      if (dropped > 0) {
        x += dropped - 1;
      } else {
        known = x;
      }
    }
  }
}

int64_t fillRuns(const FloatMap& map, const FloatMap& from, int longest_px) {
  int64_t filled = 0;
  for (int y = 0; y < map.height(); ++y) {
    const float* in = from.row(y);
    float* out = map.row(y);
    int known = -1;
    for (int x = 0; x < map.width(); ++x) {
      out[x] = in[x];
      if (std::isnan(in[x]))
        continue;
      const int gap = x - known - 1;
      if (known >= 0 && gap > 0 && gap <= longest_px) {
        filled += fillRun(out + known + 1, gap, surfaceBeside(from, known, y, -1),
                          surfaceBeside(from, x, y, 1));
      }
      known = x;
    }
  }
  return filled;
}

}  // namespace s2r::stereo
