#include "native/arm/core/tracker.h"

#include <cmath>

namespace s2r::arm {
namespace {

constexpr double kInside = 0.999;
// Poles of the linear law [1/s]: an error of a millimetre at the tool is followed softly, noise of
// a plan is not.
constexpr double kBandwidth = 60;
// Below these a braking joint is at rest.
constexpr double kRestSpeed = 1e-7, kRestAcceleration = 1e-4;

bool withinLimits(const AxisState& from,
                  double jerk,
                  const AxisState& to,
                  const AxisLimits& limits) {
  if (!(std::abs(jerk) <= limits.j) || !(std::abs(to.a) <= limits.a) ||
      !isRecoverable(to, limits)) {
    return false;
  }
  // Where the acceleration changes sign within the period, the speed peaks there.
  if (from.a * to.a < 0) {
    return std::abs(from.v - from.a * from.a / (2 * jerk)) <= limits.v;
  }
  return true;
}

// Brings acceleration to what lets velocity reach zero without overshoot, at the full jerk: always
// within limits.
void brakePlainly(const AxisLimits& limits, AxisState& state) {
  const double want = -std::copysign(
      std::min(limits.a, std::sqrt(2 * limits.j * std::abs(state.v)) * 0.7), state.v);
  const double jerk = std::clamp((want - state.a) / kPeriod_s, -limits.j, limits.j);
  state = advance(state, jerk, kPeriod_s);
}

}  // namespace

AxisState advance(const AxisState& s, double jerk, double dt) noexcept {
  return {s.p + dt * (s.v + dt * (s.a / 2 + dt * jerk / 6)), s.v + dt * (s.a + dt * jerk / 2),
          s.a + dt * jerk};
}

bool isRecoverable(const AxisState& s, const AxisLimits& limits) noexcept {
  return std::abs(s.v) <= limits.v &&
         std::abs(s.v + s.a * std::abs(s.a) / (2 * limits.j)) <= limits.v;
}

bool AxisTracker::first(ruckig::ControlInterface interface, AxisState& state) noexcept {
  input_.control_interface = interface;
  bool interrupted = false;
  if (calculator_.calculate<false>(input_, profile_, kPeriod_s, interrupted) !=
      ruckig::Result::Working) {
    return false;
  }
  double p = 0, v = 0, a = 0;
  profile_.at_time(kPeriod_s, p, v, a);
  if (!std::isfinite(p) || !std::isfinite(v) || !std::isfinite(a)) {
    return false;
  }
  state = {p, v, a};
  return true;
}

bool AxisTracker::follow(const AxisReference& r,
                         const AxisLimits& limits,
                         bool moves,
                         AxisState& state) noexcept {
  const double w = kBandwidth;
  const double wanted =
      r.j + 3 * w * (r.a - state.a) + 3 * w * w * (r.v - state.v) + w * w * w * (r.p - state.p);
  const AxisState next = advance(state, wanted, kPeriod_s);
  if (moves && withinLimits(state, wanted, next, limits)) {
    state = next;
    return true;
  }
  const double frame_v = std::clamp(r.v, -0.98 * limits.v, 0.98 * limits.v);
  input_.current_position[0] = state.p - r.p;
  input_.current_velocity[0] = state.v - frame_v;
  input_.current_acceleration[0] = state.a;
  input_.target_position[0] = input_.target_velocity[0] = 0;
  // Arriving with the reference's acceleration, as far as the velocity limit lets it be taken back
  // again.
  const double room = std::sqrt(1.9 * limits.j * (limits.v - std::abs(frame_v)));
  const double target_a = std::min(0.99 * limits.a, room);
  input_.target_acceleration[0] = std::clamp(r.a, -target_a, target_a);
  input_.max_velocity[0] = limits.v - frame_v;
  input_.min_velocity = std::array<double, 1>{-limits.v - frame_v};
  input_.max_acceleration[0] = limits.a;
  input_.max_jerk[0] = limits.j;
  AxisState relative;
  if (first(ruckig::ControlInterface::Position, relative)) {
    state = {r.p + frame_v * kPeriod_s + relative.p, frame_v + relative.v, relative.a};
    return true;
  }
  brakePlainly(limits, state);
  return false;
}

bool AxisTracker::brake(const AxisLimits& limits, AxisState& state) noexcept {
  if (std::abs(state.v) < kRestSpeed && std::abs(state.a) < kRestAcceleration) {
    state.v = state.a = 0;
    return true;
  }
  input_.current_position[0] = state.p;
  input_.current_velocity[0] = state.v;
  input_.current_acceleration[0] = state.a;
  input_.target_velocity[0] = input_.target_acceleration[0] = 0;
  input_.max_velocity[0] = limits.v;
  input_.min_velocity.reset();
  input_.max_acceleration[0] = limits.a;
  input_.max_jerk[0] = limits.j;
  if (first(ruckig::ControlInterface::Velocity, state)) {
    return true;
  }
  brakePlainly(limits, state);
  return false;
}

JointTracker::JointTracker(const CoreConfig& config) {
  for (size_t i = 0; i < kJoints; ++i) {
    const JointLimits& l = config.limits[i];
    limits_[i] = {kInside * l.velocity_rad_s, kInside * l.acceleration_rad_s2,
                  kInside * l.jerk_rad_s3};
  }
}

void JointTracker::rest(const Joints& q_rad) noexcept {
  for (size_t i = 0; i < kJoints; ++i) {
    state_[i] = {q_rad[i], 0, 0};
  }
}

void JointTracker::follow(const std::array<AxisReference, kJoints>& reference) noexcept {
  for (size_t i = 0; i < kJoints; ++i) {
    fallbacks_ += trackers_[i].follow(reference[i], limits_[i], true, state_[i]) ? 0 : 1;
  }
}

void JointTracker::approach(const Joints& target_rad) noexcept {
  for (size_t i = 0; i < kJoints; ++i) {
    fallbacks_ +=
        trackers_[i].follow({target_rad[i], 0, 0, 0}, limits_[i], false, state_[i]) ? 0 : 1;
  }
}

void JointTracker::brake() noexcept {
  for (size_t i = 0; i < kJoints; ++i) {
    fallbacks_ += trackers_[i].brake(limits_[i], state_[i]) ? 0 : 1;
  }
}

bool JointTracker::atRest() const noexcept {
  for (const AxisState& s : state_) {
    if (s.v != 0 || s.a != 0) {
      return false;
    }
  }
  return true;
}

Joints JointTracker::position() const noexcept {
  Joints q;
  for (size_t i = 0; i < kJoints; ++i) {
    q[i] = state_[i].p;
  }
  return q;
}

}  // namespace s2r::arm
