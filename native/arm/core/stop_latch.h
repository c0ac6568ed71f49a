// The latched stop: epochs, faults, the token that clears a fault, recovery of protective stops.
#pragma once

#include "native/arm/core/faults.h"

namespace s2r::arm {

class StopLatch {
 public:
  explicit StopLatch(const CoreConfig& config);

  // `times` ordinary stops: a new epoch for each, also when something is latched already.
  void stop(StopSource source, const FixedText<96>& reason, uint64_t times = 1) noexcept;
  // Call once when a fault appears, not in each cycle that it lasts. Latches it where none is
  // latched or a milder one is: a new epoch, and any token is void. False: nothing new.
  bool fault(const FaultDetail& detail) noexcept;

  // A person asks to clear the fault; a protective stop must have lasted the lock-out and is
  // counted.
  [[nodiscard]] RecoverAnswer recover(uint64_t token, double now_s) noexcept;
  // `cause`: what is wrong right now (kNone: nothing).
  [[nodiscard]] ResumeAnswer resume(uint64_t epoch,
                                    uint64_t token,
                                    bool at_rest,
                                    FaultCode cause) noexcept;

  [[nodiscard]] bool latched() const noexcept { return latched_; }
  [[nodiscard]] bool hasFault() const noexcept { return fault_.code != FaultCode::kNone; }
  [[nodiscard]] uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] const FaultDetail& faultDetail() const noexcept { return fault_; }
  [[nodiscard]] StopSource source() const noexcept { return source_; }
  [[nodiscard]] const FixedText<96>& reason() const noexcept { return reason_; }

 private:
  const double lock_out_s_, window_s_;
  const size_t limit_;
  bool latched_ = false;
  uint64_t epoch_;
  StopSource source_ = StopSource::kRequest;
  FixedText<96> reason_;
  FaultDetail fault_;
  uint64_t token_ = 0;  // 0: none is valid
  // A protective stop may hide behind an emergency stop that came later: its lock-out and count
  // stay.
  bool protective_ = false;
  double protective_since_s_ = 0;
  uint32_t recoveries_ = 0;
  static constexpr size_t kMostRecoveries = 16;
  std::array<double, kMostRecoveries> recovered_at_s_{};
};

}  // namespace s2r::arm
