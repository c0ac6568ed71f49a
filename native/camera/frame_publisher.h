// Turns sets of planes into published frames: times in CLOCK_MONOTONIC, lost frames counted, mixed
// clocks and incomplete sets refused.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "native/camera/device_clock.h"
#include "native/camera/frame_slots.h"

namespace s2r::camera {

class FramePublisher {
 public:
  // Consecutive sets of mixed clocks after which the camera is given up.
  static constexpr int kMixedLimit = 30;

  // `memory` is called once, at the first complete set, with the layout that its planes need, and
  // returns the memory to write to.
  FramePublisher(std::vector<PlaneKind> wanted,
                 uint32_t slots,
                 double transport_s,
                 std::function<void*(const MemoryLayout&)> memory);

  // The frame's number, or 0 where the set was refused. Throws camera_clock after too many sets of
  // mixed clocks, camera_stream where images grew.
  uint64_t publish(const FrameSet& set);

  [[nodiscard]] const FrameHeader& last() const { return last_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }

 private:
  struct Track {
    explicit Track(double transport_s) : clock(transport_s) {}
    DeviceClock clock;
    FrameCounter counter;
    std::optional<uint64_t> number;
    double stamp_s = 0;
    DeviceClock::Reading reading;
  };
  [[nodiscard]] const RawPlane* find(const FrameSet& set, PlaneKind kind) const;
  void observe(const RawPlane& plane, double arrival_time_s);
  [[nodiscard]] bool acceptable(const FrameSet& set);

  std::vector<PlaneKind> wanted_;
  uint32_t slots_;
  std::function<void*(const MemoryLayout&)> memory_;
  std::optional<SlotWriter> writer_;
  std::vector<Track> tracks_;
  FrameHeader last_;
  bool restarted_ = false;  // since the last published frame
  uint64_t restarts_ = 0;
  uint64_t refused_ = 0;
  int mixed_ = 0;
};

}  // namespace s2r::camera
