// Big-endian fields of the controller's protocols. The caller has checked that they are inside.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace s2r::arm {

[[nodiscard]] inline std::uint16_t readU16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>(at[0] << 8 | at[1]);
}

[[nodiscard]] inline std::uint32_t readU32(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
         std::uint32_t{at[3]};
}

[[nodiscard]] inline double readF64(const std::uint8_t* at) {
  return std::bit_cast<double>(std::uint64_t{readU32(at)} << 32 | readU32(at + 4));
}

inline void writeF64(std::uint8_t* at, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int i = 0; i < 8; ++i) {
    at[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  }
}

}  // namespace s2r::arm
