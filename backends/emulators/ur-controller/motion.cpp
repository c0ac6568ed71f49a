#include "backends/emulators/ur-controller/motion.h"

#include <algorithm>

namespace s2r::ur {

namespace {
constexpr double kRatePerSecond = 4;  // the slider goes from full to nothing in a quarter second
}

void Motion::reset(const Joints& q_rad) {
  target_.q = q_rad;
  target_.qd.setZero();
  qdd_.setZero();
  mover_.reset();
  suspended_.reset();
}

void Motion::servo(Shared<const ServoTarget> target) {
  mover_ = servoMover(target_, rate_, std::move(target));
}

void Motion::servoC(Shared<const ServoCTarget> target) {
  mover_ = servoCMover(arm_, target_, std::move(target));
}

void Motion::speed(Shared<const SpeedTarget> target) {
  mover_ = speedMover(arm_, target_, rate_, std::move(target));
}

void Motion::path(std::vector<PathLeg> legs, Shared<int> progress) {
  mover_ = pathMover(arm_, target_, std::move(legs), std::move(progress));
}

void Motion::torque(const Payload& payload, Shared<const Joints> torque_nm) {
  mover_ = torqueMover(arm_, payload, std::move(torque_nm));
}

Transform Motion::waypoint() const {
  const std::optional<Transform> goal = mover_ ? mover_->waypoint() : std::nullopt;
  return goal ? *goal : arm_.tool(target_.q);
}

void Motion::suspend(double deceleration) {
  if (mover_ && !suspended_) {
    suspended_ = std::move(mover_);
  }
  mover_ = stopJointsMover(deceleration);
}

void Motion::resume() {
  if (suspended_) {
    suspended_->resumeFrom(target_);
    mover_ = std::move(suspended_);
  }
}

void Motion::drop(double deceleration) {
  suspended_.reset();
  mover_ = stopJointsMover(deceleration);
}

void Motion::step() {
  const double most = kRatePerSecond * kCycleS;
  rate_ += std::clamp(rate_wanted_ - rate_, -most, most);
  const Joints qd_before = target_.qd;
  if (mover_) {
    if (mover_->step(target_, rate_)) {
      mover_.reset();
      target_.qd.setZero();
    }
  } else {
    target_.qd.setZero();
  }
  qdd_ = (target_.qd - qd_before) / kCycleS;
}

}  // namespace s2r::ur
