#include "native/stereo/filters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace s2r::stereo {
namespace {

FloatMap rowOf(const std::vector<float>& values) {
  FloatMap map(static_cast<int>(values.size()), 1, kUnknown);
  for (size_t i = 0; i < values.size(); ++i)
    map.row(0)[i] = values[i];
  return map;
}

void expectRow(const FloatMap& map, const std::vector<float>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(map.row(0)[i])) << i;
    } else {
      EXPECT_NEAR(map.row(0)[i], values[i], 1e-5) << i;
    }
  }
}

constexpr float n = kUnknown;

void expectFilled(const std::vector<float>& from, int longest_px, const std::vector<float>& to) {
  const FloatMap in = rowOf(from);
  const FloatMap out = rowOf(from);
  int64_t changed = 0;
  for (size_t i = 0; i < from.size(); ++i)
    changed += std::isnan(from[i]) && !std::isnan(to[i]);
  EXPECT_EQ(fillRuns(out, in, longest_px), changed);
  expectRow(out, to);
}

TEST(FillRuns, InterpolatesWithinOneSurface) {
  expectFilled({n, 10, 10, 10, n, n, n, 10.6f, 10.6f, 10.6f, n}, 8,
               {n, 10, 10, 10, 10.2f, 10.3f, 10.4f, 10.6f, 10.6f, 10.6f, n});
}

TEST(FillRuns, FollowsASlope) {
  expectFilled(
      {1, 1.4f, 1.8f, 2.2f, 2.6f, 3, n, n, n, n, 5, 5.4f, 5.8f, 6.2f, 6.6f, 7}, 8,
      {1, 1.4f, 1.8f, 2.2f, 2.6f, 3, 3.4f, 3.8f, 4.2f, 4.6f, 5, 5.4f, 5.8f, 6.2f, 6.6f, 7});
}

TEST(FillRuns, LeavesLongRunsUnknown) {
  expectFilled({10, n, n, n, 10}, 2, {10, n, n, n, 10});
}

TEST(FillRuns, GivesAnOcclusionTheBackground) {
  expectFilled({5, n, n, n, 8}, 8, {5, 5, 5, 5, 8});
}

TEST(FillRuns, AllowsForMoreThanTheOcclusion) {
  expectFilled({5, n, n, n, n, n, 8}, 8, {5, 5, 5, 5, 5, 5, 8});
}

TEST(FillRuns, LeavesAStepThatNoOcclusionExplains) {
  expectFilled({5, n, n, n, n, n, n, n, n, 8}, 20, {5, n, n, n, n, n, n, n, n, 8});
}

TEST(FillRuns, FillsOnlyTheShortestRunsBehindANearSurface) {
  expectFilled({9, n, n, n, 4}, 20, {9, 4, 4, 4, 4});
  expectFilled({9, n, n, n, n, 4}, 20, {9, n, n, n, n, 4});
}

TEST(FillRuns, DoesNotSpreadAStrayMatch) {
  expectFilled({5, 5, 7.5f, n, n, n, 8, 8, 8}, 8, {5, 5, 7.5f, 5, 5, 5, 8, 8, 8});
}

TEST(TrimRims, DropsWhatTheImagesContradict) {
  const FloatMap map = rowOf({5, 5, n, n, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
  const FloatMap error = rowOf({0, 0, 0, 0, 30, -25, 1, 1, -1, 2, 1, 1, 0, 1, 0});
  trimRims(map, error);
  expectRow(map, {5, 5, n, n, n, n, 9, 9, 9, 9, 9, 9, 9, 9, 9});
}

TEST(TrimRims, KeepsARimThatDiffersNoMoreThanTheRest) {
  const std::vector<float> row = {5, 5, n, n, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  const FloatMap map = rowOf(row);
  trimRims(map, rowOf({0, 0, 0, 0, 30, -25, 10, 11, -10, 12, 10, 11, 10, 10, 10}));
  expectRow(map, row);
}

TEST(TrimRims, KeepsWhatNeighboursNoHiddenBackground) {
  for (const std::vector<float>& row :
       {std::vector<float>{9, 9, n, n, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
        std::vector<float>{5, 5, 5, 5, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9},
        std::vector<float>{n, n, n, n, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}}) {
    const FloatMap map = rowOf(row);
    trimRims(map, rowOf({0, 0, 0, 0, 30, -25, 1, 1, -1, 2, 1, 1, 0, 1, 0}));
    expectRow(map, row);
  }
}

TEST(DropSpeckles, DropsSmallRegionsOnly) {
  FloatMap map(12, 6, kUnknown);
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 12; ++x)
      map.row(y)[x] = 10.0f + 0.1f * static_cast<float>(x);
  }
  map.row(2)[4] = map.row(2)[5] = map.row(3)[5] = 30;
  dropSpeckles(map, 4, 1);
  EXPECT_TRUE(std::isnan(map.row(2)[4]));
  EXPECT_TRUE(std::isnan(map.row(3)[5]));
  EXPECT_FLOAT_EQ(map.row(3)[4], 10.4f);
}

TEST(DropSpeckles, JoinsRegionsThatMeetFurtherDown) {
  // A U of disparity 5: both arms belong to one region of seven pixels.
  FloatMap map(3, 3, kUnknown);
  for (int y = 0; y < 3; ++y)
    map.row(y)[0] = map.row(y)[2] = 5;
  map.row(2)[1] = 5;
  dropSpeckles(map, 7, 1);
  EXPECT_FLOAT_EQ(map.row(0)[0], 5);
  EXPECT_FLOAT_EQ(map.row(0)[2], 5);
  dropSpeckles(map, 8, 1);
  EXPECT_TRUE(std::isnan(map.row(0)[0]));
  EXPECT_TRUE(std::isnan(map.row(0)[2]));
}

TEST(DropSpeckles, KeepsAllAtZero) {
  const FloatMap map = rowOf({1, n, 9});
  dropSpeckles(map, 0, 1);
  expectRow(map, {1, n, 9});
}

}  // namespace
}  // namespace s2r::stereo
