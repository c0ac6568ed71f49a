// Vectors of the width that the including translation unit is compiled for. Included by
// kernels_impl.h alone, and like it with internal linkage throughout.
#pragma once

#include <cstdint>
#include <cstring>

#include "native/stereo/kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace s2r::stereo {
namespace {

#if defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kWords = kBytes / 2;
constexpr int kFloats = kBytes / 4;
static_assert(kDisparityBlock % kBytes == 0);

typedef uint8_t Bytes __attribute__((vector_size(kBytes)));
typedef uint8_t HalfBytes __attribute__((vector_size(kBytes / 2)));
typedef int16_t Words __attribute__((vector_size(kBytes)));
typedef float Floats __attribute__((vector_size(kBytes)));
typedef int32_t Ints __attribute__((vector_size(kBytes)));

template <typename V, typename T>
inline V load(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}

template <typename V, typename T>
inline void store(T* to, V value) {
  std::memcpy(to, &value, sizeof(V));
}

inline Bytes splatBytes(uint8_t value) {
  return Bytes{} + value;
}
inline Words splatWords(int16_t value) {
  return Words{} + value;
}
inline Floats splatFloats(float value) {
  return Floats{} + value;
}

template <typename V>
inline V least(V a, V b) {
  return a < b ? a : b;
}

template <typename V>
inline V most(V a, V b) {
  return a > b ? a : b;
}

inline uint8_t leastByte(Bytes value) {
#if defined(__AVX2__)
  __m128i v = _mm_min_epu8(_mm256_castsi256_si128((__m256i)value),
                           _mm256_extracti128_si256((__m256i)value, 1));
  v = _mm_min_epu8(v, _mm_srli_epi16(v, 8));
  return static_cast<uint8_t>(
      _mm_extract_epi16(_mm_minpos_epu16(_mm_and_si128(v, _mm_set1_epi16(255))), 0));
#else
  uint8_t bytes[kBytes];
  store(bytes, value);
  uint8_t best = bytes[0];
  for (int i = 1; i < kBytes; ++i)
    best = bytes[i] < best ? bytes[i] : best;
  return best;
#endif
}

inline int16_t leastWord(Words value) {
#if defined(__AVX2__)
  const __m128i v = _mm_min_epi16(_mm256_castsi256_si128((__m256i)value),
                                  _mm256_extracti128_si256((__m256i)value, 1));
  // Costs are never negative, so the unsigned minimum is the signed one.
  return static_cast<int16_t>(_mm_extract_epi16(_mm_minpos_epu16(v), 0));
#else
  int16_t words[kWords];
  store(words, value);
  int16_t best = words[0];
  for (int i = 1; i < kWords; ++i)
    best = words[i] < best ? words[i] : best;
  return best;
#endif
}

inline Words widenLow(Bytes value) {
  HalfBytes half;
  std::memcpy(&half, &value, sizeof(half));
  return __builtin_convertvector(half, Words);
}

inline Words widenHigh(Bytes value) {
  HalfBytes half;
  std::memcpy(&half, reinterpret_cast<const char*>(&value) + sizeof(half), sizeof(half));
  return __builtin_convertvector(half, Words);
}

inline Bytes bitCounts(Bytes value) {
#if defined(__AVX2__)
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                         1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i v = (__m256i)value;
  const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble));
  const __m256i high =
      _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
  return (Bytes)_mm256_add_epi8(low, high);
#else
  value = value - ((value >> 1) & splatBytes(0x55));
  value = (value & splatBytes(0x33)) + ((value >> 2) & splatBytes(0x33));
  return (value + (value >> 4)) & splatBytes(0x0f);
#endif
}

}  // namespace
}  // namespace s2r::stereo
