// Big-endian numbers of the controller's protocols.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace s2r::ur {

// Bytes of one number in the other order (all machines this runs on are little-endian).
static_assert(std::endian::native == std::endian::little);

inline void appendSwapped(std::string& out, const void* number, std::size_t size) {
  const auto* bytes = static_cast<const char*>(number);
  for (std::size_t i = size; i-- > 0;) {
    out.push_back(bytes[i]);
  }
}

template <typename T>
void put(std::string& out, T value) {
  static_assert(std::is_arithmetic_v<T>);
  appendSwapped(out, &value, sizeof(T));
}

template <typename T>
[[nodiscard]] T take(std::string_view bytes, std::size_t offset) {
  static_assert(std::is_arithmetic_v<T>);
  char swapped[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    swapped[i] = bytes[offset + sizeof(T) - 1 - i];
  }
  T value;
  std::memcpy(&value, swapped, sizeof(T));
  return value;
}

}  // namespace s2r::ur
