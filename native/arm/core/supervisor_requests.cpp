// Stops, recovery, resume and start.
#include "native/arm/core/supervisor_state.h"

namespace s2r::arm {

void Supervisor::Implementation::takeStops() noexcept {
  if (in->stops_requested > stops_served) {
    const uint64_t times = in->stops_requested - stops_served;
    stops_served = in->stops_requested;
    latchStop(StopSource::kRequest, in->stop_reason, times);
  }
  takeLevel(in->lease_lapsed, lease_seen, StopSource::kLease, "lease lapsed");
  takeLevel(in->parent_gone, parent_seen, StopSource::kParent, "parent process ended");
  takeLevel(in->shutdown, shutdown_seen, StopSource::kShutdown, "shutdown");
}

void Supervisor::Implementation::takeLevel(bool level,
                                           bool& seen,
                                           StopSource source,
                                           const char* reason) noexcept {
  if (level && !seen) {
    latchStop(source, FixedText<96>(reason));
  }
  seen = level;
}

bool Supervisor::Implementation::endAsked() const noexcept {
  return in->parent_gone || in->shutdown || ended;
}

bool Supervisor::Implementation::isMoving() const noexcept {
  return mode != Mode::kRebase && mode != Mode::kHold;
}

bool Supervisor::Implementation::atRest() const noexcept {
  return mode == Mode::kHold || (mode == Mode::kRebase && largest(measured_qd) < kStandstill_rad_s);
}

void Supervisor::Implementation::takeLoad() noexcept {
  if (!in->load.present) {
    return;
  }
  zones.setLoad(in->load);
  zones.startAt(tracker.position());
}

void Supervisor::Implementation::takeRecover() noexcept {
  if (!in->recover.present) {
    return;
  }
  const bool protective = established && last_condition == FaultCode::kProtectiveStop;
  out->recover = latch.recover(in->recover.token, now_s);
  out->unlock_protective_stop = protective && out->recover.refusal == Refusal::kNone;
}

void Supervisor::Implementation::takeResume() noexcept {
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

void Supervisor::Implementation::takeStart() noexcept {
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

void Supervisor::Implementation::judgeStart(const StartRequest& request,
                                            StartAnswer& answer) noexcept {
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

}  // namespace s2r::arm
