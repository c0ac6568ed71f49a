#include "native/stereo/stereo_matcher.h"

#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "native/stereo/filters.h"
#include "native/stereo/images.h"
#include "native/stereo/kernels.h"
#include "native/stereo/path_sums.h"
#include "native/stereo/refine.h"

namespace s2r::stereo {
namespace {

// Step of disparity between neighbours of one region, for the speckle filter.
constexpr float kRegionStep = 1.0f;

std::string quoted(const char* name, double value, const char* rule) {
  std::string text = std::string(name) + " is " + std::to_string(value);
  return text + ", but must be " + rule;
}

int roundUp(int disparities) {
  return (disparities + kDisparityBlock - 1) / kDisparityBlock * kDisparityBlock;
}

void median(const Kernels& kernels, FloatMap& map, FloatMap& spare, int threads) {
  inParts(threads, map.height(), [&](int first, int last) {
    for (int y = first; y < last; ++y) {
      kernels.medianRow(map.row(y - 1), map.row(y), map.row(y + 1), map.width(), spare.row(y));
    }
  });
  std::swap(map, spare);
}

void convert(const FloatMap& map, const StereoParams& p, StereoResult& result) {
  const size_t pixels = static_cast<size_t>(p.width) * static_cast<size_t>(p.height);
  result.depth_m.resize(pixels);
  result.disparity_px.resize(pixels);
  size_t known = 0;
  for (int y = 0; y < p.height; ++y) {
    const float* row = map.row(y);
    for (int x = 0; x < p.width; ++x) {
      const size_t i =
          static_cast<size_t>(y) * static_cast<size_t>(p.width) + static_cast<size_t>(x);
      // At or beyond infinity there is no depth; false for an unknown disparity too.
      const double shift = static_cast<double>(row[x]) + p.doffs_px;
      const bool ok = shift > 0;
      result.disparity_px[i] = ok ? row[x] : kUnknown;
      result.depth_m[i] = ok ? static_cast<float>(p.fx_px * p.baseline_m / shift) : kUnknown;
      known += ok ? 1 : 0;
    }
  }
  result.valid_fraction = static_cast<double>(known) / static_cast<double>(pixels);
}

}  // namespace

std::optional<std::string> checkParams(const StereoParams& p) {
  const auto side = [](int value) { return value >= 1 && value <= kMaxSide; };
  if (!side(p.width))
    return quoted("width", p.width, "1..8192 pixels: halve or crop the images");
  if (!side(p.height))
    return quoted("height", p.height, "1..8192 pixels: halve or crop the images");
  if (p.channels != 1 && p.channels != 3)
    return quoted("channels", p.channels, "1 (grey) or 3 (RGB)");
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (!positive(p.fx_px))
    return quoted("fx_px", p.fx_px, "finite and positive: calibrate the pair");
  if (!positive(p.baseline_m)) {
    return quoted("baseline_m", p.baseline_m, "finite and positive: calibrate the pair");
  }
  if (!std::isfinite(p.doffs_px))
    return quoted("doffs_px", p.doffs_px, "finite");
  if (p.disparities < 1 || p.disparities > kMaxDisparities) {
    return quoted("disparities", p.disparities, "1..512: raise near_m or halve the images");
  }
  if (p.min_disparity >= p.width || p.min_disparity <= -p.width) {
    return quoted("min_disparity", p.min_disparity,
                  "smaller than the image's width: move near_m and far_m");
  }
  const int64_t volume = int64_t{p.width} * p.height * roundUp(p.disparities);
  if (volume > kMaxVolume) {
    return quoted("width * height * disparities", static_cast<double>(volume),
                  "at most 1073741824: raise near_m, lower far_m, or halve the images");
  }
  if (p.threads < 1 || p.threads > kMaxThreads)
    return quoted("threads", p.threads, "1..16");
  if (!(p.uniqueness_percent >= 0 && p.uniqueness_percent <= 50)) {
    return quoted("uniqueness_percent", p.uniqueness_percent, "0..50");
  }
  if (p.left_right_max_px < 0 || p.left_right_max_px > 16) {
    return quoted("left_right_max_px", p.left_right_max_px, "0..16");
  }
  if (p.speckle_px < 0)
    return quoted("speckle_px", p.speckle_px, "0 or more");
  if (p.fill_px < 0 || p.fill_px > 64)
    return quoted("fill_px", p.fill_px, "0..64");
  if (p.simd == Simd::kAvx2 && avx2Kernels() == nullptr) {
    return "simd is avx2, which this machine or build lacks: use auto or portable";
  }
  return std::nullopt;
}

StereoResult computeStereo(std::span<const uint8_t> left,
                           std::span<const uint8_t> right,
                           const StereoParams& params) {
  if (const auto problem = checkParams(params))
    throw std::invalid_argument(*problem);
  const size_t expected = static_cast<size_t>(params.width) * static_cast<size_t>(params.height) *
                          static_cast<size_t>(params.channels);
  if (left.size() != expected || right.size() != expected) {
    throw std::invalid_argument("the images have " + std::to_string(left.size()) + " and " +
                                std::to_string(right.size()) +
                                " samples, but the size given needs " + std::to_string(expected));
  }
  const Kernels* wide = params.simd == Simd::kPortable ? nullptr : avx2Kernels();
  const Kernels& kernels = wide != nullptr ? *wide : portableKernels();
  const int threads = params.threads;

  const GreyImage left_grey(left, params.width, params.height, params.channels, threads);
  const GreyImage right_grey(right, params.width, params.height, params.channels, threads);
  FloatMap map(params.width, params.height, kUnknown);
  matchPaths({kernels, left_grey.view(), right_grey.view(), params.width, params.height,
              params.min_disparity, roundUp(params.disparities), threads,
              1000 + static_cast<int>(std::lround(10 * params.uniqueness_percent)),
              params.left_right_max_px},
             map);
  dropSpeckles(map, params.speckle_px, kRegionStep);
  FloatMap spare(params.width, params.height, kUnknown);
  median(kernels, map, spare, threads);
  const FloatMap error = refine(kernels, left_grey.view(), right_grey.view(), map, spare, threads);
  trimRims(map, error);
  const int64_t filled = fillRuns(spare, map, params.fill_px);

  StereoResult result;
  convert(spare, params, result);
  result.filled_fraction =
      static_cast<double>(filled) / (static_cast<double>(params.width) * params.height);
  result.model = std::string("census-sgm-8path/") + kernels.name;
  return result;
}

}  // namespace s2r::stereo
