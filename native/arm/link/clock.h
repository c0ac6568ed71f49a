// CLOCK_MONOTONIC, the clock of every time that the arm publishes.
#pragma once

#include <time.h>

#include <cstdint>

namespace s2r::arm {

inline constexpr std::int64_t kNsPerS = 1'000'000'000;

[[nodiscard]] inline std::int64_t monotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

[[nodiscard]] inline double monotonicS() {
  return static_cast<double>(monotonicNs()) * 1e-9;
}

inline timespec toTimespec(std::int64_t ns) {
  return {static_cast<time_t>(ns / kNsPerS), static_cast<long>(ns % kNsPerS)};
}

// A point of time by which something must have happened.
class Deadline {
 public:
  static Deadline in(double seconds) {
    return Deadline(monotonicNs() + static_cast<std::int64_t>(seconds * 1e9));
  }
  [[nodiscard]] bool passed() const { return monotonicNs() >= at_ns_; }
  [[nodiscard]] double leftS() const {
    const std::int64_t left = at_ns_ - monotonicNs();
    return left > 0 ? static_cast<double>(left) * 1e-9 : 0;
  }
  // Rounded up, so that poll() does not spin through the last millisecond.
  [[nodiscard]] int leftMs() const {
    const std::int64_t left = at_ns_ - monotonicNs();
    return left > 0 ? static_cast<int>((left + 999'999) / 1'000'000) : 0;
  }

 private:
  explicit Deadline(std::int64_t at_ns) : at_ns_(at_ns) {}
  std::int64_t at_ns_;
};

}  // namespace s2r::arm
