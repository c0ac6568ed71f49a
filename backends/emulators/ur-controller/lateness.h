// How late the cycle's thread woke, as a histogram in microseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace s2r::ur {

class Lateness {
 public:
  void add(double late_s) {
    const auto us = static_cast<std::size_t>(std::max(0.0, late_s * 1e6));
    ++bins_[std::min(us / kBinUs, kBins - 1)];
    max_s_ = std::max(max_s_, late_s);
    ++count_;
    over_cycle_ += late_s > 0.002;
  }
  void clear() { *this = Lateness(); }
  // Upper edge of the bin that holds the share; 0 when nothing was added.
  [[nodiscard]] double quantileS(double share) const {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
      below += bins_[i];
      if (count_ > 0 && static_cast<double>(below) >= share * static_cast<double>(count_)) {
        return i + 1 == kBins ? max_s_ : static_cast<double>((i + 1) * kBinUs) * 1e-6;
      }
    }
    return 0;
  }
  [[nodiscard]] double maxS() const { return max_s_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t overCycle() const { return over_cycle_; }

 private:
  static constexpr std::size_t kBinUs = 5, kBins = 4000;  // up to 20 ms
  std::array<std::uint64_t, kBins> bins_{};
  double max_s_ = 0;
  std::uint64_t count_ = 0, over_cycle_ = 0;
};

}  // namespace s2r::ur
