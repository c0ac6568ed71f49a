// Motions of the gripper: what is sent, how its reaction is confirmed, how it ends.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "native/gripper/kinematics.h"
#include "native/gripper/supervisor.h"

namespace s2r::gripper {
namespace {

// Turning less than this is rest: 0.15 to 0.27 mm of opening.
constexpr double kRestRad = 0.004;
constexpr double kRestRateRadS = 0.1;
// Telemetry that shows no turn for so long confirms a hold.
constexpr double kHeldS = 0.1;
constexpr double kHeldNearRad = 0.05;
constexpr int kHoldAttempts = 3;
// A share of the current limit above which the motor works against something.
constexpr double kPressShare = 0.5;
// A grip needs some way first: fingers that press without it are jammed, or touched already.
constexpr double kLeastWayM = 0.0005;

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
  char text[320];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

}  // namespace

bool Supervisor::pressing(int direction, double limit_a) const {
  return motor_.current_a * direction >= kPressShare * limit_a;
}

std::optional<Failure> Supervisor::checkMove(const Move& move) const {
  // The negated comparisons refuse NaN too.
  if (!(move.opening_m >= 0.0 && move.opening_m <= kMaxCommandOpeningM)) {
    return Failure{code::kBadArgument,
                   format("opening_m is %g, but must be from 0 to %g m: ask for an opening in that "
                          "range",
                          move.opening_m, kMaxCommandOpeningM)};
  }
  const double most_n = settings_.current_limit_a * settings_.newton_per_amp;
  if (move.force_n && !(*move.force_n > 0.0 && *move.force_n <= most_n)) {
    return Failure{
        code::kBadArgument,
        format("force_n is %g, but must be above 0 and at most %g N (estimate: the limit "
               "of %g A times %g N/A): ask for less, or raise gripper.current_limit_a",
               *move.force_n, most_n, settings_.current_limit_a, settings_.newton_per_amp)};
  }
  if (move.speed_m_s && !(*move.speed_m_s > 0.0 && *move.speed_m_s <= settings_.max_speed_m_s)) {
    return Failure{code::kBadArgument,
                   format("speed_m_s is %g, but must be above 0 and at most %g m/s: ask for less",
                          *move.speed_m_s, settings_.max_speed_m_s)};
  }
  return std::nullopt;
}

Supervisor::MoveReply Supervisor::move(double now_s, const Move& move) {
  if (auto refusal = checkMove(move))
    return {0, std::move(refusal)};
  if (phase_ == Phase::kClosed || phase_ == Phase::kReleasing) {
    return {0, Failure{code::kClosed, "the gripper's driver is closed: open it again"}};
  }
  if (motion_ || pending_) {
    return {0,
            Failure{code::kBusy,
                    format("motion %llu of the gripper has not ended: wait for its end, or hold",
                           static_cast<unsigned long long>(motion_ ? motion_->id : pending_->id))}};
  }
  if (phase_ == Phase::kFault && !link_fault_) {
    return {0, Failure{fault_.code, "a fault is latched: " + fault_.message}};
  }
  const Pending pending{next_motion_++, move};
  if (phase_ == Phase::kReady) {
    startMotion(now_s, pending);
    return {pending.id, std::nullopt};
  }
  pending_ = pending;
  if (phase_ == Phase::kFault) {
    const double age_s = now_s - std::min(motor_time_s_, status_time_s_);
    if (link_open_ && age_s <= settings_.timing.stale_s) {
      connect(now_s);
    } else {
      reopen_ = true;
    }
  }
  return {pending.id, std::nullopt};
}

void Supervisor::startMotion(double now_s, const Pending& pending) {
  const Move& move = pending.move;
  Motion motion;
  motion.id = pending.id;
  motion.target_opening_m = move.opening_m;
  motion.target_angle_rad =
      std::min(angleFromOpening(move.opening_m).value_or(kMaxCommandAngleRad), kMaxCommandAngleRad);
  motion.start_angle_rad = motor_.angle_rad;
  motion.start_opening_m = opening();
  motion.direction = motion.target_angle_rad < motor_.angle_rad ? -1 : 1;
  motion.start_s = now_s;
  motion.speed_m_s = move.speed_m_s.value_or(settings_.speed_m_s);
  motion.limit_a =
      move.force_n ? std::min(*move.force_n / settings_.newton_per_amp, settings_.current_limit_a)
                   : settings_.current_limit_a;
  const double way_m = std::abs(move.opening_m - motion.start_opening_m);
  motion.deadline_s = now_s + 1.5 * way_m / motion.speed_m_s + settings_.timing.timeout_extra_s;
  motion.held_at_start = gripping_ && motion.direction < 0;
  // Where nothing has to turn, nothing can be seen to react.
  motion.reacted = way_m <= settings_.tolerance_m || motion.held_at_start;
  motion_ = motion;
  holding_.reset();
  target_opening_m_ = move.opening_m;
  stalled_ = slipped_ = gripping_ = false;
  rest_angle_rad_ = motor_.angle_rad;
  rest_since_s_ = now_s;
  settled_since_s_ = pressing_since_s_ = -1.0;
  enter(Phase::kMoving, now_s);
  sendMotion(now_s);
}

// Limit first, then speed, then the target. With an unknown dialect the first attempt uses the code
// that only one of both knows, so that the reaction tells which it is; a grip that is to be
// tightened shows no reaction, so it gets the code that both know.
void Supervisor::sendMotion(double now_s) {
  Motion& motion = *motion_;
  ++motion.attempt;
  motion.sent_s = now_s;
  sendLimit(now_s, motion.limit_a);
  const double slope = openingSlope(std::clamp(motor_.angle_rad, 0.0, kMaxCommandAngleRad));
  appendVelocity(writes_, dialect_, motion.speed_m_s / slope);
  motion.command = positionCommand(dialect_);
  if (dialect_ == Dialect::kAuto && motion.attempt == 1 && !motion.reacted) {
    motion.command = Command::kPositionSpeed;
  }
  appendFrame(writes_, motion.command, static_cast<float>(motion.target_angle_rad));
}

void Supervisor::trackRest(double now_s) {
  if (std::abs(motor_.angle_rad - rest_angle_rad_) > kRestRad) {
    rest_angle_rad_ = motor_.angle_rad;
    rest_since_s_ = now_s;
  }
  if (!motion_)
    return;
  const bool near = std::abs(opening() - motion_->target_opening_m) <= settings_.tolerance_m;
  if (!near || std::abs(motor_.speed_rad_s) > kRestRateRadS) {
    settled_since_s_ = -1.0;
  } else if (settled_since_s_ < 0.0) {
    settled_since_s_ = now_s;
  }
  if (near || !pressing(motion_->direction, motion_->limit_a)) {
    pressing_since_s_ = -1.0;
  } else if (pressing_since_s_ < 0.0) {
    pressing_since_s_ = now_s;
  }
}

void Supervisor::confirmReaction(double now_s) {
  Motion& motion = *motion_;
  const double turned_rad = (motor_.angle_rad - motion.start_angle_rad) * motion.direction;
  const bool reacted =
      motor_time_s_ > motion.sent_s && (turned_rad > kRestRad || pressing_since_s_ > motion.sent_s);
  if (reacted) {
    motion.reacted = true;
    if (dialect_ != Dialect::kAuto)
      return;
    dialect_ = motion.command == Command::kPositionSpeed ? Dialect::kRos : Dialect::kSdk;
    emit({EventType::kDialect, now_s, motion.id, EndReason::kCompleted, opening(), {}});
    if (dialect_ == Dialect::kRos) {
      const double slope = openingSlope(std::clamp(motor_.angle_rad, 0.0, kMaxCommandAngleRad));
      appendVelocity(writes_, dialect_, motion.speed_m_s / slope);
    }
    return;
  }
  if (now_s - motion.sent_s <= settings_.timing.resend_s)
    return;
  if (motion.attempt < (dialect_ == Dialect::kAuto ? 3 : 2)) {
    sendMotion(now_s);
    return;
  }
  fault(now_s,
        {code::kIgnored,
         format("the gripper neither turned nor pressed within %.0f ms of the command to open "
                "%.1f mm, sent %d times: power-cycle it and check gripper.dialect, then recover",
                (now_s - motion.start_s) * 1e3, motion.target_opening_m * 1e3, motion.attempt)});
}

void Supervisor::stepMotion(double now_s) {
  if (!motion_->reacted) {
    confirmReaction(now_s);
    if (!motion_)
      return;
  }
  const Motion& motion = *motion_;
  const Timing& timing = settings_.timing;
  // Enough fresh telemetry since the command, so that an old rest is not taken for its end.
  const bool fresh = motor_count_ >= 3;
  if (fresh && settled_since_s_ >= 0.0 && now_s - settled_since_s_ >= timing.settle_s) {
    return endMotion(now_s, EndReason::kCompleted);
  }
  const bool at_rest = now_s - rest_since_s_ >= timing.stall_s;
  const bool presses = pressing_since_s_ >= 0.0 && now_s - pressing_since_s_ >= timing.stall_s / 2;
  if (fresh && motion.reacted && at_rest && presses) {
    const double way_m = std::abs(opening() - motion.start_opening_m);
    if (way_m >= kLeastWayM || motion.held_at_start)
      return endMotion(now_s, EndReason::kStalled);
    sendPosition(motor_.angle_rad);
    return endMotion(
        now_s, EndReason::kTimeout,
        {code::kStuck,
         format("the gripper pressed with %.2f A and did not move from %.1f mm: the "
                "fingers are jammed, or touch something already; look, then open first",
                std::abs(motor_.current_a), opening() * 1e3)});
  }
  if (now_s < motion.deadline_s)
    return;
  const double target_m = motion.target_opening_m;
  sendPosition(motor_.angle_rad);
  endMotion(
      now_s, EndReason::kTimeout,
      {code::kTimeout, format("the gripper is at %.1f mm, not at %.1f mm, %.1f s after the "
                              "command, and does not press: look at the fingers, then move again",
                              opening() * 1e3, target_m * 1e3, now_s - motion.start_s)});
}

void Supervisor::endMotion(double now_s, EndReason reason, Failure failure) {
  const Motion motion = *motion_;
  motion_.reset();
  stalled_ = reason == EndReason::kStalled;
  gripping_ = stalled_ && motion.direction < 0;
  grip_opening_m_ = opening();
  slip_count_ = 0;
  if (stalled_ && std::abs(std::abs(motor_.current_a) - motion.limit_a) <= 0.2 * motion.limit_a) {
    limit_observed_ = true;
  }
  if (phase_ == Phase::kMoving)
    enter(Phase::kReady, now_s);
  emit({EventType::kMotionEnded, now_s, motion.id, reason, opening(), std::move(failure)});
}

void Supervisor::hold(double now_s) {
  if (pending_) {
    emit({EventType::kMotionEnded, now_s, pending_->id, EndReason::kStopped, opening(), {}});
    pending_.reset();
  }
  if (!motion_)
    return;
  const Motion motion = *motion_;
  const bool keeps = motion.held_at_start || pressing(motion.direction, motion.limit_a);
  if (!keeps) {
    holding_ = Holding{now_s, now_s, motor_.angle_rad, 0};
    sendHold(now_s);
  }
  endMotion(now_s, EndReason::kStopped);
  stalled_ = keeps;
  gripping_ = keeps && motion.direction < 0;
}

void Supervisor::sendHold(double now_s) {
  sendPosition(motor_.angle_rad);
  target_opening_m_ = std::clamp(opening(), 0.0, kMaxCommandOpeningM);
  holding_->sent_s = now_s;
  holding_->angle_rad = motor_.angle_rad;
  ++holding_->attempt;
}

// The protocol acknowledges nothing, and a hold that was lost leaves the fingers on their way.
void Supervisor::watchHold(double now_s) {
  if (!holding_)
    return;
  const bool at_rest = std::abs(motor_.angle_rad - holding_->angle_rad) <= kHeldNearRad &&
                       std::abs(motor_.speed_rad_s) <= kRestRateRadS &&
                       motor_time_s_ - std::max(rest_since_s_, holding_->sent_s) >= kHeldS;
  if (at_rest) {
    holding_.reset();
    return;
  }
  if (now_s - holding_->sent_s <= settings_.timing.resend_s)
    return;
  if (holding_->attempt < kHoldAttempts)
    return sendHold(now_s);
  fault(now_s, {code::kIgnored,
                format("the gripper still turns %.0f ms after it was told to hold, %d times: take "
                       "its power, look at it, then recover",
                       (now_s - holding_->start_s) * 1e3, holding_->attempt)});
}

void Supervisor::watchGrip(double now_s) {
  if (!gripping_)
    return;
  const double moved_m = opening() - grip_opening_m_;
  if (std::abs(moved_m) <= settings_.slip_m) {
    slip_count_ = 0;
    return;
  }
  if (++slip_count_ < 2)
    return;
  gripping_ = false;
  slipped_ = true;
  stalled_ = pressing(-1, limit_a_) && opening() - target_opening_m_ > settings_.tolerance_m;
  emit({EventType::kSlipped,
        now_s,
        0,
        EndReason::kCompleted,
        opening(),
        {"gripper_slipped",
         format("the fingers %s from %.1f mm to %.1f mm while they held: what they "
                "held moved or is lost",
                moved_m < 0 ? "closed" : "opened", grip_opening_m_ * 1e3, opening() * 1e3)}});
}

}  // namespace s2r::gripper
