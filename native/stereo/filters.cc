#include "native/stereo/filters.h"

#include <algorithm>
#include <cmath>

namespace s2r::stereo {
namespace {

// Ends that differ by no more belong to one surface.
constexpr float kSurfaceStep = 2.0f;
// By how much a run may be longer than the occlusion that explains it.
constexpr int kOcclusionSlack = 4;
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

// Median of the known pixels in a block of three rows and three columns that begins at (x, y) and
// goes to `side`. The pixel itself stands beside an unknown one, so its own match was made half in
// the dark.
float surfaceAt(const FloatMap& map, int x, int y, int side) {
  float values[9];
  int count = 0;
  for (int row = y - 1; row <= y + 1; ++row) {
    for (int i = 0; i < 3; ++i) {
      const float value = map.row(row)[x + i * side];  // padding is unknown
      if (!std::isnan(value))
        values[count++] = value;
    }
  }
  std::nth_element(values, values + count / 2, values + count);
  return values[count / 2];
}

// Fills row[0..gap) between the known `from` on its left and `to` on its right; tells how many.
int fillRun(float* row, int gap, float from, float to) {
  if (std::abs(to - from) <= kSurfaceStep) {
    const float step = (to - from) / static_cast<float>(gap + 1);
    for (int i = 0; i < gap; ++i)
      row[i] = from + step * static_cast<float>(i + 1);
    return gap;
  }
  if (from > to) {
    if (gap > kLongestBehind)
      return 0;
    std::fill_n(row, gap, to);
    return gap;
  }
  const int hidden = static_cast<int>(std::lround(to - from));
  const int excess = gap - hidden;
  if (excess > kOcclusionSlack)
    return 0;
  const int background = std::min(gap, hidden + std::max(excess, 0) / 2);
  std::fill_n(row, background, from);
  std::fill_n(row + background, gap - background, to);
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
        filled +=
            fillRun(out + known + 1, gap, surfaceAt(from, known, y, -1), surfaceAt(from, x, y, 1));
      }
      known = x;
    }
  }
  return filled;
}

}  // namespace s2r::stereo
