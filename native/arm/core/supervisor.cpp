#include "native/arm/core/supervisor.h"

#include <cmath>
#include <stdexcept>

#include "native/arm/core/faults.h"
#include "native/arm/core/motion_parts.h"
#include "native/arm/core/stop_latch.h"

namespace s2r::arm {
namespace {

constexpr int kFreshToConnect = 5;
constexpr int kScanPerCycle = 6;
constexpr int kProgressCycles = 50;
constexpr int kRobotModeRunning = 7, kRuntimePlaying = 2;
// Distance of setpoint and path from which the playhead waits for the setpoint, and at which it
// stands.
constexpr double kLagSoft_rad = 2e-3, kLagHard_rad = 2e-2;
// A stop stays on the path where the setpoint is this close to it.
constexpr double kOnPath_rad = 1e-2;
// Near its target and slow: what is left is braked away.
constexpr double kNear_rad = 1e-5, kSlow_rad_s = 1e-3, kSlow_rad_s2 = 0.05;
constexpr int kPathStopPatience =
    250;  // cycles for the setpoint to come to the path after the playhead stands
constexpr double kSlew_rad =
    1e-3;  // setpoint and measured position this far apart at standstill: go to the latter
constexpr double kStandstill_rad_s = 0.05;

double largest(const Joints& q) {
  double most = 0;
  for (const double value : q) {
    most = std::max(most, std::abs(value));
  }
  return most;
}

double apart(const Joints& a, const Joints& b) {
  double most = 0;
  for (size_t i = 0; i < kJoints; ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

bool isFinite(const Joints& q) {
  return std::isfinite(q[0] + q[1] + q[2] + q[3] + q[4] + q[5]);
}

double fraction(double value) {
  return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0.0;
}

// The controller itself holds the arm: setpoints would reach nobody.
bool isStoppedByRobot(FaultCode code) {
  switch (code) {
    case FaultCode::kEmergencyStop:
    case FaultCode::kSafetyViolation:
    case FaultCode::kProtectiveStop:
    case FaultCode::kSafeguardStop:
    case FaultCode::kRobotNotRunning:
    case FaultCode::kProgramPaused:
    case FaultCode::kProgramStopped:
    case FaultCode::kLinkLost:
    case FaultCode::kLinkReset:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct Supervisor::Implementation {
  explicit Implementation(const CoreConfig& given)
      : config(given),
        latch(given),
        tracker(given),
        gate(given),
        zones(given),
        chain(given),
        guard(given) {}

  // How the setpoint comes about.
  enum class Mode {
    kRebase,     // none is sent: it is the measured position
    kHold,       // it stands
    kPlay,       // along the path
    kLand,       // the last bit to rest at the path's end, then the arm's settling
    kPathStop,   // decelerates along the path
    kJointStop,  // each joint decelerates by itself
    kSlew,       // goes to a position (after a contact: the measured one)
    kSettle,     // stands after a stop until the arm stands too
  };

  const CoreConfig config;
  StopLatch latch;
  JointTracker tracker;
  SetpointGate gate;
  ZoneChecker zones;
  Chain chain;
  ContactGuard guard;
  Path path;
  TimeScale scale;

  // Per cycle.
  const CycleInput* in = nullptr;
  CycleOutput* out = nullptr;
  double now_s = 0;
  bool fresh = false;

  // Kept.
  bool first_cycle = true, was_up = false, established = false, ended = false;
  double robot_time_s = 0;
  bool has_robot_time = false;
  int fresh_count = 0, stale = 0;
  FaultCode last_condition = FaultCode::kNone;
  uint64_t stops_served = 0;
  bool lease_seen = false, parent_seen = false, shutdown_seen = false;
  double slider_zero_since_s = -1;
  State last_state = State::kDisconnected;
  CycleCounters counters;
  Joints measured_q{}, measured_qd{};
  Wrench wrench_world{};
  Transform16 X_world_tcp = kIdentity16;

  Mode mode = Mode::kRebase;
  Path::Point here;
  double path_error_rad = 0;
  Joints slew_target{};
  bool slew_again = false, at_end = false;
  int patience = 0;
  double wait_since_s = 0;
  uint32_t scanned = 0;
  int progress = 0;
  MotionReport motion;
  bool motion_active = false;
  EndReason pending_end = EndReason::kUnspecified;

  // ---------------------------------------------------------------------------------------- events

  CycleEvent* event(EventKind kind) noexcept {
    if (out->event_count >= kMaxEvents) {
      ++out->events_dropped;
      return nullptr;
    }
    CycleEvent& made = out->events[static_cast<size_t>(out->event_count++)];
    made = CycleEvent{};
    made.kind = kind;
    made.time_s = now_s;
    made.stop_epoch = latch.epoch();
    made.motion = motion;
    return &made;
  }

  void tellStopped() noexcept {
    if (CycleEvent* made = event(EventKind::kStopped)) {
      made->stop_source = latch.source();
      made->reason = latch.reason();
      made->fault = latch.faultDetail();
    }
  }

  // ---------------------------------------------------------------------------------------- stops

  // `seen`: the robot itself was seen in this condition; a code that was only raised is decelerated
  // for.
  void latchFault(FaultDetail detail, bool seen = false) noexcept {
    detail.time_s = now_s;
    const bool fresh_fault = latch.fault(detail);
    if (fresh_fault) {
      if (CycleEvent* made = event(EventKind::kFault)) {
        made->fault = latch.faultDetail();
      }
      tellStopped();
    }
    stopMotion(detail.code == FaultCode::kProtectiveStop ? EndReason::kProtectiveStop
                                                         : EndReason::kFault);
    if (seen && isStoppedByRobot(detail.code)) {
      mode = Mode::kRebase;
      endMotion();
    }
  }

  void latchFault(FaultCode code, double value = 0, double limit = 0) noexcept {
    FaultDetail detail;
    detail.code = code;
    detail.value = value;
    detail.limit = limit;
    latchFault(detail);
  }

  void latchStop(StopSource source, const FixedText<96>& reason, uint64_t times = 1) noexcept {
    latch.stop(source, reason, times);
    tellStopped();
    stopMotion(EndReason::kStopped);
  }

  // Begins to decelerate, where that is not so already. The first reason counts, but a fault
  // outdoes the others.
  void stopMotion(EndReason reason) noexcept {
    if (motion_active &&
        (pending_end == EndReason::kUnspecified || reason == EndReason::kProtectiveStop ||
         (reason == EndReason::kFault && pending_end != EndReason::kProtectiveStop))) {
      pending_end = reason;
    }
    if (mode == Mode::kPlay) {
      mode = path_error_rad < kOnPath_rad && here.valid ? Mode::kPathStop : Mode::kJointStop;
      patience = 0;
    } else if (mode == Mode::kLand) {
      mode = Mode::kJointStop;
    }
  }

  void endMotion() noexcept {
    if (!motion_active) {
      return;
    }
    motion_active = false;
    motion.end_reason = pending_end;
    motion.end_time_s = now_s;
    motion.mean_force_n = guard.meanForce();
    out->released_group = motion.group;
    event(EventKind::kMotionEnded);
  }

  // ---------------------------------------------------------------------------------------- what
  // is measured

  Result takeTime() noexcept {
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

  void takeSample() noexcept {
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

  void takeLink() noexcept {
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

  // What is wrong with the robot right now, worst first.
  FaultDetail condition() const noexcept {
    FaultDetail detail;
    if (!established) {
      detail.code =
          in->link == LinkPhase::kDown ? FaultCode::kLinkLost : FaultCode::kProgramStopped;
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

  void takeConditions() noexcept {
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

  // ----------------------------------------------------------------------------------------
  // requests

  void takeStops() noexcept {
    if (in->stops_requested > stops_served) {
      const uint64_t times = in->stops_requested - stops_served;
      stops_served = in->stops_requested;
      latchStop(StopSource::kRequest, in->stop_reason, times);
    }
    takeLevel(in->lease_lapsed, lease_seen, StopSource::kLease, "lease lapsed");
    takeLevel(in->parent_gone, parent_seen, StopSource::kParent, "parent process ended");
    takeLevel(in->shutdown, shutdown_seen, StopSource::kShutdown, "shutdown");
  }

  void takeLevel(bool level, bool& seen, StopSource source, const char* reason) noexcept {
    if (level && !seen) {
      latchStop(source, FixedText<96>(reason));
    }
    seen = level;
  }

  [[nodiscard]] bool endAsked() const noexcept { return in->parent_gone || in->shutdown || ended; }

  [[nodiscard]] bool isMoving() const noexcept {
    return mode != Mode::kRebase && mode != Mode::kHold;
  }

  [[nodiscard]] bool atRest() const noexcept {
    return mode == Mode::kHold ||
           (mode == Mode::kRebase && largest(measured_qd) < kStandstill_rad_s);
  }

  void takeLoad() noexcept {
    if (!in->load.present) {
      return;
    }
    zones.setLoad(in->load);
    zones.startAt(tracker.position());
  }

  void takeRecover() noexcept {
    if (!in->recover.present) {
      return;
    }
    const bool protective = established && last_condition == FaultCode::kProtectiveStop;
    out->recover = latch.recover(in->recover.token, now_s);
    out->unlock_protective_stop = protective && out->recover.refusal == Refusal::kNone;
  }

  void takeResume() noexcept {
    if (!in->resume.present) {
      return;
    }
    const bool was_latched = latch.latched();
    out->resume = latch.resume(in->resume.stop_epoch, in->resume.token, atRest() && !endAsked(),
                               condition().code);
    if (out->resume.refusal != Refusal::kNone || !was_latched) {
      return;
    }
    event(EventKind::kResumed);
    if (mode == Mode::kHold && apart(tracker.position(), measured_q) > kSlew_rad) {
      slewTo(measured_q, false);
    }
  }

  void takeStart() noexcept {
    const StartRequest& request = in->start;
    if (!request.present) {
      return;
    }
    StartAnswer& answer = out->start;
    answer.present = true;
    answer.group = request.group;
    judgeStart(request, answer);
    if (answer.refusal != Refusal::kNone) {
      return;
    }
    const Joints from = tracker.position();
    path.begin(request, from, config);
    here = path.at(0);
    const double rate = plannedRate();
    scale.begin(rate);
    zones.startAt(from);
    gate.restart(from);
    guard.begin(request.guard);
    expected_contact = request.guard.contact_expected;
    motion = MotionReport{};
    motion.group = request.group;
    motion_active = true;
    pending_end = EndReason::kUnspecified;
    scanned = 0;
    progress = 0;
    at_end = slew_again = false;
    path_error_rad = 0;
    mode = Mode::kPlay;
    answer.start_time_s = now_s;
    answer.expected_end_time_s = now_s + path.end() / std::max(rate, 0.01);
    event(EventKind::kGroupStarted);
  }
  bool expected_contact = false;

  void judgeStart(const StartRequest& request, StartAnswer& answer) noexcept {
    const FaultCode cause = condition().code;
    if (latch.hasFault()) {
      answer.refusal = Refusal::kFault;
      answer.cause = latch.faultDetail().code;
    } else if (latch.latched() || request.stop_epoch != latch.epoch()) {
      answer.refusal = Refusal::kStopEpoch;
    } else if (cause != FaultCode::kNone || endAsked()) {
      answer.refusal = Refusal::kNotReady;
      answer.cause = cause;
    } else if (fraction(in->sample.target_speed_fraction) < 1e-3) {
      answer.refusal = Refusal::kNotReady;
      answer.cause = FaultCode::kSpeedSliderZero;
    } else if (mode != Mode::kHold) {
      answer.refusal = Refusal::kBusy;
    } else if (request.group == 0 || request.time_s == nullptr || request.q_rad == nullptr ||
               request.count < 2 || request.time_s[0] != 0 ||
               !(request.time_s[request.count - 1] <= 600) ||
               !(request.time_s[request.count - 1] > 0) || !ContactGuard::isUsable(request.guard)) {
      answer.refusal = Refusal::kBadArgument;
    } else {
      for (size_t i = 0; i < kJoints; ++i) {
        const double distance = std::abs(request.q_rad[i] - tracker.state()[i].p);
        if (!(distance <= config.start_tolerance_rad) && !(distance <= answer.value)) {
          answer.refusal = Refusal::kNotStart;
          answer.joint = static_cast<int32_t>(i);
          answer.value = distance;
          answer.limit = config.start_tolerance_rad;
        }
      }
    }
  }

  // ----------------------------------------------------------------------------------------
  // setpoints

  double plannedRate() const noexcept {
    return fraction(in->sample.speed_scaling) * fraction(in->sample.target_speed_fraction);
  }

  void rebase() noexcept {
    tracker.rest(measured_q);
    gate.restart(measured_q);
  }

  void slewTo(const Joints& target, bool again) noexcept {
    slew_target = target;
    slew_again = again;
    mode = Mode::kSlew;
  }

  // Reads some points ahead of the playhead, so that a path that leads into a zone stops well
  // before it.
  void scanAhead() noexcept {
    for (int n = 0; n < kScanPerCycle && scanned < path.count(); ++n, ++scanned) {
      Joints q;
      for (size_t i = 0; i < kJoints; ++i) {
        q[i] = path.q(scanned, i);
        FaultDetail detail;
        detail.joint = static_cast<int32_t>(i);
        detail.value = q[i];
        const JointLimits& l = config.limits[i];
        if (!std::isfinite(q[i]) || !std::isfinite(path.time(scanned)) ||
            (scanned > 0 && !(path.time(scanned) > path.time(scanned - 1)))) {
          detail.code = FaultCode::kGateNotFinite;
        } else if (q[i] < l.position_min_rad || q[i] > l.position_max_rad) {
          detail.code = FaultCode::kGateJointLimit;
          detail.limit = q[i] < l.position_min_rad ? l.position_min_rad : l.position_max_rad;
        }
        if (detail.code != FaultCode::kNone) {
          scanned = path.count();
          latchFault(detail);
          return;
        }
      }
      const ZoneChecker::Hit hit = zones.check(q);
      if (hit.zone >= 0) {
        scanned = path.count();
        FaultDetail detail;
        detail.code = FaultCode::kGateZone;
        detail.zone = hit.zone;
        detail.body = hit.body;
        detail.value = hit.distance_m;
        detail.limit = hit.limit_m;
        latchFault(detail);
        return;
      }
    }
  }

  void watchContact() noexcept {
    if (mode != Mode::kPlay && mode != Mode::kLand) {
      return;
    }
    if (guard.tripped()) {
      pending_end = expected_contact ? EndReason::kContact : EndReason::kUnexpectedContact;
      motion.has_contact_force = true;
      motion.contact_force_world_n = guard.contactForce();
      slewTo(measured_q, true);
    }
  }

  // One period along the path. False: the path has no number here.
  bool followPath(double target_rate) noexcept {
    const auto& limits = tracker.limits();
    const double lag =
        std::clamp((kLagHard_rad - path_error_rad) / (kLagHard_rad - kLagSoft_rad), 0.0, 1.0);
    const double rate = scale.rate(), change = scale.change();
    scale.step(std::min(target_rate * lag, TimeScale::fastest(here, limits)), here, limits);
    const double bend = (scale.change() - change) / kPeriod_s;
    const Path::Point next = path.at(scale.s());
    if (!next.valid) {
      return false;
    }
    std::array<AxisReference, kJoints> reference;
    for (size_t i = 0; i < kJoints; ++i) {
      const double a = here.ddq[i] * rate * rate + here.dq[i] * change;
      const double j =
          here.dddq[i] * rate * rate * rate + 3 * here.ddq[i] * rate * change + here.dq[i] * bend;
      reference[i] = {here.q[i], here.dq[i] * rate, a, j};
    }
    tracker.follow(reference);
    here = next;
    path_error_rad = apart(tracker.position(), here.q);
    return true;
  }

  [[nodiscard]] bool isSlow() const noexcept {
    for (const AxisState& state : tracker.state()) {
      if (std::abs(state.v) > kSlow_rad_s || std::abs(state.a) > kSlow_rad_s2) {
        return false;
      }
    }
    return true;
  }

  void moveSetpoint() noexcept {
    switch (mode) {
      case Mode::kRebase:
        if (fresh) {
          rebase();
        } else {
          tracker.rest(tracker.position());
        }
        break;
      case Mode::kHold:
      case Mode::kSettle:
        break;
      case Mode::kPlay:
        if (!followPath(plannedRate())) {
          latchFault(FaultCode::kGateNotFinite);
          mode = Mode::kJointStop;
          tracker.brake();
        } else if (scale.s() >= path.end() && path_error_rad < kNear_rad && isSlow()) {
          mode = Mode::kLand;
          at_end = false;
        }
        break;
      case Mode::kLand:
        tracker.brake();
        break;
      case Mode::kPathStop:
        if (!followPath(0)) {
          mode = Mode::kJointStop;
          tracker.brake();
        } else if (scale.rate() < 1e-6 && ((path_error_rad < 10 * kNear_rad && isSlow()) ||
                                           ++patience > kPathStopPatience)) {
          mode = Mode::kJointStop;
        }
        break;
      case Mode::kJointStop:
        tracker.brake();
        break;
      case Mode::kSlew:
        if (isSlow() && apart(tracker.position(), slew_target) < kNear_rad) {
          mode = Mode::kJointStop;
          tracker.brake();
        } else {
          tracker.approach(slew_target);
        }
        break;
    }
  }

  // The setpoint through the gate; what does not pass is replaced by a braking step from the last
  // one.
  void passGate(const std::array<AxisState, kJoints>& before) noexcept {
    if (!isMoving()) {
      gate.restart(tracker.position());
      return;
    }
    const Joints q = tracker.position();
    const FaultDetail wrong = gate.check(q, zones);
    if (wrong.code == FaultCode::kNone) {
      return;
    }
    // A stop that began in time may still graze what it stops for: it goes on; only what is no
    // number never leaves.
    const bool braking = mode == Mode::kJointStop || mode == Mode::kPathStop || mode == Mode::kSlew;
    if (latch.hasFault() && braking && wrong.code != FaultCode::kGateNotFinite) {
      gate.accept(q);
      return;
    }
    tracker.restore(before);
    latchFault(wrong);
    mode = Mode::kJointStop;
    tracker.brake();
    gate.accept(tracker.position());
  }

  void finishMotions() noexcept {
    const bool blind = stale >= config.stale_cycles_stop;
    if (mode == Mode::kLand && tracker.atRest()) {
      if (!at_end) {
        at_end = true;
        wait_since_s = now_s;
      }
      const bool there = apart(tracker.position(), measured_q) <= config.settle_tolerance_rad &&
                         largest(measured_qd) <= config.settle_speed_rad_s;
      if (there || now_s - wait_since_s > config.settle_timeout_s) {
        pending_end = there ? EndReason::kCompleted : EndReason::kTimeout;
        mode = Mode::kHold;
        endMotion();
      }
    } else if (mode == Mode::kJointStop && tracker.atRest()) {
      mode = Mode::kSettle;
      wait_since_s = now_s;
    } else if (mode == Mode::kSettle) {
      const bool stands = largest(measured_qd) <= config.settle_speed_rad_s;
      if (!blind && !stands && now_s - wait_since_s < config.settle_timeout_s) {
        return;
      }
      if (!blind && (slew_again || latch.latched()) &&
          apart(tracker.position(), measured_q) > kSlew_rad && slew_count < 2) {
        ++slew_count;
        slewTo(measured_q, false);
        return;
      }
      slew_count = 0;
      mode = Mode::kHold;
      endMotion();
    }
    // At rest with nobody to hear it, or in the hands of the pendant: nothing more is sent.
    if (mode == Mode::kHold && (blind || last_condition == FaultCode::kLocalMode)) {
      mode = Mode::kRebase;
    }
  }
  int slew_count = 0;

  void report() noexcept {
    if (!motion_active) {
      return;
    }
    if (mode == Mode::kPlay || mode == Mode::kLand || mode == Mode::kPathStop) {
      motion.fraction_done = std::min(1.0, scale.s() / path.duration());
      motion.reached_point = path.reachedPoint(scale.s());
    }
    motion.mean_force_n = guard.meanForce();
    if (++progress >= kProgressCycles) {
      progress = 0;
      event(EventKind::kGroupProgress);
    }
  }

  [[nodiscard]] State state() const noexcept {
    if (mode != Mode::kRebase && mode != Mode::kHold && mode != Mode::kPlay &&
        mode != Mode::kLand) {
      return State::kStopping;
    }
    if (latch.hasFault()) {
      return established && last_condition == FaultCode::kLocalMode ? State::kLocalMode
                                                                    : State::kFault;
    }
    if (in->link == LinkPhase::kDown) {
      return State::kDisconnected;
    }
    if (latch.latched()) {
      return State::kHeld;
    }
    if (!established || mode == Mode::kRebase) {
      return State::kConnecting;
    }
    return mode == Mode::kHold ? State::kIdle : State::kMoving;
  }

  [[nodiscard]] Action action() noexcept {
    if (!established) {
      return Action::kNone;
    }
    if (endAsked() && !isMoving()) {
      ended = true;
      return Action::kEndProgram;
    }
    switch (mode) {
      case Mode::kRebase:
        return Action::kNone;
      case Mode::kHold:
      case Mode::kPlay:
      case Mode::kLand:
        return Action::kServo;
      default:
        return Action::kStopRamp;
    }
  }

  Result step(const CycleInput& input, CycleOutput& output) noexcept {
    output = CycleOutput{};
    in = &input;
    out = &output;
    const Result result = takeTime();
    takeSample();
    takeLink();
    takeConditions();
    takeStops();
    takeLoad();
    takeRecover();
    takeResume();
    takeStart();
    if (mode == Mode::kPlay) {
      scanAhead();
    }
    watchContact();
    const std::array<AxisState, kJoints> before = tracker.state();
    moveSetpoint();
    passGate(before);
    report();
    finishMotions();
    write();
    return result;
  }

  void write() noexcept {
    CycleOutput& o = *out;
    o.action = action();
    o.state = state();
    if (o.state != last_state) {
      last_state = o.state;
      if (CycleEvent* made = event(EventKind::kStateChanged)) {
        made->state = o.state;
      }
    }
    for (int n = 0; n < o.event_count; ++n) {
      o.events[static_cast<size_t>(n)].state = o.state;
    }
    for (size_t i = 0; i < kJoints; ++i) {
      const AxisState& s = tracker.state()[i];
      o.setpoint_rad[i] = s.p;
      o.setpoint_vel_rad_s[i] = s.v;
      o.setpoint_acc_rad_s2[i] = s.a;
    }
    o.fault = latch.faultDetail();
    o.stop_latched = latch.latched();
    o.stop_epoch = latch.epoch();
    o.stop_source = latch.source();
    o.stop_reason = latch.reason();
    o.stops_served = stops_served;
    o.motion = motion;
    o.motion_active = motion_active;
    if (motion.group != 0) {
      o.path_time_s = scale.s();
      o.path_duration_s = path.duration();
      o.time_scale = motion_active ? scale.rate() : 0;
      o.path_error_rad = motion_active ? path_error_rad : 0;
    }
    o.tcp_wrench_world = wrench_world;
    o.X_world_tcp = X_world_tcp;
    o.stale_cycles = stale;
    o.robot_ready = established && condition().code == FaultCode::kNone;
    counters.tracker_fallbacks = tracker.fallbacks();
    o.counters = counters;
  }
};

namespace {

CoreConfig checked(const CoreConfig& config) {
  const std::string wrong = validate(config);
  if (!wrong.empty()) {
    throw std::invalid_argument(wrong);
  }
  return config;
}

}  // namespace

Supervisor::Supervisor(const CoreConfig& config)
    : self_(std::make_unique<Implementation>(checked(config))) {}
Supervisor::~Supervisor() = default;

Result Supervisor::step(const CycleInput& input, CycleOutput& output) noexcept {
  return self_->step(input, output);
}

}  // namespace s2r::arm
