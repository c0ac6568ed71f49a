#include "native/arm/core/motion_parts.h"

#include <cmath>

namespace s2r::arm {
namespace {

// Where the path hardly moves, its rate may change as fast as this [1/s, 1/s2].
constexpr double kRateChange = 25, kRateJerk = 2000;
// Where the path already takes a joint's acceleration, braking along it gets at least this share of
// the limit.
constexpr double kLeastShare = 0.25;
constexpr double kAccelerationShare = 0.9, kJerkShare = 0.65;
constexpr double kSpeedMemory_s = 0.15;
// The gate's tolerance on what differences of positions show of limits: rounding, no more.
constexpr double kRounding = 1e-3;
constexpr double kPositionSlack_rad = 1e-3;

}  // namespace

void TimeScale::begin(double rate) noexcept {
  s_ = change_ = 0;
  rate_ = rate;
}

double TimeScale::fastest(const Path::Point& here,
                          const std::array<AxisLimits, kJoints>& limits) noexcept {
  double rate = 1;
  for (size_t i = 0; i < kJoints; ++i) {
    const double speed = std::abs(here.dq[i]);
    if (speed * rate > 0.98 * limits[i].v) {
      rate = 0.98 * limits[i].v / speed;
    }
  }
  return rate;
}

bool TimeScale::step(double target,
                     const Path::Point& here,
                     const std::array<AxisLimits, kJoints>& limits) noexcept {
  // A joint's acceleration is q'' rate^2 + q' change.
  double acceleration = kRateChange, jerk = kRateJerk;
  const bool braking = target < rate_;
  for (size_t i = 0; i < kJoints; ++i) {
    const double slope = std::abs(here.dq[i]);
    if (slope < 1e-6) {
      continue;
    }
    const double along = std::copysign(1.0, here.dq[i]) * here.ddq[i] * rate_ * rate_;
    const double room = kAccelerationShare * limits[i].a + (braking ? along : -along);
    acceleration = std::min(acceleration, std::max(room, kLeastShare * limits[i].a) / slope);
    // Its jerk is q''' rate^3 + 3 q'' rate change + q' (change of change).
    const double taken = 3 * std::abs(here.ddq[i] * rate_ * change_);
    jerk = std::min(jerk,
                    std::max(kJerkShare * limits[i].j - taken, kLeastShare * limits[i].j) / slope);
  }
  input_.control_interface = ruckig::ControlInterface::Velocity;
  input_.current_position[0] = s_;
  input_.current_velocity[0] = rate_;
  input_.current_acceleration[0] = change_;
  input_.target_velocity[0] = target;
  input_.target_acceleration[0] = 0;
  input_.max_velocity[0] = 10;
  input_.max_acceleration[0] = acceleration;
  input_.max_jerk[0] = jerk;
  bool interrupted = false;
  double s = 0, rate = 0, change = 0;
  const bool found = calculator_.calculate<false>(input_, profile_, kPeriod_s, interrupted) ==
                     ruckig::Result::Working;
  if (found) {
    profile_.at_time(kPeriod_s, s, rate, change);
  }
  if (!found || !std::isfinite(s) || !std::isfinite(rate) || !std::isfinite(change)) {
    rate_ = target;  // the joint trackers keep their limits all the same
    change_ = 0;
    s_ += rate_ * kPeriod_s;
    return false;
  }
  s_ = std::max(s_, s);
  rate_ = std::max(0.0, rate);
  change_ = rate > 0 || change > 0 ? change : 0;
  return true;
}

SetpointGate::SetpointGate(const CoreConfig& config) : config_(config) {}

void SetpointGate::restart(const Joints& q_rad) noexcept {
  q1_ = q2_ = q_rad;
  recent_speed_ = {};
}

FaultDetail SetpointGate::check(const Joints& q_rad, const ZoneChecker& zones) noexcept {
  FaultDetail fault;
  const auto found = [&fault](FaultCode code, size_t joint, double value, double limit) {
    fault.code = code;
    fault.joint = static_cast<int32_t>(joint);
    fault.value = value;
    fault.limit = limit;
    return fault;
  };
  for (size_t i = 0; i < kJoints; ++i) {
    const JointLimits& l = config_.limits[i];
    if (!std::isfinite(q_rad[i])) {
      return found(FaultCode::kGateNotFinite, i, 0, 0);
    }
    const double speed = std::abs(q_rad[i] - q1_[i]) / kPeriod_s;
    if (speed > l.velocity_rad_s * (1 + kRounding)) {
      return found(FaultCode::kGateVelocity, i, speed, l.velocity_rad_s);
    }
    const double acceleration = std::abs(q_rad[i] - 2 * q1_[i] + q2_[i]) / (kPeriod_s * kPeriod_s);
    if (acceleration > l.acceleration_rad_s2 * (1 + kRounding)) {
      return found(FaultCode::kGateAcceleration, i, acceleration, l.acceleration_rad_s2);
    }
    // Outside its range a joint may only come back.
    const double low = l.position_min_rad - kPositionSlack_rad,
                 high = l.position_max_rad + kPositionSlack_rad;
    if ((q_rad[i] < low && q_rad[i] < q1_[i]) || (q_rad[i] > high && q_rad[i] > q1_[i])) {
      return found(FaultCode::kGateJointLimit, i, q_rad[i],
                   q_rad[i] < low ? l.position_min_rad : l.position_max_rad);
    }
  }
  const ZoneChecker::Hit hit = zones.check(q_rad);
  if (hit.zone >= 0) {
    fault.code = FaultCode::kGateZone;
    fault.zone = hit.zone;
    fault.body = hit.body;
    fault.value = hit.distance_m;
    fault.limit = hit.limit_m;
    return fault;
  }
  accept(q_rad);
  return fault;
}

void SetpointGate::accept(const Joints& q_rad) noexcept {
  const double keep = 1 - kPeriod_s / kSpeedMemory_s;
  for (size_t i = 0; i < kJoints; ++i) {
    recent_speed_[i] = std::max(std::abs(q_rad[i] - q1_[i]) / kPeriod_s, keep * recent_speed_[i]);
  }
  q2_ = q1_;
  q1_ = q_rad;
}

FaultDetail SetpointGate::checkDistance(const Joints& measured_rad) const noexcept {
  FaultDetail fault;
  for (size_t i = 0; i < kJoints; ++i) {
    const double limit =
        config_.distance_base_rad + config_.distance_per_speed_s * recent_speed_[i];
    const double distance = std::abs(q1_[i] - measured_rad[i]);
    if (!(distance <= limit)) {
      fault.code = FaultCode::kGateDistance;
      fault.joint = static_cast<int32_t>(i);
      fault.value = distance;
      fault.limit = limit;
      return fault;
    }
  }
  return fault;
}

ContactGuard::ContactGuard(const CoreConfig& config)
    : default_force_n_(config.contact_force_n),
      default_torque_nm_(config.contact_torque_nm),
      filter_s_(config.wrench_filter_s) {}

bool ContactGuard::isUsable(const Guard& guard) noexcept {
  const auto limit = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!limit(guard.force_n) || !limit(guard.torque_nm)) {
    return false;
  }
  const Vector3& d = guard.direction_world;
  const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  return !guard.has_direction || (std::isfinite(squared) && squared > 1e-18);
}

void ContactGuard::measure(const Wrench& wrench, double elapsed_s) noexcept {
  const double gain =
      measured_ && filter_s_ > 0 ? 1 - std::exp(-std::max(elapsed_s, 0.0) / filter_s_) : 1;
  for (size_t i = 0; i < 6; ++i) {
    if (std::isfinite(wrench[i])) {
      filtered_[i] += gain * (wrench[i] - filtered_[i]);
    }
  }
  measured_ = true;
}

void ContactGuard::begin(const Guard& guard) noexcept {
  start_ = filtered_;
  force_limit_n_ = guard.force_n > 0 ? guard.force_n : default_force_n_;
  torque_limit_nm_ = guard.torque_nm > 0 ? guard.torque_nm : default_torque_nm_;
  has_direction_ = guard.has_direction;
  const Vector3& d = guard.direction_world;
  const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  for (size_t i = 0; i < 3; ++i) {
    direction_[i] = has_direction_ ? d[i] / length : 0;
  }
  contact_force_ = {};
  force_sum_ = 0;
  cycles_ = 0;
}

bool ContactGuard::tripped() noexcept {
  Vector3 f, t;
  for (size_t i = 0; i < 3; ++i) {
    f[i] = filtered_[i] - start_[i];
    t[i] = filtered_[i + 3] - start_[i + 3];
  }
  const double force = std::sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
  force_sum_ += force;
  ++cycles_;
  const double against = has_direction_
                             ? -(f[0] * direction_[0] + f[1] * direction_[1] + f[2] * direction_[2])
                             : force;
  const double torque = std::sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
  if (against < force_limit_n_ && torque < torque_limit_nm_) {
    return false;
  }
  contact_force_ = f;
  return true;
}

}  // namespace s2r::arm
