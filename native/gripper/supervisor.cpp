#include "native/gripper/supervisor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "native/gripper/kinematics.h"

namespace s2r::gripper {
namespace {

// The linkage's range with room for the zero's error and the stop's spring.
constexpr double kLowestAngleRad = -0.06;
constexpr double kHighestAngleRad = 1.74;
// No motor of this size turns faster: a larger step is a damaged number until a second one agrees.
constexpr double kMaxRateRadS = 20.0;
constexpr double kMaxStepRad = 0.15;
// A line that was held up for as long as telemetry may be old shows the way of that time at once,
// at the fastest move (0.2 m/s). What is farther than that is no way but another zero.
constexpr double kZeroJumpRad = 0.5;

std::string statusText(uint32_t bits) {
  static constexpr std::pair<uint32_t, const char*> kNames[] = {
      {kStatusLowVoltage, "low voltage"},          {kStatusMotorHot, "motor too hot"},
      {kStatusOverCurrent, "driver over-current"}, {kStatusDriverHot, "driver too hot"},
      {kStatusSensor, "sensor abnormal"},          {kStatusDriverError, "driver error"}};
  char hex[16];
  std::snprintf(hex, sizeof hex, "0x%02X", bits);
  std::string text = hex;
  for (const auto& [bit, name] : kNames) {
    if ((bits & bit) != 0)
      text += std::string(", ") + name;
  }
  return text;
}

std::string statusMend(uint32_t bits) {
  if ((bits & kStatusOverCurrent) != 0) {
    return "take the load off the fingers, power-cycle the gripper, then recover";
  }
  if ((bits & (kStatusMotorHot | kStatusDriverHot)) != 0)
    return "let it cool down, then recover";
  if ((bits & kStatusLowVoltage) != 0)
    return "check its 24 V supply, then recover";
  return "power-cycle the gripper, then recover";
}

}  // namespace

double Supervisor::opening() const {
  return openingFromAngle(std::clamp(motor_.angle_rad, 0.0, kMonotoneEndRad));
}

void Supervisor::enter(Phase phase, double now_s) {
  phase_ = phase;
  phase_since_s_ = now_s;
  motor_count_ = 0;
  status_count_ = 0;
  resent_ = false;
}

void Supervisor::sendLimit(double now_s, double limit_a) {
  appendCurrentLimit(writes_, dialect_, limit_a);
  limit_a_ = limit_a;
  limit_since_s_ = now_s;
  over_limit_since_s_ = -1.0;
}

void Supervisor::sendPosition(double angle_rad) {
  appendFrame(writes_, positionCommand(dialect_),
              static_cast<float>(std::clamp(angle_rad, 0.0, kMaxCommandAngleRad)));
}

void Supervisor::requestInfo(double now_s) {
  appendInfoRequest(writes_);
  ++info_sent_;
  info_sent_s_ = now_s;
}

void Supervisor::onOpened(double now_s) {
  link_open_ = true;
  heard_bytes_ = false;
  connect(now_s);
}

void Supervisor::connect(double now_s) {
  enter(Phase::kConnecting, now_s);
  fault_ = {};
  link_fault_ = false;
  candidate_.reset();
  zero_jump_rad_ = 0.0;
  motor_time_s_ = -1.0;
  status_time_s_ = -1.0;
  bad_status_count_ = off_count_ = bad_zero_count_ = 0;
  over_limit_since_s_ = -1.0;
  stalled_ = slipped_ = gripping_ = false;
  holding_.reset();
  target_opening_m_ = -1.0;
  info_sent_ = 0;
  if (version_.empty())
    requestInfo(now_s);
}

void Supervisor::onLinkLost(double now_s, Failure failure) {
  link_open_ = false;
  writes_.clear();
  if (phase_ == Phase::kFault && !pending_) {
    // A fault that needs a person outlives the line it came over.
    if (link_fault_)
      fault_ = std::move(failure);
    return;
  }
  fault(now_s, std::move(failure));
  link_fault_ = true;
}

void Supervisor::fault(double now_s, Failure failure) {
  fault_ = failure;
  link_fault_ = failure.code == code::kStale || failure.code == code::kSilent;
  holding_.reset();
  if (motion_)
    endMotion(now_s, EndReason::kFault, failure);
  if (pending_) {
    emit({EventType::kMotionEnded, now_s, pending_->id, EndReason::kFault, opening(), failure});
    pending_.reset();
  }
  enter(Phase::kFault, now_s);
  emit({EventType::kFault, now_s, 0, EndReason::kFault, opening(), std::move(failure)});
}

bool Supervisor::acceptMotor(double now_s, const Motor& motor) {
  const auto near = [&](const Motor& other, double since_s) {
    return std::abs(motor.angle_rad - other.angle_rad) <=
           kMaxStepRad + kMaxRateRadS * std::max(0.0, now_s - since_s);
  };
  if (motor_time_s_ >= 0.0 && near(motor_, motor_time_s_)) {
    candidate_.reset();
    return true;
  }
  const bool agrees = candidate_ && near(*candidate_, candidate_time_s_);
  candidate_ = motor;
  candidate_time_s_ = now_s;
  // Said twice, it is what the device means; no motor turns that far, so its zero is another now.
  const double jump_rad = motor.angle_rad - motor_.angle_rad;
  if (agrees && motor_time_s_ >= 0.0 && std::abs(jump_rad) > kZeroJumpRad)
    zero_jump_rad_ = jump_rad;
  return agrees;
}

void Supervisor::onReport(double now_s, const Report& report) {
  if (report.version)
    version_ = *report.version;
  if (report.other_device && !report.motor && phase_ == Phase::kConnecting) {
    fault(now_s, {code::kWrongDevice,
                  "the device on this line speaks as a Pika Sense, not as a "
                  "gripper: set gripper.path to the gripper's link"});
    return;
  }
  if (report.motor && acceptMotor(now_s, *report.motor)) {
    motor_ = *report.motor;
    motor_time_s_ = now_s;
    ++motor_count_;
    const bool out = motor_.angle_rad < kLowestAngleRad || motor_.angle_rad > kHighestAngleRad;
    bad_zero_count_ = out ? bad_zero_count_ + 1 : 0;
    trackRest(now_s);
  }
  if (report.status) {
    const MotorStatus& status = *report.status;
    bad_status_count_ = (status.bits & kStatusFaults) != 0 ? bad_status_count_ + 1 : 0;
    off_count_ = (status.bits & kStatusEnabled) == 0 ? off_count_ + 1 : 0;
    status_ = status;
    status_time_s_ = now_s;
    ++status_count_;
  }
  if (report.motor || report.status)
    advance(now_s);
}

// Two telemetry objects in a row must say a thing before it counts: a number can be damaged and
// still be a number.
std::optional<Failure> Supervisor::health(double now_s) const {
  if (bad_status_count_ >= 2) {
    return Failure{code::kDeviceFault, "the gripper reports " + statusText(status_.bits) + ": " +
                                           statusMend(status_.bits & kStatusFaults)};
  }
  if (bad_zero_count_ >= 3) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "the gripper's angle is %.3f rad, outside 0 to %.2f: its zero is lost; close the "
                  "fingers by hand, set the zero with the vendor's tool, then recover",
                  motor_.angle_rad, kMaxCommandAngleRad);
    return Failure{code::kBadZero, text};
  }
  if (zero_jump_rad_ != 0.0) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "the gripper's angle jumped by %.3f rad, farther than its motor turns: its zero "
                  "is lost; close the fingers by hand, set the zero with the vendor's tool, then "
                  "recover",
                  zero_jump_rad_);
    return Failure{code::kBadZero, text};
  }
  const bool powered = phase_ == Phase::kReady || phase_ == Phase::kMoving;
  if (powered && off_count_ >= 2) {
    return Failure{code::kDisabled,
                   "the gripper switched its motor off by itself (status " +
                       statusText(status_.bits) +
                       "): see that nothing hangs in the fingers, then recover; power is not given "
                       "again by itself"};
  }
  if (powered && over_limit_since_s_ >= 0.0 &&
      now_s - over_limit_since_s_ > settings_.timing.over_current_s) {
    char text[200];
    std::snprintf(
        text, sizeof text,
        "the motor draws %.2f A, above the limit of %.2f A that was set: the gripper does "
        "not heed the limit; check gripper.dialect, then recover",
        std::abs(motor_.current_a), limit_a_);
    return Failure{code::kCurrentLimit, text};
  }
  return std::nullopt;
}

void Supervisor::advance(double now_s) {
  if (phase_ == Phase::kClosed || phase_ == Phase::kFault || phase_ == Phase::kReleasing)
    return;
  const bool over = std::abs(motor_.current_a) > 1.3 * limit_a_ + 0.15 &&
                    now_s - limit_since_s_ > 2.0 * settings_.timing.over_current_s;
  if (!over) {
    over_limit_since_s_ = -1.0;
  } else if (over_limit_since_s_ < 0.0) {
    over_limit_since_s_ = now_s;
  }
  if (auto failure = health(now_s)) {
    // The one command a fault gives: press no further.
    if (failure->code == code::kCurrentLimit)
      sendPosition(motor_.angle_rad);
    fault(now_s, std::move(*failure));
    return;
  }
  const Timing& timing = settings_.timing;
  switch (phase_) {
    case Phase::kConnecting:
      if (motor_count_ >= 3 && status_count_ >= 3) {
        sendLimit(now_s, settings_.current_limit_a);
        enter(Phase::kLimiting, now_s);
      }
      return;
    case Phase::kLimiting: {
      const bool told = !version_.empty() || info_sent_ >= timing.info_requests;
      if (now_s - phase_since_s_ < timing.limit_settle_s || status_count_ < 2 || !told)
        return;
      // Powered already: it may be holding something, so its target is left alone.
      if (enabled())
        return becomeReady(now_s);
      sendPosition(motor_.angle_rad);
      appendFrame(writes_, Command::kEnable);
      enter(Phase::kEnabling, now_s);
      return;
    }
    case Phase::kEnabling:
      if (!enabled() || status_count_ < 2)
        return;
      sendPosition(motor_.angle_rad);
      becomeReady(now_s);
      return;
    case Phase::kReady:
      watchHold(now_s);
      watchGrip(now_s);
      return;
    case Phase::kMoving:
      stepMotion(now_s);
      return;
    default:
      return;
  }
}

void Supervisor::becomeReady(double now_s) {
  enter(Phase::kReady, now_s);
  off_count_ = 0;
  if (pressing(-1, limit_a_)) {
    stalled_ = gripping_ = true;
    grip_opening_m_ = opening();
    slip_count_ = 0;
  }
  emit({EventType::kReady, now_s, 0, EndReason::kCompleted, opening(), {}});
  if (pending_) {
    const Pending pending = *pending_;
    pending_.reset();
    startMotion(now_s, pending);
  }
}

void Supervisor::tick(double now_s) {
  const Timing& timing = settings_.timing;
  if (phase_ == Phase::kConnecting || phase_ == Phase::kLimiting) {
    if (version_.empty() && info_sent_ < timing.info_requests &&
        now_s - info_sent_s_ >= timing.info_period_s) {
      requestInfo(now_s);
    }
  }
  if (phase_ == Phase::kConnecting && now_s - phase_since_s_ > timing.connect_s) {
    fault(now_s,
          {code::kSilent,
           heard_bytes_ ? "bytes arrive on the line, but no telemetry of a gripper: check that "
                          "gripper.path is the gripper, not another device"
                        : "nothing arrives on the line: check the gripper's power and cable, "
                          "and that gripper.path is the gripper"});
    return;
  }
  if (phase_ == Phase::kEnabling) {
    const double waited_s = now_s - phase_since_s_;
    if (waited_s > timing.enable_s) {
      fault(now_s, {code::kNotEnabled, "the gripper did not switch its motor on within " +
                                           std::to_string(static_cast<int>(timing.enable_s * 1e3)) +
                                           " ms (status " + statusText(status_.bits) +
                                           "): check its power supply, then recover"});
      return;
    }
    if (waited_s > timing.resend_s && !resent_) {
      resent_ = true;
      appendFrame(writes_, Command::kEnable);
    }
  }
  const bool live = phase_ == Phase::kLimiting || phase_ == Phase::kEnabling ||
                    phase_ == Phase::kReady || phase_ == Phase::kMoving;
  const double age_s = now_s - std::min(motor_time_s_, status_time_s_);
  if (live && age_s > timing.stale_s) {
    fault(now_s,
          {code::kStale, "no telemetry of the gripper for " +
                             std::to_string(static_cast<int>(age_s * 1e3)) + " ms, more than " +
                             std::to_string(static_cast<int>(timing.stale_s * 1e3)) +
                             ": check its cable; the next move reads its state anew"});
    return;
  }
  if (phase_ == Phase::kMoving)
    stepMotion(now_s);
  if (phase_ == Phase::kReady)
    watchHold(now_s);
}

std::optional<Failure> Supervisor::recover(double now_s) {
  if (phase_ != Phase::kFault)
    return std::nullopt;
  const bool fresh = link_open_ && now_s - std::min(motor_time_s_, status_time_s_) <= 0.1;
  if (fresh) {
    connect(now_s);
  } else {
    reopen_ = true;
  }
  return std::nullopt;
}

void Supervisor::release(double now_s) {
  if (motion_)
    endMotion(now_s, EndReason::kStopped);
  if (!link_open_)
    return;
  appendFrame(writes_, Command::kDisable);
  status_count_ = 0;
  enter(Phase::kReleasing, now_s);
}

bool Supervisor::released() const {
  return !link_open_ || (phase_ == Phase::kReleasing && status_count_ > 0 && !enabled());
}

bool Supervisor::takeReopen() {
  return std::exchange(reopen_, false);
}

Bytes Supervisor::takeWrites() {
  return std::exchange(writes_, {});
}

std::vector<Event> Supervisor::takeEvents() {
  return std::exchange(events_, {});
}

State Supervisor::state() const {
  State state;
  state.phase = phase_;
  state.dialect = dialect_;
  state.version = version_;
  state.fault = fault_;
  state.motion = motion_ ? motion_->id : 0;
  state.current_limit_a = limit_a_;
  state.limit_observed = limit_observed_;
  state.stalled = stalled_;
  state.slipped = slipped_;
  if (target_opening_m_ >= 0.0)
    state.target_opening_m = target_opening_m_;
  if (motor_time_s_ < 0.0)
    return state;
  state.time_s = motor_time_s_;
  state.angle_rad = motor_.angle_rad;
  state.opening_m = opening();
  state.speed_m_s = motor_.speed_rad_s * openingSlope(std::clamp(motor_.angle_rad, 0.0, 2.0));
  state.current_a = motor_.current_a;
  state.force_estimate_n = std::max(0.0, -motor_.current_a) * settings_.newton_per_amp;
  state.moving = motion_.has_value() || std::abs(state.speed_m_s) > 0.002;
  state.status_bits = status_.bits;
  state.voltage_v = status_.voltage_v;
  state.driver_temperature_c = status_.driver_temperature_c;
  state.motor_temperature_c = status_.motor_temperature_c;
  return state;
}

}  // namespace s2r::gripper
