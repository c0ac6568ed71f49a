#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "native/scene/types.h"

namespace s2r::scene::test {

/// One labelled RGB-D tabletop scene: organised cloud turned into a depth image.
struct LabelledScene {
  int width = 0;
  int height = 0;
  std::vector<float> depth_m;
  std::vector<uint8_t> rgb;
  std::vector<uint32_t> label;  ///< 0 none, 1-9 table, label / 10 is the object.
  Intrinsics intrinsics;

  [[nodiscard]] View view() const;
};

/// Reads an organised `binary_compressed` PCD (LZF) with the fields label x y z rgba.
/// Throws std::runtime_error that names the file and what is wrong with it.
[[nodiscard]] LabelledScene readLabelledPcd(const std::string& path);

/// Decompresses LZF data of known size; throws std::runtime_error for a malformed stream.
[[nodiscard]] std::vector<uint8_t> decompressLzf(const std::vector<uint8_t>& packed, size_t size);

}  // namespace s2r::scene::test
