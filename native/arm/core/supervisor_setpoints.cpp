// How the setpoint moves, ends and is written.
#include "native/arm/core/supervisor_state.h"

namespace s2r::arm {
namespace {

constexpr int kScanPerCycle = 6;
constexpr int kProgressCycles = 50;
// Distance of setpoint and path from which the playhead waits for the setpoint, and at which it
// stands.
constexpr double kLagSoft_rad = 2e-3, kLagHard_rad = 2e-2;
// Near its target and slow: what is left is braked away.
constexpr double kNear_rad = 1e-5, kSlow_rad_s = 1e-3, kSlow_rad_s2 = 0.05;
// Cycles for the setpoint to come to the path after the playhead stands.
constexpr int kPathStopPatience = 250;

}  // namespace

double Supervisor::Implementation::plannedRate() const noexcept {
  return fraction(in->sample.speed_scaling) * fraction(in->sample.target_speed_fraction);
}

void Supervisor::Implementation::rebase() noexcept {
  tracker.rest(measured_q);
  gate.restart(measured_q);
}

void Supervisor::Implementation::slewTo(const Joints& target, bool again) noexcept {
  slew_target = target;
  slew_again = again;
  mode = Mode::kSlew;
}

void Supervisor::Implementation::scanAhead() noexcept {
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

void Supervisor::Implementation::watchContact() noexcept {
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

bool Supervisor::Implementation::followPath(double target_rate) noexcept {
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

bool Supervisor::Implementation::isSlow() const noexcept {
  for (const AxisState& state : tracker.state()) {
    if (std::abs(state.v) > kSlow_rad_s || std::abs(state.a) > kSlow_rad_s2) {
      return false;
    }
  }
  return true;
}

void Supervisor::Implementation::moveSetpoint() noexcept {
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

void Supervisor::Implementation::passGate(const std::array<AxisState, kJoints>& before) noexcept {
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

void Supervisor::Implementation::finishMotions() noexcept {
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

void Supervisor::Implementation::report() noexcept {
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

State Supervisor::Implementation::state() const noexcept {
  if (mode != Mode::kRebase && mode != Mode::kHold && mode != Mode::kPlay && mode != Mode::kLand) {
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

Action Supervisor::Implementation::action() noexcept {
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

Result Supervisor::Implementation::step(const CycleInput& input, CycleOutput& output) noexcept {
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

void Supervisor::Implementation::write() noexcept {
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

}  // namespace s2r::arm
