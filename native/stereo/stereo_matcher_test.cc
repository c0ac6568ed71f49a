#include "native/stereo/stereo_matcher.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

#include "native/stereo/kernels.h"
#include "native/stereo/test_scenes.h"

namespace s2r::stereo {
namespace {

StereoParams paramsFor(const TestPair& pair) {
  StereoParams p;
  p.width = pair.width;
  p.height = pair.height;
  p.fx_px = 600;
  p.baseline_m = 0.1;
  p.disparities = 64;
  p.speckle_px = 30;
  return p;
}

bool sameBits(const StereoResult& a, const StereoResult& b) {
  return a.depth_m.size() == b.depth_m.size() &&
         std::memcmp(a.depth_m.data(), b.depth_m.data(), a.depth_m.size() * sizeof(float)) == 0 &&
         std::memcmp(a.disparity_px.data(), b.disparity_px.data(),
                     a.disparity_px.size() * sizeof(float)) == 0 &&
         a.valid_fraction == b.valid_fraction && a.filled_fraction == b.filled_fraction;
}

struct Errors {
  double known = 0;  // share of the pixels looked at
  double mean = 0;   // signed
  double rms = 0;
  double worst = 0;
};

// Over pixels at least `margin` from the border, and far enough right to be in the other image.
Errors errorsOf(const TestPair& pair, const StereoResult& result, int margin) {
  Errors errors;
  int seen = 0;
  int known = 0;
  for (int y = margin; y < pair.height - margin; ++y) {
    for (int x = margin; x < pair.width - margin; ++x) {
      const float truth = pair.truth(x, y);
      if (x - truth < margin || x - truth >= pair.width - margin)
        continue;
      ++seen;
      const float d = result.disparity_px[static_cast<size_t>(y * pair.width + x)];
      if (std::isnan(d))
        continue;
      ++known;
      const double error = d - truth;
      errors.mean += error;
      errors.rms += error * error;
      errors.worst = std::max(errors.worst, std::abs(error));
    }
  }
  errors.known = static_cast<double>(known) / seen;
  errors.mean /= known;
  errors.rms = std::sqrt(errors.rms / known);
  return errors;
}

TEST(Stereo, FindsAWholeShiftAndItsDepth) {
  const TestPair pair = smoothPair(200, 80, [](double, double) { return 20.0; });
  const StereoParams p = paramsFor(pair);
  const StereoResult result = computeStereo(pair.left, pair.right, p);
  const Errors errors = errorsOf(pair, result, 6);
  EXPECT_GT(errors.known, 0.999);
  EXPECT_LT(errors.rms, 0.02);
  EXPECT_LT(errors.worst, 0.3);
  EXPECT_NEAR(result.depth_m[40 * 200 + 120], 600 * 0.1 / 20, 0.005);
}

TEST(Stereo, AppliesTheOffsetOfPrincipalPoints) {
  const TestPair pair = smoothPair(120, 40, [](double, double) { return 10.0; });
  StereoParams p = paramsFor(pair);
  p.doffs_px = 30;
  EXPECT_NEAR(computeStereo(pair.left, pair.right, p).depth_m[20 * 120 + 60], 60.0 / 40, 0.003);
  // The range starts below zero, and what lies at infinity or beyond has no depth.
  p.doffs_px = -10.5;
  p.min_disparity = -8;
  const StereoResult beyond = computeStereo(pair.left, pair.right, p);
  EXPECT_TRUE(std::isnan(beyond.depth_m[20 * 120 + 60]));
  EXPECT_TRUE(std::isnan(beyond.disparity_px[20 * 120 + 60]));
}

TEST(Stereo, FindsNegativeDisparities) {
  const TestPair pair = smoothPair(160, 60, [](double, double) { return -7.0; });
  StereoParams p = paramsFor(pair);
  p.min_disparity = -20;
  p.doffs_px = 100;
  const Errors errors = errorsOf(pair, computeStereo(pair.left, pair.right, p), 8);
  EXPECT_GT(errors.known, 0.999);
  EXPECT_LT(errors.rms, 0.02);
  EXPECT_LT(errors.worst, 0.3);
}

TEST(Stereo, FindsSubPixelShiftsWithoutLockingToWholePixels) {
  for (const double shift : {12.1, 12.25, 12.4, 12.5, 12.6, 12.75, 12.9}) {
    const TestPair pair = smoothPair(200, 80, [&](double, double) { return shift; });
    const Errors errors = errorsOf(pair, computeStereo(pair.left, pair.right, paramsFor(pair)), 8);
    EXPECT_GT(errors.known, 0.995) << shift;
    EXPECT_LT(std::abs(errors.mean), 0.01) << shift;
    EXPECT_LT(errors.rms, 0.03) << shift;
  }
}

TEST(Stereo, FollowsSlantedPlanesUnderNoise) {
  const struct {
    double across;
    double down;
  } slopes[] = {{0.1, 0}, {-0.1, 0}, {0, 0.12}, {0.2, 0.1}, {0.3, -0.1}};
  for (const auto& slope : slopes) {
    const TestPair pair = smoothPair(
        240, 120,
        [&](double x, double y) { return 30 + slope.across * (x - 120) + slope.down * (y - 60); },
        1.5);
    StereoParams p = paramsFor(pair);
    p.disparities = 96;
    p.min_disparity = -16;
    p.doffs_px = 100;
    const Errors errors = errorsOf(pair, computeStereo(pair.left, pair.right, p), 8);
    EXPECT_GT(errors.known, 0.98) << slope.across << " " << slope.down;
    EXPECT_LT(std::abs(errors.mean), 0.01) << slope.across << " " << slope.down;
    EXPECT_LT(errors.rms, 0.08) << slope.across << " " << slope.down;
  }
}

TEST(Stereo, IgnoresADifferenceOfBrightness) {
  TestPair pair = smoothPair(200, 80, [](double x, double) { return 15 + 0.05 * x; });
  for (auto& sample : pair.right)
    sample = sampleOf(sample * 0.95 + 14);
  const Errors errors = errorsOf(pair, computeStereo(pair.left, pair.right, paramsFor(pair)), 8);
  EXPECT_GT(errors.known, 0.98);
  EXPECT_LT(errors.rms, 0.06);
}

TEST(Stereo, KeepsTheEdgeOfANearSquareAndInventsNoDepthBetween) {
  const TestPair pair = squarePair(220, 120, 12, 30, 90, 40, 50);
  const StereoResult result = computeStereo(pair.left, pair.right, paramsFor(pair));
  int between = 0;
  int wrong = 0;
  for (int y = 8; y < 112; ++y) {
    for (int x = 45; x < 212; ++x) {
      const float d = result.disparity_px[static_cast<size_t>(y * 220 + x)];
      if (std::isnan(d))
        continue;
      between += d > 13.5f && d < 28.5f;
      // The wall's band of 18 columns left of the square is hidden from the right camera.
      const bool hidden = y >= 40 && y < 90 && x >= 72 && x < 90;
      wrong += !hidden && std::abs(d - pair.truth(x, y)) > 1;
    }
  }
  // Of some 700 pixels within three of the outline.
  EXPECT_LE(between, 4);
  // Less than one pixel along the square's outline.
  EXPECT_LT(wrong, 4 * 50);
}

TEST(Stereo, LeavesOccludedPixelsUnknownOrGivesThemTheBackground) {
  const TestPair pair = squarePair(220, 120, 12, 30, 90, 40, 50);
  StereoParams p = paramsFor(pair);
  p.fill_px = 0;
  const StereoResult bare = computeStereo(pair.left, pair.right, p);
  p.fill_px = 24;
  const StereoResult filled = computeStereo(pair.left, pair.right, p);
  EXPECT_EQ(bare.filled_fraction, 0);
  EXPECT_GT(filled.filled_fraction, 0);
  int unknown = 0;
  int background = 0;
  for (int y = 44; y < 86; ++y) {
    for (int x = 73; x < 88; ++x) {
      unknown += std::isnan(bare.disparity_px[static_cast<size_t>(y * 220 + x)]);
      background += std::abs(filled.disparity_px[static_cast<size_t>(y * 220 + x)] - 12) < 0.5f;
    }
  }
  const int all = 42 * 15;
  EXPECT_GT(unknown, all * 8 / 10);
  EXPECT_GT(background, all * 7 / 10);
}

TEST(Stereo, FindsNothingInUnrelatedImages) {
  const TestPair a = smoothPair(200, 100, [](double, double) { return 10.0; }, 0, 5);
  const TestPair b = smoothPair(200, 100, [](double, double) { return 10.0; }, 0, 99);
  StereoParams p = paramsFor(a);
  p.speckle_px = 100;
  EXPECT_LT(computeStereo(a.left, b.right, p).valid_fraction, 0.15);
}

TEST(Stereo, FindsNothingWithoutTexture) {
  const std::vector<uint8_t> flat(160 * 90, 127);
  StereoParams p;
  p.width = 160;
  p.height = 90;
  p.fx_px = 600;
  p.baseline_m = 0.1;
  p.disparities = 64;
  EXPECT_EQ(computeStereo(flat, flat, p).valid_fraction, 0);
}

TEST(Stereo, ReadsColourAsTheMeanOfItsChannels) {
  const TestPair pair = smoothPair(150, 60, [](double, double) { return 18.0; });
  const auto colour = [](const std::vector<uint8_t>& grey) {
    std::vector<uint8_t> rgb;
    for (const uint8_t value : grey)
      rgb.insert(rgb.end(), {value, value, value});
    return rgb;
  };
  StereoParams p = paramsFor(pair);
  const StereoResult grey = computeStereo(pair.left, pair.right, p);
  p.channels = 3;
  EXPECT_TRUE(sameBits(grey, computeStereo(colour(pair.left), colour(pair.right), p)));
}

TEST(Stereo, GivesTheSameBitsWithEveryInstructionSetAndThreadCount) {
  for (const int width : {203, 96, 33}) {
    const TestPair pair =
        smoothPair(width, 75, [](double x, double y) { return 20 + 0.1 * x - 0.07 * y; }, 2);
    StereoParams p = paramsFor(pair);
    p.simd = Simd::kPortable;
    const StereoResult expected = computeStereo(pair.left, pair.right, p);
    EXPECT_EQ(expected.model, "census-sgm-8path/portable");
    for (const Simd simd : {Simd::kPortable, Simd::kAuto}) {
      for (const int threads : {1, 2, 3, 7}) {
        p.simd = simd;
        p.threads = threads;
        EXPECT_TRUE(sameBits(expected, computeStereo(pair.left, pair.right, p)))
            << width << " " << threads;
      }
    }
  }
  if (avx2Kernels() == nullptr)
    GTEST_SKIP() << "this machine has no AVX2: only one build compared";
}

TEST(Stereo, TakesDegenerateSizes) {
  std::mt19937 random(3);
  for (const int width : {1, 2, 3, 7, 15, 16, 17, 31, 40}) {
    for (const int height : {1, 2, 5, 9}) {
      std::vector<uint8_t> left(static_cast<size_t>(width * height));
      std::vector<uint8_t> right(left.size());
      for (auto& sample : left)
        sample = static_cast<uint8_t>(random());
      for (auto& sample : right)
        sample = static_cast<uint8_t>(random());
      StereoParams p;
      p.width = width;
      p.height = height;
      p.fx_px = 500;
      p.baseline_m = 0.06;
      for (const int from : {0, 1 - width, width - 1}) {
        for (const int disparities : {1, 33, 512}) {
          for (const Simd simd : {Simd::kAuto, Simd::kPortable}) {
            p.min_disparity = from;
            p.disparities = disparities;
            p.threads = 1 + static_cast<int>(random() % 3);
            p.simd = simd;
            const StereoResult result = computeStereo(left, right, p);
            EXPECT_EQ(result.depth_m.size(), left.size());
          }
        }
      }
    }
  }
}

TEST(Stereo, NamesWhatIsWrongWithItsInput) {
  const TestPair pair = smoothPair(64, 32, [](double, double) { return 8.0; });
  const auto refused = [&](auto&& spoil) {
    StereoParams p = paramsFor(pair);
    spoil(p);
    const auto problem = checkParams(p);
    EXPECT_THROW(static_cast<void>(computeStereo(pair.left, pair.right, p)), std::invalid_argument);
    return problem.value_or("");
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refused([](auto& p) { p.width = 0; }).find("width is 0"), std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.height = 9000; }).find("8192"), std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.channels = 4; }).find("channels"), std::string::npos);
  EXPECT_NE(refused([&](auto& p) { p.fx_px = nan; }).find("fx_px"), std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.baseline_m = -0.1; }).find("baseline_m"), std::string::npos);
  EXPECT_NE(refused([&](auto& p) { p.doffs_px = nan; }).find("doffs_px"), std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.disparities = 513; }).find("disparities"), std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.min_disparity = 64; }).find("min_disparity"),
            std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.threads = 0; }).find("threads"), std::string::npos);
  EXPECT_NE(refused([&](auto& p) { p.uniqueness_percent = nan; }).find("uniqueness"),
            std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.left_right_max_px = 17; }).find("left_right"),
            std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.speckle_px = -1; }).find("speckle_px"), std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.fill_px = 65; }).find("fill_px"), std::string::npos);
  EXPECT_NE(refused([](auto& p) { p.width = p.height = 8192; }).find("1073741824"),
            std::string::npos);
  const std::vector<uint8_t> shorter(pair.left.begin(), pair.left.end() - 1);
  EXPECT_THROW(static_cast<void>(computeStereo(shorter, pair.right, paramsFor(pair))),
               std::invalid_argument);
}

}  // namespace
}  // namespace s2r::stereo
