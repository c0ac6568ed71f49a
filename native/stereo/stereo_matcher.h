// Metric depth from a rectified stereo pair: census cost, semi-global matching over eight paths
// (Hirschmueller 2008), left-right check, sub-pixel refinement on the images, filters, filling of
// narrow gaps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace s2r::stereo {

inline constexpr int kMaxSide = 8192;
inline constexpr int kMaxDisparities = 512;
inline constexpr int kMaxThreads = 16;
// width * height * disparities, the bytes of the one volume that a call holds.
inline constexpr int64_t kMaxVolume = int64_t{1} << 30;

enum class Simd { kAuto, kPortable, kAvx2 };

struct StereoParams {
  int width = 0;
  int height = 0;
  int channels = 1;  // 1 grey or 3 R G B, interleaved
  double fx_px = 0;
  double baseline_m = 0;
  double doffs_px = 0;  // Z = fx B / (d + doffs)
  int min_disparity = 0;
  int disparities = 128;  // searched; rounded up to whole blocks of 32
  int threads = 1;
  Simd simd = Simd::kAuto;
  double uniqueness_percent = 2;
  int left_right_max_px = 1;
  int speckle_px = 100;
  int fill_px = 16;
};

struct StereoResult {
  std::vector<float> depth_m;       // height * width, NaN unknown
  std::vector<float> disparity_px;  // same
  double valid_fraction = 0;
  double filled_fraction = 0;
  std::string model;
};

// Says what is wrong with the parameters, its limit and the mend; nothing where they can be
// searched.
[[nodiscard]] std::optional<std::string> checkParams(const StereoParams& params);

// Throws std::invalid_argument with checkParams's words, or where an image's size is not
// width * height * channels; std::bad_alloc where memory is short.
[[nodiscard]] StereoResult computeStereo(std::span<const uint8_t> left,
                                         std::span<const uint8_t> right,
                                         const StereoParams& params);

}  // namespace s2r::stereo
