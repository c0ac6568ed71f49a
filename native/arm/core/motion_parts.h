// The small parts of one motion: time scale along the path, setpoint gate, contact guard.
#pragma once

#include <ruckig/ruckig.hpp>

#include "native/arm/core/tracker.h"
#include "native/arm/core/trajectory.h"
#include "native/arm/core/zones.h"

namespace s2r::arm {

// The playhead: path time s, its rate (1 is as planned) and the rate's change. The rate follows its
// target with an acceleration and a jerk that leave every joint within its limits where the path
// allows that.
class TimeScale {
 public:
  void begin(double rate) noexcept;
  // Chooses the rate's limits for the path at the present s, then moves s on by a period. False:
  // the rate jumped.
  bool step(double target_rate,
            const Path::Point& here,
            const std::array<AxisLimits, kJoints>& limits) noexcept;
  // Largest rate at which no joint is faster than its limit here.
  [[nodiscard]] static double fastest(const Path::Point& here,
                                      const std::array<AxisLimits, kJoints>& limits) noexcept;

  [[nodiscard]] double s() const noexcept { return s_; }
  [[nodiscard]] double rate() const noexcept { return rate_; }
  [[nodiscard]] double change() const noexcept { return change_; }

 private:
  double s_ = 0, rate_ = 0, change_ = 0;
  ruckig::InputParameter<1> input_;
  ruckig::Trajectory<1> profile_;
  ruckig::TargetCalculator<1> calculator_;
};

// What every setpoint must pass before it is sent. Judges the stream as it leaves: positions of the
// last cycles.
class SetpointGate {
 public:
  explicit SetpointGate(const CoreConfig& config);
  // The stream begins anew at rest at q.
  void restart(const Joints& q_rad) noexcept;
  // Code kNone: passes, and counts as sent. Otherwise what is wrong; the stream stays as it was.
  [[nodiscard]] FaultDetail check(const Joints& q_rad, const ZoneChecker& zones) noexcept;
  // The setpoint against the measured position. `allowance` per joint grows with the stream's
  // recent speed.
  [[nodiscard]] FaultDetail checkDistance(const Joints& measured_rad) const noexcept;
  // Counts q as sent without judging it (a braking step after a violation).
  void accept(const Joints& q_rad) noexcept;
  [[nodiscard]] const Joints& last() const noexcept { return q1_; }

 private:
  const CoreConfig config_;
  Joints q1_{}, q2_{};     // last sent, the one before
  Joints recent_speed_{};  // peak that fades
};

// Contact of one motion, relative to the wrench at its start (world axes).
class ContactGuard {
 public:
  explicit ContactGuard(const CoreConfig& config);
  // Filters the measured wrench; call with each fresh sample.
  void measure(const Wrench& wrench_world, double elapsed_s) noexcept;
  void begin(const Guard& guard) noexcept;
  // True when the guard's limit is passed; counts the force into the mean.
  bool tripped() noexcept;
  [[nodiscard]] const Vector3& contactForce() const noexcept { return contact_force_; }
  [[nodiscard]] double meanForce() const noexcept {
    return cycles_ ? force_sum_ / static_cast<double>(cycles_) : 0;
  }
  [[nodiscard]] static bool isUsable(const Guard& guard) noexcept;

 private:
  double default_force_n_, default_torque_nm_, filter_s_;
  bool measured_ = false;
  Wrench filtered_{}, start_{};
  double force_limit_n_ = 0, torque_limit_nm_ = 0;
  bool has_direction_ = false;
  Vector3 direction_{}, contact_force_{};
  double force_sum_ = 0;
  uint64_t cycles_ = 0;
};

}  // namespace s2r::arm
