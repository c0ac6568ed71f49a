// Every build of the inner loops against plain ones written here.
#include "native/stereo/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "native/stereo/images.h"

namespace s2r::stereo {
namespace {

class EveryBuild : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    kernels_ = GetParam() ? avx2Kernels() : &portableKernels();
    if (kernels_ == nullptr)
      GTEST_SKIP() << "this machine has no AVX2";
  }
  const Kernels* kernels_ = nullptr;
  std::mt19937 random_{7};
};

INSTANTIATE_TEST_SUITE_P(Builds, EveryBuild, testing::Values(false, true));

TEST_P(EveryBuild, CostsAreHammingDistances) {
  constexpr int kWidth = 37;
  constexpr int kCount = 64;
  constexpr int kFrom = -5;
  constexpr int kBefore = 64;
  std::vector<uint8_t> left[kCensusPlanes];
  std::vector<uint8_t> mirrored[kCensusPlanes];
  const uint8_t* own[kCensusPlanes];
  const uint8_t* other[kCensusPlanes];
  for (int i = 0; i < kCensusPlanes; ++i) {
    for (int x = 0; x < kWidth; ++x)
      left[i].push_back(static_cast<uint8_t>(random_()));
    for (int x = 0; x < kWidth + 3 * kBefore; ++x) {
      mirrored[i].push_back(static_cast<uint8_t>(random_()));
    }
    own[i] = left[i].data();
    other[i] = mirrored[i].data() + kBefore + kWidth - 1 + kFrom;
  }
  std::vector<uint8_t> cost(kWidth * kCount);
  kernels_->costRow(own, other, kWidth, kCount, kFrom, 99, cost.data());
  for (int x = 0; x < kWidth; ++x) {
    for (int k = 0; k < kCount; ++k) {
      const int column = x - kFrom - k;
      int expected = 99;
      if (column >= 0 && column < kWidth) {
        expected = 0;
        for (int i = 0; i < kCensusPlanes; ++i) {
          const uint8_t bits = left[i][x] ^ mirrored[i][kBefore + kWidth - 1 - column];
          expected += std::popcount(bits);
        }
      }
      ASSERT_EQ(cost[x * kCount + k], expected) << x << " " << k;
    }
  }
}

TEST_P(EveryBuild, CensusComparesWithTheCentre) {
  // On a ramp, exactly the neighbours to the left are darker.
  constexpr int kWidth = 40;
  std::vector<uint8_t> ramp;
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < kWidth; ++x)
      ramp.push_back(static_cast<uint8_t>(5 * x));
  }
  const GreyImage image(ramp, kWidth, 9, 1, 1);
  std::vector<uint8_t> planes[kCensusPlanes];
  uint8_t* out[kCensusPlanes];
  for (int i = 0; i < kCensusPlanes; ++i) {
    planes[i].assign(kWidth + kDisparityBlock, 0);
    out[i] = planes[i].data();
  }
  kernels_->censusRow(image.view(), 4, kWidth, out);
  for (int x = 3; x < kWidth - 3; ++x) {
    int set = 0;
    for (int i = 0; i < kCensusPlanes; ++i)
      set += std::popcount(planes[i][x]);
    // Columns -3, -2 and -1 of the pattern hold 3, 4 and 3 pixels.
    ASSERT_EQ(set, 10) << x;
  }
}

TEST_P(EveryBuild, PathsFollowTheRecursion) {
  constexpr int kWidth = 19;
  constexpr int kCount = 32;
  constexpr int kSlot = kCount + kPathPad;
  constexpr int kNever = 200;
  std::vector<uint8_t> cost(kWidth * kCount);
  for (auto& value : cost)
    value = static_cast<uint8_t>(random_() % (kCensusBits + 1));
  std::vector<int16_t> grey(kWidth + 2);
  std::vector<int16_t> grey_before(kWidth + 2);
  for (auto& value : grey)
    value = static_cast<int16_t>(random_() % 32640);
  for (auto& value : grey_before)
    value = static_cast<int16_t>(random_() % 32640);
  std::vector<uint8_t> penalty2(256);
  for (int i = 0; i < 256; ++i)
    penalty2[i] = static_cast<uint8_t>(38 - i / 10);
  constexpr int kPenalty = 6;

  for (const int step : {1, -1}) {
    // before[path][slot][k], slot = column + 1.
    std::vector<uint8_t> before[3];
    std::vector<uint8_t> now[3];
    std::vector<uint8_t> least_before[3];
    std::vector<uint8_t> least_now[3];
    PathRow row_before{};
    PathRow row_now{};
    for (int path = 0; path < 3; ++path) {
      before[path].assign(kPathPad + (kWidth + 2) * kSlot, kNever);
      now[path].assign(before[path].size(), kNever);
      least_before[path].assign(kWidth + 2, 0);
      least_now[path].assign(kWidth + 2, 0);
      for (int slot = 0; slot < kWidth + 2; ++slot) {
        uint8_t* first = &before[path][kPathPad + slot * kSlot];
        for (int k = 0; k < kCount; ++k)
          first[k] = static_cast<uint8_t>(random_() % 60);
        least_before[path][slot] = *std::min_element(first, first + kCount);
      }
      row_before.costs[path] = before[path].data() + kPathPad;
      row_before.least[path] = least_before[path].data();
      row_now.costs[path] = now[path].data() + kPathPad;
      row_now.least[path] = least_now[path].data();
    }
    std::vector<uint8_t> along(2 * (kSlot + kPathPad), kNever);
    uint8_t* first_along = along.data() + kPathPad;
    std::fill_n(first_along, kCount, 0);
    std::vector<uint8_t> sum(kWidth * kCount);
    kernels_->aggregateRow({kWidth,
                            kCount,
                            step,
                            cost.data(),
                            grey.data() + 1,
                            grey_before.data() + 1,
                            &row_before,
                            &row_now,
                            {first_along, first_along + kSlot + kPathPad},
                            kPenalty,
                            penalty2.data(),
                            sum.data()});

    std::vector<int> previous(kCount, 0);
    for (int n = 0; n < kWidth; ++n) {
      const int x = step > 0 ? n : kWidth - 1 - n;
      std::vector<int> total(kCount, 0);
      const auto follow = [&](auto&& from, int jump_step) {
        std::vector<int> path(kCount);
        int least = 1000;
        for (int k = 0; k < kCount; ++k)
          least = std::min<int>(least, from(k));
        for (int k = 0; k < kCount; ++k) {
          int best = std::min<int>(from(k), least + penalty2[std::abs(jump_step) >> 7]);
          if (k > 0)
            best = std::min<int>(best, from(k - 1) + kPenalty);
          if (k + 1 < kCount)
            best = std::min<int>(best, from(k + 1) + kPenalty);
          path[k] = cost[x * kCount + k] + best - least;
          total[k] += path[k];
        }
        return path;
      };
      const int offsets[3] = {-step, 0, step};
      for (int path = 0; path < 3; ++path) {
        const int column = x + offsets[path];
        const uint8_t* first = &before[path][kPathPad + (column + 1) * kSlot];
        const auto result = follow([&](int k) { return static_cast<int>(first[k]); },
                                   grey[x + 1] - grey_before[column + 1]);
        for (int k = 0; k < kCount; ++k) {
          ASSERT_EQ(now[path][kPathPad + (x + 1) * kSlot + k], result[k]) << path << " " << x;
        }
        ASSERT_EQ(least_now[path][x + 1], *std::min_element(result.begin(), result.end()));
      }
      const std::vector<int> last = previous;
      previous = follow([&](int k) { return last[k]; }, grey[x + 1] - grey[x - step + 1]);
      for (int k = 0; k < kCount; ++k)
        ASSERT_EQ(sum[x * kCount + k], total[k]) << x << " " << k;
    }
  }
}

TEST_P(EveryBuild, SelectionFindsTheLeastUniqueCost) {
  constexpr int kWidth = 50;
  constexpr int kCount = 96;
  std::vector<uint8_t> down(kWidth * kCount);
  std::vector<uint8_t> up(kWidth * kCount);
  for (auto& value : down)
    value = static_cast<uint8_t>(60 + random_() % 60);
  for (auto& value : up)
    value = static_cast<uint8_t>(60 + random_() % 60);
  std::vector<int16_t> scratch_total(kCount);
  std::vector<int16_t> right(kWidth + kCount);
  std::vector<int16_t> index(kWidth);
  std::vector<float> fraction(kWidth);
  kernels_->selectRow({kWidth, kCount, down.data(), up.data(), scratch_total.data(), right.data(),
                       index.data(), fraction.data(), 1050});
  std::vector<int> right_least(kWidth + kCount, INT16_MAX);
  for (int x = 0; x < kWidth; ++x) {
    std::vector<int> total(kCount);
    for (int k = 0; k < kCount; ++k) {
      total[k] = down[x * kCount + k] + up[x * kCount + k];
      int& least = right_least[kWidth - 1 - x + k];
      least = std::min(least, total[k]);
    }
    const int best = static_cast<int>(std::min_element(total.begin(), total.end()) - total.begin());
    bool unique = best > 0 && best + 1 < kCount;
    for (int k = 0; k < kCount; ++k) {
      if (std::abs(k - best) > 1 && total[k] <= total[best] * 1050 / 1000)
        unique = false;
    }
    ASSERT_EQ(index[x], unique ? best : -1) << x;
    if (!unique)
      continue;
    const int fall = total[best - 1] - total[best];
    const int rise = total[best + 1] - total[best];
    const int steep = std::max(fall, rise);
    ASSERT_FLOAT_EQ(
        fraction[x],
        steep > 0 ? 0.5f * static_cast<float>(fall - rise) / static_cast<float>(steep) : 0.0f);
  }
  for (int i = 0; i < kWidth + kCount - 1; ++i)
    ASSERT_EQ(right[i], right_least[i]) << i;
}

TEST_P(EveryBuild, MedianIgnoresUnknownNeighbours) {
  for (const int width : {1, 5, 8, 21}) {
    FloatMap map(width, 3, kUnknown);
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < width; ++x) {
        if (random_() % 4 != 0)
          map.row(y)[x] = static_cast<float>(random_() % 100);
      }
    }
    std::vector<float> out(width);
    kernels_->medianRow(map.row(0), map.row(1), map.row(2), width, out.data());
    for (int x = 0; x < width; ++x) {
      const float centre = map.row(1)[x];
      if (std::isnan(centre)) {
        ASSERT_TRUE(std::isnan(out[x]));
        continue;
      }
      std::vector<float> around;
      for (int y = 0; y < 3; ++y) {
        for (int dx = -1; dx <= 1; ++dx) {
          const float value = map.row(y)[x + dx];
          around.push_back(std::isnan(value) ? centre : value);
        }
      }
      std::nth_element(around.begin(), around.begin() + 4, around.end());
      ASSERT_EQ(out[x], around[4]) << x;
    }
  }
}

}  // namespace
}  // namespace s2r::stereo
