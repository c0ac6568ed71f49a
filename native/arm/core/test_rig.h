// A supervisor with an arm that follows its setpoints with a lag, for tests; judges every setpoint
// that leaves.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "native/arm/core/faults.h"
#include "native/arm/core/supervisor.h"

namespace s2r::arm {

struct Trajectory {
  std::vector<double> time_s, q_rad;
  void add(double t, const Joints& q) {
    time_s.push_back(t);
    q_rad.insert(q_rad.end(), q.begin(), q.end());
  }
  [[nodiscard]] Joints first() const { return point(0); }
  [[nodiscard]] Joints last() const { return point(time_s.size() - 1); }
  [[nodiscard]] Joints point(size_t n) const {
    Joints q;
    std::copy_n(q_rad.begin() + static_cast<std::ptrdiff_t>(n * kJoints), kJoints, q.begin());
    return q;
  }
  [[nodiscard]] double duration() const { return time_s.back(); }
};

inline Joints homeJoints() {
  return {0.3, -1.5, 1.4, -1.4, -1.57, 0.2};
}

// Rest to rest in `duration`, along a straight line in joint space with a smooth start and end.
inline Trajectory smoothLine(const Joints& from, const Joints& to, double duration_s, double dt_s) {
  Trajectory t;
  const int n = std::max(2, static_cast<int>(std::ceil(duration_s / dt_s)));
  for (int i = 0; i <= n; ++i) {
    const double x = static_cast<double>(i) / n;
    const double s = x * x * x * x * (35 - 84 * x + 70 * x * x - 20 * x * x * x);
    Joints q;
    for (size_t j = 0; j < kJoints; ++j) {
      q[j] = from[j] + s * (to[j] - from[j]);
    }
    t.add(duration_s * x, q);
  }
  return t;
}

// As above, as fast as `share` of the limits of velocity, acceleration and half the jerk allow.
inline Trajectory feasibleLine(const Joints& from,
                               const Joints& to,
                               const CoreConfig& config,
                               double share,
                               double dt_s) {
  double duration = 0.1;
  for (size_t j = 0; j < kJoints; ++j) {
    const double d = std::abs(to[j] - from[j]);
    const JointLimits& l = config.limits[j];
    // Peaks of that polynomial's derivatives: 2.1875, 7.5132, 52.5.
    duration = std::max({duration, 2.1875 * d / (share * l.velocity_rad_s),
                         std::sqrt(7.5132 * d / (0.8 * share * l.acceleration_rad_s2)),
                         std::cbrt(52.5 * d / (0.5 * share * l.jerk_rad_s3))});
  }
  return smoothLine(from, to, duration, dt_s);
}

class TestRig {
 public:
  explicit TestRig(const CoreConfig& given = CoreConfig{}, const Joints& q = homeJoints())
      : config(given), supervisor(given), q_actual(q) {
    in.link = LinkPhase::kUp;
    in.sample.robot_mode = 7;
    in.sample.runtime_state = 2;
    in.sample.program_running = true;
    in.sample.q_rad = q;
    in.now_s = 1000;
    in.sample.robot_time_s = 50;
  }

  Result step() {
    in.now_s += next_gap_s;
    next_gap_s = kPeriod_s;
    in.scheduled_s = in.now_s;
    if (!frozen) {
      in.sample.robot_time_s += kPeriod_s;
      in.sample.q_rad = q_actual;
      in.sample.qd_rad_s = qd_actual;
    }
    const Joints measured = in.sample.q_rad;
    const Result result = supervisor.step(in, out);
    for (int i = 0; i < out.event_count; ++i) {
      events.push_back(out.events[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(out.events_dropped, 0u);
    judge(measured);
    moveArm();
    in.start.present = in.resume.present = in.recover.present = in.load.present = false;
    in.raised_fault = FaultCode::kNone;
    return result;
  }

  void run(double seconds) {
    for (int i = 0; i < static_cast<int>(std::round(seconds / kPeriod_s)); ++i) {
      step();
    }
  }
  // True when `done` holds before the time is over.
  bool runUntil(const std::function<bool()>& done, double seconds) {
    for (int i = 0; i < static_cast<int>(seconds / kPeriod_s); ++i) {
      step();
      if (done()) {
        return true;
      }
    }
    return false;
  }
  void connect() {
    run(0.05);
    ASSERT_EQ(out.state, State::kIdle);
  }

  StartAnswer start(const Trajectory& trajectory, const Guard& guard = Guard{}) {
    in.start.present = true;
    in.start.group = ++group;
    in.start.stop_epoch = epoch_override ? *epoch_override : out.stop_epoch;
    in.start.time_s = trajectory.time_s.data();
    in.start.q_rad = trajectory.q_rad.data();
    in.start.count = static_cast<uint32_t>(trajectory.time_s.size());
    in.start.guard = guard;
    step();
    return out.start;
  }
  void stop(const char* reason = "asked") {
    ++in.stops_requested;
    in.stop_reason.assign(reason);
  }
  ResumeAnswer resume(uint64_t token = 0) { return resumeEpoch(out.stop_epoch, token); }
  ResumeAnswer resumeEpoch(uint64_t epoch, uint64_t token) {
    in.resume = {true, epoch, token};
    step();
    return out.resume;
  }
  RecoverAnswer recover(uint64_t token) {
    in.recover = {true, token};
    step();
    return out.recover;
  }
  // Motion from where the arm is, long enough to be disturbed.
  Trajectory longMove(double joint0 = 1.2) {
    Joints to = out.setpoint_rad;
    to[0] += joint0;
    to[2] -= 0.4;
    return feasibleLine(out.setpoint_rad, to, config, 0.6, 0.008);
  }
  [[nodiscard]] bool standing() const {
    double most = 0;
    for (size_t j = 0; j < kJoints; ++j) {
      most = std::max({most, std::abs(out.setpoint_vel_rad_s[j]), std::abs(qd_actual[j])});
    }
    return most < 0.01;
  }
  [[nodiscard]] const CycleEvent* last(EventKind kind) const {
    for (auto it = events.rbegin(); it != events.rend(); ++it) {
      if (it->kind == kind) {
        return &*it;
      }
    }
    return nullptr;
  }

  CoreConfig config;
  Supervisor supervisor;
  CycleInput in;
  CycleOutput out;
  std::vector<CycleEvent> events;
  Joints q_actual, qd_actual{};
  double lag_s = 0.03;
  bool frozen = false;   // no new packages
  bool blocked = false;  // the arm does not follow
  double next_gap_s = kPeriod_s;
  std::optional<uint64_t> epoch_override;
  uint64_t group = 0;
  uint64_t judged = 0;
  double worst_velocity = 0, worst_acceleration = 0, worst_jerk = 0;  // share of the limit

 private:
  // Differences of positions are means of velocity, acceleration and jerk: they must keep the
  // limits.
  void judge(const Joints& measured) {
    const bool sends = out.action == Action::kServo || out.action == Action::kStopRamp;
    for (const double q : out.setpoint_rad) {
      ASSERT_TRUE(std::isfinite(q));
    }
    if (!sends) {
      sent = 0;
      return;
    }
    if (sent == 0) {
      // (Re)start of the stream: exactly where the arm is.
      for (size_t j = 0; j < kJoints; ++j) {
        ASSERT_NEAR(out.setpoint_rad[j], measured[j], 1e-6) << "restart of the stream";
      }
      past[0] = past[1] = past[2] = out.setpoint_rad;
    }
    ++sent;
    ++judged;
    for (size_t j = 0; j < kJoints; ++j) {
      const JointLimits& l = config.limits[j];
      const double dt = kPeriod_s, q = out.setpoint_rad[j];
      const double v = (q - past[0][j]) / dt;
      const double a = (q - 2 * past[0][j] + past[1][j]) / (dt * dt);
      const double jerk = (q - 3 * past[0][j] + 3 * past[1][j] - past[2][j]) / (dt * dt * dt);
      worst_velocity = std::max(worst_velocity, std::abs(v) / l.velocity_rad_s);
      worst_acceleration = std::max(worst_acceleration, std::abs(a) / l.acceleration_rad_s2);
      worst_jerk = std::max(worst_jerk, std::abs(jerk) / l.jerk_rad_s3);
      ASSERT_LE(std::abs(v), l.velocity_rad_s) << "joint " << j << " t " << in.now_s;
      ASSERT_LE(std::abs(a), l.acceleration_rad_s2) << "joint " << j << " t " << in.now_s;
      ASSERT_LE(std::abs(jerk), l.jerk_rad_s3) << "joint " << j << " t " << in.now_s;
    }
    past[2] = past[1];
    past[1] = past[0];
    past[0] = out.setpoint_rad;
  }

  void moveArm() {
    const bool follows =
        !blocked && (out.action == Action::kServo || out.action == Action::kStopRamp);
    const double gain = 1 - std::exp(-kPeriod_s / lag_s);
    for (size_t j = 0; j < kJoints; ++j) {
      const double step = follows ? gain * (out.setpoint_rad[j] - q_actual[j]) : 0;
      q_actual[j] += step;
      qd_actual[j] = step / kPeriod_s;
    }
  }

  std::array<Joints, 3> past{};
  uint64_t sent = 0;
};

}  // namespace s2r::arm
