#include "native/stereo/path_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace s2r::stereo {
namespace {

// Penalties in census bits: for a step of one disparity, and for a jump, which is cheaper across an
// edge of the image (half as dear at a step of kPenaltyDecay grey levels).
constexpr int kPenalty1 = 6;
constexpr double kPenalty2 = 36;
constexpr double kPenaltyDecay = 25;
static_assert(kPenalty2 <= kMaxPenalty2);
// Cost of a match that would lie outside the right image: what a third of the bits amounts to, a
// fair match.
constexpr uint8_t kOutsideCost = kCensusBits / 3;
// Padding of path buffers: dearer than any path, without overflow when a penalty is added.
constexpr int kNeverCost = 200;
static_assert(kNeverCost > kCensusBits + kMaxPenalty2 && kNeverCost + kPenalty1 <= 255);

std::array<uint8_t, 256> jumpPenalties() {
  std::array<uint8_t, 256> table{};
  for (int step = 0; step < 256; ++step) {
    const double penalty = kPenalty2 / (1 + step / kPenaltyDecay);
    table[static_cast<size_t>(step)] =
        static_cast<uint8_t>(std::lround(std::max<double>(penalty, kPenalty1 + 1)));
  }
  return table;
}

// Census codes of both images, those of the right one mirrored, so that disparity runs with memory.
class CensusCodes {
 public:
  explicit CensusCodes(const MatchArgs& args) {
    // Left column x and disparity d meet mirrored column width - 1 - x + d, which may lie outside
    // the image.
    const int before = std::max(0, -args.min_disparity) + kDisparityBlock;
    const int after = std::max(0, args.min_disparity) + args.disparities + kDisparityBlock;
    const ptrdiff_t own = args.width + kDisparityBlock;
    stride_ = own + before + args.width + after;
    plane_ = stride_ * args.height;
    store_ = scratch<uint8_t>(plane_ * kCensusPlanes);
    std::memset(store_.get(), 0, static_cast<size_t>(plane_ * kCensusPlanes));
    right_ = own + before + args.width - 1 + args.min_disparity;
    inParts(args.threads, args.height, [&](int first, int last) {
      const auto row = scratch<uint8_t>(kCensusPlanes * own);
      for (int y = first; y < last; ++y) {
        uint8_t* planes[kCensusPlanes];
        uint8_t* straight[kCensusPlanes];
        for (int i = 0; i < kCensusPlanes; ++i) {
          planes[i] = store_.get() + i * plane_ + y * stride_;
          straight[i] = row.get() + i * own;
        }
        args.kernels.censusRow(args.left, y, args.width, planes);
        args.kernels.censusRow(args.right, y, args.width, straight);
        for (int i = 0; i < kCensusPlanes; ++i) {
          std::reverse_copy(straight[i], straight[i] + args.width, planes[i] + own + before);
        }
      }
    });
  }

  [[nodiscard]] const uint8_t* left(int plane, int y) const {
    return store_.get() + plane * plane_ + y * stride_;
  }
  // The entry that left column 0 meets at disparity index 0.
  [[nodiscard]] const uint8_t* right(int plane, int y) const { return left(plane, y) + right_; }

 private:
  Scratch<uint8_t> store_;
  ptrdiff_t stride_;  // from one row to the next
  ptrdiff_t plane_;   // from one plane to the next
  ptrdiff_t right_;
};

// Two rows of the three paths that cross rows, and two pixels of the one that runs along a row.
class PathBuffers {
 public:
  PathBuffers(int width, int disparities) {
    const ptrdiff_t slot = disparities + kPathPad;
    const ptrdiff_t costs = (width + 2) * slot + kPathPad;
    const ptrdiff_t total = 6 * (costs + width + 2) + 2 * (slot + kPathPad);
    store_ = scratch<uint8_t>(total);
    std::memset(store_.get(), kNeverCost, static_cast<size_t>(total));
    uint8_t* next = store_.get();
    // A path that starts has paid nothing: zero costs before the first row and beside the image.
    for (auto& row : rows) {
      for (int path = 0; path < 3; ++path) {
        row.costs[path] = next + kPathPad;
        for (int i = 0; i < width + 2; ++i) {
          std::memset(row.costs[path] + i * slot, 0, static_cast<size_t>(disparities));
        }
        next += costs;
        row.least[path] = next;
        std::memset(next, 0, static_cast<size_t>(width + 2));
        next += width + 2;
      }
    }
    for (auto& pixel : along) {
      pixel = next + kPathPad;
      next += slot + kPathPad;
    }
  }

  PathRow rows[2];
  uint8_t* along[2];

 private:
  Scratch<uint8_t> store_;
};

// Four of the eight paths: those that come from above (step 1) or from below (step -1), with the
// one along the row.
class Sweep {
 public:
  Sweep(const MatchArgs& args, const CensusCodes& codes, int step)
      : args_(args),
        codes_(codes),
        step_(step),
        penalties_(jumpPenalties()),
        paths_(args.width, args.disparities),
        cost_(scratch<uint8_t>(int64_t{args.width} * args.disparities)) {}

  // Writes row y's sums. Rows must come in order, from the top for step 1, from the bottom for -1.
  void advance(int y, uint8_t* sum) {
    const uint8_t* left[kCensusPlanes];
    const uint8_t* right[kCensusPlanes];
    for (int i = 0; i < kCensusPlanes; ++i) {
      left[i] = codes_.left(i, y);
      right[i] = codes_.right(i, y);
    }
    // Costs are cheaper made twice, once per sweep, than kept for the whole image.
    args_.kernels.costRow(left, right, args_.width, args_.disparities, args_.min_disparity,
                          kOutsideCost, cost_.get());
    const int16_t* row = args_.left.data + y * args_.left.stride;
    const int16_t* before = rows_done_ > 0 ? row - step_ * args_.left.stride : row;
    std::memset(paths_.along[0], 0, static_cast<size_t>(args_.disparities));
    args_.kernels.aggregateRow({args_.width,
                                args_.disparities,
                                step_,
                                cost_.get(),
                                row,
                                before,
                                &paths_.rows[rows_done_ & 1],
                                &paths_.rows[1 - (rows_done_ & 1)],
                                {paths_.along[0], paths_.along[1]},
                                kPenalty1,
                                penalties_.data(),
                                sum});
    ++rows_done_;
  }

 private:
  const MatchArgs& args_;
  const CensusCodes& codes_;
  const int step_;
  const std::array<uint8_t, 256> penalties_;
  const PathBuffers paths_;
  const Scratch<uint8_t> cost_;
  int rows_done_ = 0;
};

// Turns the sums of one row into checked disparities.
class Selector {
 public:
  explicit Selector(const MatchArgs& args)
      : args_(args),
        total_(static_cast<size_t>(args.disparities)),
        right_cost_(static_cast<size_t>(args.width + args.disparities)),
        index_(static_cast<size_t>(args.width)),
        fraction_(static_cast<size_t>(args.width)) {}

  void select(const uint8_t* down, const uint8_t* up, float* out) {
    args_.kernels.selectRow({args_.width, args_.disparities, down, up, total_.data(),
                             right_cost_.data(), index_.data(), fraction_.data(),
                             args_.uniqueness_permille});
    for (int x = 0; x < args_.width; ++x) {
      const int k = index_[static_cast<size_t>(x)];
      const int column = x - args_.min_disparity - k;
      if (k < 0 || column < 0 || column >= args_.width || !matchesBack(down, up, x, k))
        continue;
      out[x] = static_cast<float>(args_.min_disparity + k) + fraction_[static_cast<size_t>(x)];
    }
  }

 private:
  // The right pixel's own best match lies on the diagonal (x + j, k + j) of the sums: is it within
  // reach?
  bool matchesBack(const uint8_t* down, const uint8_t* up, int x, int k) const {
    const int least = right_cost_[static_cast<size_t>(args_.width - 1 - x + k)];
    const int reach = args_.left_right_max_px;
    const int from = std::max({-reach, -x, -k});
    const int to = std::min({reach, args_.width - 1 - x, args_.disparities - 1 - k});
    for (int j = from; j <= to; ++j) {
      const int64_t at = int64_t{x + j} * args_.disparities + k + j;
      if (down[at] + up[at] == least)
        return true;
    }
    return false;
  }

  const MatchArgs& args_;
  std::vector<int16_t> total_;
  std::vector<int16_t> right_cost_;
  std::vector<int16_t> index_;
  std::vector<float> fraction_;
};

}  // namespace

void matchPaths(const MatchArgs& args, FloatMap& map) {
  const CensusCodes codes(args);
  const int64_t row_volume = int64_t{args.width} * args.disparities;
  const auto sums = scratch<uint8_t>(row_volume * args.height);
  const auto sumsOf = [&](int y) { return sums.get() + y * row_volume; };
  Sweep down(args, codes, 1);
  Sweep up(args, codes, -1);
  const Scratch<uint8_t> rows[2] = {scratch<uint8_t>(row_volume), scratch<uint8_t>(row_volume)};
  Selector selectors[2] = {Selector(args), Selector(args)};
  // The sweeps pass each other: each stores its sums up to the middle, and beyond it joins its own
  // with those that the other one left. So both share one volume and each row is selected as soon
  // as it is complete. One thread alone stores all of the first sweep.
  const int middle = args.threads > 1 ? args.height / 2 : args.height;
  const auto store = [&](int sweep) {
    if (sweep == 0) {
      for (int y = 0; y < middle; ++y)
        down.advance(y, sumsOf(y));
    } else {
      for (int y = args.height - 1; y >= middle; --y)
        up.advance(y, sumsOf(y));
    }
  };
  const auto finish = [&](int sweep) {
    uint8_t* row = rows[sweep].get();
    if (sweep == 0) {
      for (int y = middle; y < args.height; ++y) {
        down.advance(y, row);
        selectors[0].select(row, sumsOf(y), map.row(y));
      }
    } else {
      for (int y = middle - 1; y >= 0; --y) {
        up.advance(y, row);
        selectors[1].select(sumsOf(y), row, map.row(y));
      }
    }
  };
  for (const bool complete : {false, true}) {
    inParts(args.threads, 2, [&](int first, int last) {
      for (int sweep = first; sweep < last; ++sweep) {
        if (complete) {
          finish(sweep);
        } else {
          store(sweep);
        }
      }
    });
  }
}

}  // namespace s2r::stereo
