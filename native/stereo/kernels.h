// Inner loops of the matcher. One source (kernels_impl.h) is compiled once per instruction set;
// every build gives the same bits: the integer loops are exact and the float ones keep their order
// of operations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace s2r::stereo {

// Census comparisons per pixel. Four path costs, each at most kCensusBits + kMaxPenalty2, must fit
// a byte.
inline constexpr int kCensusBits = 24;
inline constexpr int kCensusPlanes = 3;
inline constexpr int kMaxPenalty2 = 39;
// Reach of the census pattern and of the refinement's window, in pixels.
inline constexpr int kCensusReach = 3;
inline constexpr int kRefineRadius = 3;
// Disparities are searched in whole blocks of this many.
inline constexpr int kDisparityBlock = 32;
// Bytes before and after the disparities of one pixel in a path buffer, so that d - 1 and d + 1
// exist.
inline constexpr int kPathPad = 32;
static_assert(4 * (kCensusBits + kMaxPenalty2) <= 255);

// Padded image of grey values scaled to 0..32640.
struct PaddedImage {
  const int16_t* data;  // first pixel, not padding
  ptrdiff_t stride;
};

// State of the four paths that arrive at one row from one vertical side.
struct PathRow {
  uint8_t* costs[3];  // from x - step, x, x + step of the row before; (width + 2) slots
  uint8_t* least[3];  // least cost of each slot
};

struct AggregateArgs {
  int width;
  int disparities;
  int step;  // +1: left to right with the row above; -1: right to left with the row below
  const uint8_t* cost;         // width * disparities
  const int16_t* grey;         // this row
  const int16_t* grey_before;  // the row before, or this row again for the first one
  const PathRow* before;
  const PathRow* now;
  uint8_t* along[2];  // two slots for the path along the row
  uint8_t penalty1;
  const uint8_t* penalty2;  // 256 entries by grey-level step
  uint8_t* sum;             // width * disparities: sum of the four paths
};

struct SelectArgs {
  int width;
  int disparities;
  const uint8_t* sum_down;
  const uint8_t* sum_up;
  int16_t* scratch;  // disparities
  // width + disparities entries: least cost of each pixel of the right image. Entry width - 1 - x +
  // k belongs to the column that left column x meets at disparity index k.
  int16_t* right_cost;
  int16_t* left_index;      // width: out, best disparity index, or -1 where it is not unique or the
                            // first or last of the range, beyond which the true one may lie
  float* fraction;          // width: out, sub-pixel offset of the best index, -0.5..0.5
  int uniqueness_permille;  // 1000 + 10 * percent
};

// All pointers are to the first pixel of one row of maps with padding and a common stride.
struct RefineArgs {
  int width;
  ptrdiff_t stride;
  float surface_step_px;
  float prior_weight;
  float max_step_px;
  const float* disparity;
  const float* slope;
  const float* error;
  float* out;
};

struct Kernels {
  const char* name;
  void (*censusRow)(PaddedImage image, int y, int width, uint8_t* const planes[kCensusPlanes]);
  // planes hold width entries, rounded up to a whole vector (kDisparityBlock).
  // right: planes mirrored, pointing at the entry that belongs to disparity index 0 of left column
  // 0.
  void (*costRow)(const uint8_t* const left[kCensusPlanes],
                  const uint8_t* const right[kCensusPlanes],
                  int width,
                  int disparities,
                  int min_disparity,
                  uint8_t out_of_image,
                  uint8_t* cost);
  void (*aggregateRow)(const AggregateArgs& args);
  void (*selectRow)(const SelectArgs& args);
  void (
      *medianRow)(const float* above, const float* row, const float* below, int width, float* out);
  void (*refineRow)(const RefineArgs& args);
};

const Kernels& portableKernels();
// Null where this build or this machine has no AVX2.
const Kernels* avx2Kernels();

}  // namespace s2r::stereo
