// Wait for and wake on a 32-bit word: a wake-up that a real-time thread may give without a lock.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "native/arm/link/clock.h"

namespace s2r::arm {

class Signal {
 public:
  [[nodiscard]] std::uint32_t count() const { return word_.load(std::memory_order_acquire); }

  void notify() noexcept {
    word_.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, word(), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
  }

  // Returns once the count differs from `seen` or `timeout_s` has passed.
  void waitChange(std::uint32_t seen, double timeout_s) noexcept {
    const Deadline deadline = Deadline::in(timeout_s);
    while (count() == seen && !deadline.passed()) {
      const timespec left = toTimespec(static_cast<std::int64_t>(deadline.leftS() * 1e9));
      syscall(SYS_futex, word(), FUTEX_WAIT_PRIVATE, seen, &left, nullptr, 0);
    }
  }

 private:
  std::uint32_t* word() { return reinterpret_cast<std::uint32_t*>(&word_); }
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace s2r::arm
