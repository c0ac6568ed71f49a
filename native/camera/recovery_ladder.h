// Which step comes next when frames stop: restart the streams, reset the hardware, wait until the
// device is back on the bus, give up.
#pragma once

namespace s2r::camera {

enum class RecoveryStep { kRestart, kHardwareReset, kWaitForDevice, kGiveUp };

class RecoveryLadder {
 public:
  static constexpr int kRestarts = 2;
  static constexpr int kWaits = 2;
  // So many frames in a row make a recovery complete; the ladder begins anew after them.
  static constexpr int kSteadyFrames = 30;

  explicit RecoveryLadder(bool may_reset) : may_reset_(may_reset) {}

  // The step for a stall, given whether the device is still there.
  [[nodiscard]] RecoveryStep next(bool present) {
    steady_ = 0;
    if (!present)
      return waits_++ < kWaits ? RecoveryStep::kWaitForDevice : RecoveryStep::kGiveUp;
    if (restarts_ < kRestarts) {
      ++restarts_;
      return RecoveryStep::kRestart;
    }
    if (may_reset_ && !reset_) {
      reset_ = true;
      return RecoveryStep::kHardwareReset;
    }
    return RecoveryStep::kGiveUp;
  }

  // A frame came.
  void frame() {
    if (++steady_ < kSteadyFrames)
      return;
    restarts_ = 0;
    waits_ = 0;
    reset_ = false;
  }

  // Pause before the streams are started again, seconds; longer each time.
  [[nodiscard]] double pause() const { return 0.1 * (1 << restarts_); }

 private:
  bool may_reset_;
  bool reset_ = false;
  int restarts_ = 0;
  int waits_ = 0;
  int steady_ = 0;
};

}  // namespace s2r::camera
