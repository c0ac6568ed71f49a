#include <stdexcept>

#include "native/arm/core/supervisor_state.h"

namespace s2r::arm {
namespace {

// A stop stays on the path where the setpoint is this close to it.
constexpr double kOnPath_rad = 1e-2;

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

CycleEvent* Supervisor::Implementation::event(EventKind kind) noexcept {
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

void Supervisor::Implementation::tellStopped() noexcept {
  if (CycleEvent* made = event(EventKind::kStopped)) {
    made->stop_source = latch.source();
    made->reason = latch.reason();
    made->fault = latch.faultDetail();
  }
}

void Supervisor::Implementation::latchFault(FaultDetail detail, bool seen) noexcept {
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

void Supervisor::Implementation::latchFault(FaultCode code, double value, double limit) noexcept {
  FaultDetail detail;
  detail.code = code;
  detail.value = value;
  detail.limit = limit;
  latchFault(detail);
}

void Supervisor::Implementation::latchStop(StopSource source,
                                           const FixedText<96>& reason,
                                           uint64_t times) noexcept {
  latch.stop(source, reason, times);
  tellStopped();
  stopMotion(EndReason::kStopped);
}

void Supervisor::Implementation::stopMotion(EndReason reason) noexcept {
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

void Supervisor::Implementation::endMotion() noexcept {
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
