// Jerk-limited following of a moving reference, one joint at a time.
//
// The state (position, velocity, acceleration) only ever changes by a jerk of at most the limit
// over a period, so what is streamed keeps velocity, acceleration and jerk limits whatever the
// reference does. Two laws choose the step:
//  * near the reference a linear law with feed-forward (three equal poles), taken where its step
//  keeps every limit;
//  * otherwise Ruckig's time-optimal profile, computed in a frame that moves with the reference's
//  present velocity (its
//    velocity limits shift by that velocity, acceleration and jerk limits do not), of which the
//    first period is taken.
#pragma once

#include <ruckig/ruckig.hpp>

#include "native/arm/core/config.h"

namespace s2r::arm {

struct AxisState {
  double p = 0, v = 0, a = 0;
};
struct AxisLimits {
  double v = 0, a = 0, j = 0;
};

// Where the reference is now, and its jerk over the coming period.
struct AxisReference {
  double p = 0, v = 0, a = 0, j = 0;
};

// One profile calculation at a time; holds the calculator's memory.
class AxisTracker {
 public:
  // Follows the reference for one period; one that does not move is reached by profiles alone,
  // which land on it. False: the plain braking rule was needed.
  bool follow(const AxisReference& reference,
              const AxisLimits& limits,
              bool moves,
              AxisState& state) noexcept;
  // Brakes to rest for one period. False: as above.
  bool brake(const AxisLimits& limits, AxisState& state) noexcept;

 private:
  bool first(ruckig::ControlInterface interface, AxisState& state) noexcept;
  ruckig::InputParameter<1> input_;
  ruckig::Trajectory<1> profile_;
  ruckig::TargetCalculator<1> calculator_;
};

// One period with constant jerk.
[[nodiscard]] AxisState advance(const AxisState& state, double jerk, double dt_s) noexcept;
// True where the state can still be brought to zero acceleration within the velocity limit.
[[nodiscard]] bool isRecoverable(const AxisState& state, const AxisLimits& limits) noexcept;

// The arm's six trackers with their limits (a thousandth inside the configured ones, for rounding).
class JointTracker {
 public:
  explicit JointTracker(const CoreConfig& config);

  void rest(const Joints& q_rad) noexcept;  // state := at rest there
  void follow(const std::array<AxisReference, kJoints>& reference) noexcept;
  void approach(const Joints& target_rad) noexcept;
  void brake() noexcept;
  void restore(const std::array<AxisState, kJoints>& state) noexcept { state_ = state; }

  [[nodiscard]] bool atRest() const noexcept;
  [[nodiscard]] const std::array<AxisState, kJoints>& state() const noexcept { return state_; }
  [[nodiscard]] const std::array<AxisLimits, kJoints>& limits() const noexcept { return limits_; }
  [[nodiscard]] Joints position() const noexcept;
  [[nodiscard]] uint64_t fallbacks() const noexcept { return fallbacks_; }

 private:
  std::array<AxisLimits, kJoints> limits_{};
  std::array<AxisState, kJoints> state_{};
  std::array<AxisTracker, kJoints> trackers_{};
  uint64_t fallbacks_ = 0;
};

}  // namespace s2r::arm
