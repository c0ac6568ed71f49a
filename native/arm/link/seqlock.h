// The newest value of a plain struct, written by one thread that never waits, read by any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace s2r::arm {

template <typename T>
class Seqlock {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;

 public:
  void store(const T& value) noexcept {
    std::array<std::uint64_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof(T));
    const std::uint32_t sequence = sequence_.load(std::memory_order_relaxed);
    sequence_.store(sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < kWords; ++i) {
      words_[i].store(words[i], std::memory_order_relaxed);
    }
    sequence_.store(sequence + 2, std::memory_order_release);
  }

  // False where the writer overtook every attempt (it then is far ahead: take it next time).
  [[nodiscard]] bool load(T& value) const noexcept {
    std::array<std::uint64_t, kWords> words{};
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const std::uint32_t before = sequence_.load(std::memory_order_acquire);
      if ((before & 1) != 0) {
        continue;
      }
      for (std::size_t i = 0; i < kWords; ++i) {
        words[i] = words_[i].load(std::memory_order_relaxed);
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      if (sequence_.load(std::memory_order_relaxed) == before) {
        std::memcpy(static_cast<void*>(&value), words.data(), sizeof(T));
        return true;
      }
    }
    return false;
  }

  // Rises by 2 with each store.
  [[nodiscard]] std::uint32_t sequence() const { return sequence_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint32_t> sequence_{0};
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};

}  // namespace s2r::arm
