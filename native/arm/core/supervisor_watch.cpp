// Time, samples, link and conditions of the robot.
#include "native/arm/core/supervisor_state.h"

namespace s2r::arm {
namespace {

constexpr int kFreshToConnect = 5;
constexpr int kRobotModeRunning = 7, kRuntimePlaying = 2;

bool isFinite(const Joints& q) {
  return std::isfinite(q[0] + q[1] + q[2] + q[3] + q[4] + q[5]);
}

}  // namespace

Result Supervisor::Implementation::takeTime() noexcept {
  Result result = Result::kOk;
  double elapsed = in->now_s - now_s;
  if (first_cycle) {
    elapsed = kPeriod_s;
    now_s = std::isfinite(in->now_s) ? in->now_s : 0;
    result = std::isfinite(in->now_s) ? Result::kOk : Result::kBadTime;
  } else if (!(elapsed > 0) || !std::isfinite(elapsed)) {
    elapsed = kPeriod_s;
    now_s += kPeriod_s;
    result = Result::kBadTime;
  } else {
    now_s = in->now_s;
  }
  first_cycle = false;
  ++counters.cycles;
  const double late = now_s - in->scheduled_s;
  if (std::isfinite(late) && in->scheduled_s > 0) {
    size_t bucket = 0;
    while (bucket < kLatenessEdges_s.size() && late > kLatenessEdges_s[bucket]) {
      ++bucket;
    }
    ++counters.lateness_histogram[bucket];
    counters.lateness_max_s = std::max(counters.lateness_max_s, late);
    if (late > kPeriod_s / 2) {
      ++counters.late_cycles;
      counters.missed_cycles += static_cast<uint64_t>(std::min(late / kPeriod_s, 1e9));
      result = result == Result::kOk ? Result::kLate : result;
    }
  }
  if (elapsed > config.starved_s) {
    result = Result::kStarved;
    if (mode != Mode::kRebase && mode != Mode::kHold && mode != Mode::kSettle) {
      latchFault(FaultCode::kCycleStarved, elapsed, config.starved_s);
    }
  }
  return result;
}

void Supervisor::Implementation::takeSample() noexcept {
  const RobotSample& sample = in->sample;
  fresh = false;
  if (in->link == LinkPhase::kDown) {
    has_robot_time = false;
    return;
  }
  if (!has_robot_time || sample.robot_time_s != robot_time_s) {
    const double elapsed = has_robot_time ? sample.robot_time_s - robot_time_s : kPeriod_s;
    if (elapsed > 1.5 * kPeriod_s && elapsed < 3600) {
      counters.robot_gaps += static_cast<uint64_t>(elapsed / kPeriod_s + 0.5) - 1;
    }
    robot_time_s = sample.robot_time_s;
    has_robot_time = true;
    // A package with numbers that are none is no news.
    if (isFinite(sample.q_rad) && isFinite(sample.qd_rad_s)) {
      fresh = true;
      measured_q = sample.q_rad;
      const Frame tcp = chain.frames(measured_q)[7];
      X_world_tcp = {tcp.R(0, 0), tcp.R(0, 1), tcp.R(0, 2), tcp.p.x(),
                     tcp.R(1, 0), tcp.R(1, 1), tcp.R(1, 2), tcp.p.y(),
                     tcp.R(2, 0), tcp.R(2, 1), tcp.R(2, 2), tcp.p.z(),
                     0,           0,           0,           1};
      measured_qd = sample.qd_rad_s;
      const Wrench& w = sample.tcp_wrench_base;
      const Eigen::Vector3d force = chain.R_world_base() * Eigen::Vector3d(w[0], w[1], w[2]);
      const Eigen::Vector3d torque = chain.R_world_base() * Eigen::Vector3d(w[3], w[4], w[5]);
      wrench_world = {force.x(), force.y(), force.z(), torque.x(), torque.y(), torque.z()};
      guard.measure(wrench_world, elapsed);
    }
  }
  if (in->link != LinkPhase::kUp) {
    fresh_count = stale = 0;
    return;
  }
  if (fresh) {
    ++fresh_count;
    stale = 0;
  } else {
    ++stale;
    ++counters.stale_cycles;
  }
}

void Supervisor::Implementation::takeLink() noexcept {
  if (in->raised_fault != FaultCode::kNone) {
    FaultDetail detail;
    detail.code = in->raised_fault;
    detail.text = in->raised_text;
    latchFault(detail);
  }
  const bool up = in->link == LinkPhase::kUp && !in->write_failed;
  if (up) {
    was_up = true;
    established = established || fresh_count >= kFreshToConnect;
    return;
  }
  const bool unasked = in->loss != LinkLoss::kNone || in->write_failed || isMoving();
  if (was_up && unasked && !ended) {
    FaultDetail detail;
    detail.code = in->loss == LinkLoss::kReset ? FaultCode::kLinkReset : FaultCode::kLinkLost;
    latchFault(detail, true);
  }
  was_up = established = false;
  last_condition = FaultCode::kNone;
  fresh_count = stale = 0;
  mode = Mode::kRebase;
}

FaultDetail Supervisor::Implementation::condition() const noexcept {
  FaultDetail detail;
  if (!established) {
    detail.code = in->link == LinkPhase::kDown ? FaultCode::kLinkLost : FaultCode::kProgramStopped;
    return detail;
  }
  const RobotSample& sample = in->sample;
  const auto bit = [&sample](int n) { return (sample.safety_bits >> n & 1u) != 0; };
  if (bit(5) || bit(6) || bit(7)) {
    detail.code = FaultCode::kEmergencyStop;
  } else if (bit(8) || bit(9) || bit(3)) {
    detail.code = FaultCode::kSafetyViolation;
  } else if (bit(2)) {
    detail.code = FaultCode::kProtectiveStop;
  } else if (bit(4)) {
    detail.code = FaultCode::kSafeguardStop;
  } else if (bit(10)) {
    detail.code = FaultCode::kSafetyViolation;
  } else if (!sample.remote_control) {
    detail.code = FaultCode::kLocalMode;
  } else if (sample.robot_mode != kRobotModeRunning) {
    detail.code = FaultCode::kRobotNotRunning;
    detail.value = sample.robot_mode;
    detail.limit = kRobotModeRunning;
  } else if (sample.runtime_state >= 3 && sample.runtime_state <= 5) {
    detail.code = FaultCode::kProgramPaused;
    detail.value = sample.runtime_state;
    detail.limit = kRuntimePlaying;
  } else if (sample.runtime_state != kRuntimePlaying || !sample.program_running) {
    detail.code = FaultCode::kProgramStopped;
    detail.value = sample.runtime_state;
    detail.limit = kRuntimePlaying;
  } else if (stale >= config.stale_cycles_stop) {
    detail.code = FaultCode::kControllerFrozen;
    detail.value = stale;
    detail.limit = config.stale_cycles_stop;
  }
  return detail;
}

void Supervisor::Implementation::takeConditions() noexcept {
  if (!established || ended) {
    return;
  }
  const FaultDetail found = condition();
  if (found.code != FaultCode::kNone && found.code != last_condition) {
    latchFault(found, true);
  }
  last_condition = found.code;
  const bool zero = fraction(in->sample.target_speed_fraction) < 1e-3 && mode == Mode::kPlay;
  if (!zero) {
    slider_zero_since_s = -1;
  } else if (slider_zero_since_s < 0) {
    slider_zero_since_s = now_s;
  } else if (now_s - slider_zero_since_s >= config.slider_zero_s) {
    latchFault(FaultCode::kSpeedSliderZero, now_s - slider_zero_since_s, config.slider_zero_s);
  }
  // (A slew is on its way to the measured position.)
  if (fresh && isMoving() && mode != Mode::kSlew) {
    const FaultDetail far = gate.checkDistance(measured_q);
    if (far.code != FaultCode::kNone && latch.faultDetail().code != FaultCode::kGateDistance) {
      latchFault(far);
    }
  }
  // Sending begins (anew): from where the arm is, when it stands.
  const bool standing = largest(measured_qd) < kStandstill_rad_s;
  if (mode == Mode::kRebase && found.code == FaultCode::kNone && fresh && standing) {
    rebase();
    mode = Mode::kHold;
  }
}

}  // namespace s2r::arm
