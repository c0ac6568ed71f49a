// Whoever else must stop with the arm (a gripper's driver), told by the loop itself through an
// eventfd of theirs: no other thread, and no JavaScript, stands between.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

namespace s2r::arm {

class StopSignals {
 public:
  StopSignals() = default;
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Keeps a duplicate of `descriptor`, so that its owner may close it at any time. Gives what is
  // wrong with it; empty: nothing. One thread at a time.
  [[nodiscard]] std::string add(int descriptor);
  // Never waits: for the loop.
  void notify() const noexcept;

 private:
  static constexpr std::size_t kMost = 8;
  std::array<int, kMost> descriptors_{};
  std::atomic<std::size_t> count_{0};
};

}  // namespace s2r::arm
