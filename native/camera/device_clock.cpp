#include "native/camera/device_clock.h"

#include <algorithm>
#include <cmath>

namespace s2r::camera {

namespace {
// Two exposures of one stream are further apart than this.
constexpr double kLeastAdvanceS = 1e-6;
// A frame without metadata was exposed for an unknown time; cameras at 30 Hz expose for at most a
// period.
constexpr double kUnknownExposureS = 0.033;
}  // namespace

void DeviceClock::reset() {
  started_ = false;
  wrapped_s_ = 0;
  previous_offset_s_ = current_offset_s_ = std::numeric_limits<double>::infinity();
  stuck_ = 0;
}

double DeviceClock::unwrap(double stamp_s) {
  // Only a counter that stays below 2^32 us wraps; a fall of more than half its range is a wrap.
  if (domain_ == Domain::kHardwareClock && started_ && last_raw_s_ < kWrapS &&
      last_raw_s_ - stamp_s > kWrapS / 2) {
    wrapped_s_ += kWrapS;
    ++wraps_;
  }
  return stamp_s + wrapped_s_;
}

void DeviceClock::observeOffset(double difference_s, double arrival_time_s) {
  if (!std::isfinite(current_offset_s_)) {
    window_began_s_ = arrival_time_s;
  } else if (arrival_time_s - window_began_s_ > kWindowS) {
    previous_offset_s_ = current_offset_s_;
    current_offset_s_ = std::numeric_limits<double>::infinity();
    window_began_s_ = arrival_time_s;
  }
  current_offset_s_ = std::min(current_offset_s_, difference_s);
}

DeviceClock::Reading DeviceClock::read(const RawPlane& plane,
                                       double arrival_time_s,
                                       double wall_minus_monotonic_s) {
  Reading out;
  if (!std::isfinite(plane.stamp_s))
    return out;
  if (started_ && plane.domain != domain_) {
    ++domain_changes_;
    reset();
  }
  out.restarted = !started_;
  domain_ = plane.domain;

  const double wrapped_before = wrapped_s_;
  double stamp = unwrap(plane.stamp_s);
  if (started_ && stamp - (last_raw_s_ + wrapped_before) < kLeastAdvanceS) {
    ++regressions_;
    if (++stuck_ < kRestartAfter)
      return out;
    reset();
    out.restarted = true;
    stamp = plane.stamp_s;
  }
  stuck_ = 0;
  started_ = true;
  last_raw_s_ = plane.stamp_s;

  const double duration = plane.exposure_duration_s.value_or(kUnknownExposureS);
  const double before_middle = plane.stamp_minus_middle_s.value_or(0);
  double stamp_time = stamp;
  if (domain_ == Domain::kSystemTime) {
    stamp_time = stamp - wall_minus_monotonic_s - transport_s_;
  } else if (domain_ != Domain::kMonotonic) {
    observeOffset(arrival_time_s - stamp, arrival_time_s);
    stamp_time = stamp + std::min(previous_offset_s_, current_offset_s_) - transport_s_;
  }
  out.middle_time_s = stamp_time - before_middle;
  if (out.middle_time_s > arrival_time_s) {
    out.middle_time_s = arrival_time_s;
    out.clamped = true;
  }
  // A better offset moves the map back; frames still come one after another.
  if (!out.restarted)
    out.middle_time_s = std::max(out.middle_time_s, last_middle_s_ + kLeastAdvanceS);
  last_middle_s_ = out.middle_time_s;
  const bool exact = domain_ == Domain::kMonotonic;
  out.uncertainty_s = exact ? 0 : transport_s_;
  const double half = exact && !plane.exposure_duration_s ? 0 : duration / 2;
  out.earliest_time_s = out.middle_time_s - half - out.uncertainty_s;
  out.ok = true;
  return out;
}

uint64_t FrameCounter::next(uint64_t number) {
  uint64_t lost = 0;
  if (started_ && number > last_ + 1)
    lost = number - last_ - 1;
  started_ = true;
  last_ = number;
  lost_ += lost;
  return lost;
}

}  // namespace s2r::camera
