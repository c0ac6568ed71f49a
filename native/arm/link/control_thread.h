// The thread that owns a Control, so that nobody else is ever held up by it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "native/arm/link/control.h"
#include "native/arm/link/error.h"
#include "native/arm/link/futex.h"
#include "native/arm/link/seqlock.h"

namespace s2r::arm {

// Every wait for this thread has a deadline. A thread that does not come back is abandoned: it
// keeps what it needs (a knowing leak, told by close and arm_stuck), and ends itself if it ever
// returns.
class ControlThread {
 public:
  // `fifo_priority` 0: the ordinary scheduler. The threads that ur_rtde makes inherit it.
  // Throws ArmError: what the factory threw, or arm_stuck where it had not come back by
  // `timeout_s`.
  static std::unique_ptr<ControlThread> open(ControlFactory factory,
                                             double timeout_s,
                                             int fifo_priority);
  ~ControlThread();
  ControlThread(const ControlThread&) = delete;
  ControlThread& operator=(const ControlThread&) = delete;

  // Runs `work` on the thread; throws what it threw, or arm_stuck.
  void call(const char* what, double timeout_s, std::function<void(Control&)> work);

  // Real-time side: hands over a setpoint, never waits. An older one not yet sent is dropped.
  void postSetpoint(const Joints& q_rad, std::int64_t now_ns) noexcept;
  // As postSetpoint, where there is nothing to say but that we are alive.
  void postKick(std::int64_t now_ns) noexcept;

  struct Health {
    std::uint64_t posted = 0;
    std::uint64_t sent = 0;             // that the control took
    std::uint64_t refused = 0;          // that it did not take, or threw
    std::uint64_t replaced = 0;         // never sent, because a newer one came first
    std::int64_t busy_since_ns = 0;     // 0: idle
    std::int64_t oldest_unsent_ns = 0;  // 0: none waits
  };
  [[nodiscard]] Health health() const noexcept;
  void setServo(const ServoSettings& settings);
  // Cost of servo calls: count by 1 us up to 1023, the last cell holds all above.
  void costHistogram(std::array<std::uint32_t, 1024>& counts) const noexcept;
  // True: some call has not come back for `seconds`.
  [[nodiscard]] bool stuckFor(double seconds) const noexcept;

  // Ends the thread; false where it had to be abandoned.
  bool close(double timeout_s) noexcept;

  struct Shared;

 private:
  explicit ControlThread(std::shared_ptr<Shared> shared);
  std::shared_ptr<Shared> shared_;
  bool closed_ = false;
};

}  // namespace s2r::arm
