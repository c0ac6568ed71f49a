// A bounded queue from one thread to one other; neither side waits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace s2r::arm {

template <typename T, std::size_t N>
class SpscRing {
  static_assert((N & (N - 1)) == 0, "a power of two");

 public:
  // False, and nothing is done, where the ring is full.
  bool push(const T& value) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == N) {
      return false;
    }
    slots_[head & (N - 1)] = value;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  bool pop(T& value) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) {
      return false;
    }
    value = slots_[tail & (N - 1)];
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
  std::array<T, N> slots_{};
};

}  // namespace s2r::arm
