// One question to the real-time thread and its answer, without a lock on that side.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "native/arm/link/futex.h"

namespace s2r::arm {

// Callers take turns. The real-time thread answers in the cycle in which it takes the question.
template <typename Request, typename Answer>
class RequestSlot {
 public:
  // nullopt: not taken in time and withdrawn, so that it can no longer happen; or taken and then
  // never answered.
  std::optional<Answer> ask(const Request& request, double timeout_s) {
    const std::lock_guard lock(mutex_);
    request_ = request;
    state_.store(kPosted, std::memory_order_release);
    const Deadline deadline = Deadline::in(timeout_s);
    for (;;) {
      const std::uint32_t seen = answered_.count();
      if (state_.load(std::memory_order_acquire) == kAnswered) {
        state_.store(kEmpty, std::memory_order_relaxed);
        return answer_;
      }
      if (deadline.passed()) {
        // Whoever is the first to move the state on decides whether the question was asked.
        int expected = kPosted;
        if (state_.compare_exchange_strong(expected, kEmpty) || expected == kTaken) {
          return std::nullopt;
        }
        continue;
      }
      answered_.waitChange(seen, deadline.leftS());
    }
  }

  // Real-time side: the question, if there is one; then answer() in the same cycle.
  bool take(Request& request) noexcept {
    int expected = kPosted;
    if (!state_.compare_exchange_strong(expected, kTaken, std::memory_order_acq_rel)) {
      return false;
    }
    request = request_;
    return true;
  }

  void answer(const Answer& answer) noexcept {
    answer_ = answer;
    state_.store(kAnswered, std::memory_order_release);
    answered_.notify();
  }

 private:
  enum : int { kEmpty, kPosted, kTaken, kAnswered };
  std::mutex mutex_;
  std::atomic<int> state_{kEmpty};
  Signal answered_;
  Request request_{};
  Answer answer_{};
};

}  // namespace s2r::arm
