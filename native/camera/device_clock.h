// When a frame was exposed, in CLOCK_MONOTONIC, from the stamp that the device gave it.
//
//   hardware_clock, global_time  The stamp's clock runs beside ours with an unknown offset and a
//   drift of some
//                  tens of ppm. arrival - stamp is that offset plus the transport's delay, never
//                  less than its shortest; so the offset is the least difference of the last 10 to
//                  20 s, less transport_s, the shortest transport known of the model.
//   system_time    The stamp is the host's wall clock at arrival: carried over by the difference of
//   both
//                  clocks, read now; less transport_s.
//   monotonic      Taken as it is.
//
// uncertainty_s bounds how much earlier than said the exposure may have been. A time from the
// future is clamped to the arrival. 32-bit microsecond counters are unwrapped. Stamps that do not
// advance are refused; after kRestartAfter of them in a row the device is taken to have restarted,
// and the map begins anew.
#pragma once

#include <cstdint>
#include <limits>

#include "native/camera/types.h"

namespace s2r::camera {

class DeviceClock {
 public:
  static constexpr int kRestartAfter = 5;
  static constexpr double kWindowS = 10.0;
  static constexpr double kWrapS = 4294.967296;  // 2^32 microseconds

  struct Reading {
    bool ok = false;             // false: the stamp did not advance; the frame is not newer
    double middle_time_s = 0;    // middle of the exposure, CLOCK_MONOTONIC
    double earliest_time_s = 0;  // it began no earlier than this
    double uncertainty_s = 0;
    bool clamped = false;    // was in the future
    bool restarted = false;  // the map began anew at this frame
  };

  explicit DeviceClock(double transport_s) : transport_s_(transport_s) {}

  void reset();

  // wall_minus_monotonic_s: difference of the host's two clocks, read now (system_time only).
  [[nodiscard]] Reading read(const RawPlane& plane,
                             double arrival_time_s,
                             double wall_minus_monotonic_s);

  [[nodiscard]] uint64_t regressions() const { return regressions_; }
  [[nodiscard]] uint64_t wraps() const { return wraps_; }
  [[nodiscard]] uint64_t domainChanges() const { return domain_changes_; }

 private:
  [[nodiscard]] double unwrap(double stamp_s);
  void observeOffset(double difference_s, double arrival_time_s);

  double transport_s_;
  bool started_ = false;
  Domain domain_ = Domain::kHardwareClock;
  double last_raw_s_ = 0;
  double wrapped_s_ = 0;
  double last_middle_s_ = -std::numeric_limits<double>::infinity();
  // Least difference of the window before and of the one that is being filled.
  double previous_offset_s_ = std::numeric_limits<double>::infinity();
  double current_offset_s_ = std::numeric_limits<double>::infinity();
  double window_began_s_ = 0;
  int stuck_ = 0;
  uint64_t regressions_ = 0;
  uint64_t wraps_ = 0;
  uint64_t domain_changes_ = 0;
};

// Frames lost between two: numbers that were skipped. A number that falls is a restart, not a loss.
class FrameCounter {
 public:
  // Returns how many were lost before this one.
  uint64_t next(uint64_t number);
  void reset() { started_ = false; }
  [[nodiscard]] uint64_t lost() const { return lost_; }

 private:
  bool started_ = false;
  uint64_t last_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace s2r::camera
