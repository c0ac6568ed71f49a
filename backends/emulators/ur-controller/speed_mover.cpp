// speedj and speedl: the present velocity goes to the commanded one at constant acceleration and
// stays there for as long as the program repeats the call.
#include <algorithm>

#include "backends/emulators/ur-controller/mover.h"

namespace s2r::ur {

namespace {

// Moves `from` towards `to`, at most by `most` in the norm given.
template <typename V>
V approach(const V& from, const V& to, double most, double distance) {
  return distance <= most ? to : V(from + (to - from) * (most / distance));
}

class SpeedMover : public Mover {
 public:
  SpeedMover(const Arm& arm,
             const TargetState& start,
             double rate,
             Shared<const SpeedTarget> target)
      : arm_(arm), target_(std::move(target)), qd_program_(start.qd / std::max(rate, 0.05)) {}

  bool step(TargetState& state, double rate) override {
    const double dt = kCycleS * rate, most = target_->acceleration * dt;
    const Joints& goal = target_->velocity;
    if (target_->cartesian) {
      Joints twist = arm_.jacobian(state.q) * qd_program_;
      twist.head<3>() =
          approach<Vec3>(twist.head<3>(), goal.head<3>(), most, (goal - twist).head<3>().norm());
      twist.tail<3>() =
          approach<Vec3>(twist.tail<3>(), goal.tail<3>(), most, (goal - twist).tail<3>().norm());
      const std::optional<Joints> qd = arm_.jointSpeeds(state.q, twist);
      if (!qd) {
        throw ProtectiveStop(153, "speedl next to a singularity");
      }
      qd_program_ = *qd;
    } else {
      qd_program_ =
          approach<Joints>(qd_program_, goal, most, (goal - qd_program_).cwiseAbs().maxCoeff());
    }
    state.q += dt * qd_program_;
    state.qd = rate * qd_program_;
    return false;
  }

  void resumeFrom(const TargetState& state) override { qd_program_ = state.qd; }

 private:
  const Arm& arm_;
  Shared<const SpeedTarget> target_;
  Joints qd_program_;
};

// servoc: the tool runs towards the newest pose at limited speed and acceleration and slows down to
// arrive at rest; the blend radius only tells when a real controller would take the next pose.
class ServoCMover : public Mover {
 public:
  ServoCMover(const Arm& arm, const TargetState& start, Shared<const ServoCTarget> target)
      : arm_(arm), target_(std::move(target)) {
    resumeFrom(start);
  }

  bool step(TargetState& state, double rate) override {
    constexpr double kTurnSpeed = 1.5, kTurnAcceleration = 6;
    const double dt = kCycleS * rate;
    const Transform X = arm_.tool(state.q);
    Joints twist;
    twist.head<3>() = towards(target_->X_base_tcp.translation() - X.translation(), twist_.head<3>(),
                              target_->speed, target_->acceleration, dt);
    twist.tail<3>() = towards(pose::rotationBetween(X.linear(), target_->X_base_tcp.linear()),
                              twist_.tail<3>(), kTurnSpeed, kTurnAcceleration, dt);
    twist_ = twist;
    const std::optional<Joints> qd = arm_.jointSpeeds(state.q, twist);
    if (!qd) {
      throw ProtectiveStop(153, "servoc next to a singularity");
    }
    state.q += dt * *qd;
    state.qd = rate * *qd;
    return false;
  }

  void resumeFrom(const TargetState& state) override { twist_ = arm_.jacobian(state.q) * state.qd; }

 private:
  static Vec3 towards(const Vec3& way,
                      const Vec3& now,
                      double speed,
                      double acceleration,
                      double dt) {
    const double distance = way.norm();
    const double allowed =
        std::min({speed, std::sqrt(2 * acceleration * distance), dt > 0 ? distance / dt : 0.0});
    const Vec3 wanted = distance > 0 ? Vec3(way * (allowed / distance)) : Vec3::Zero();
    return approach<Vec3>(now, wanted, 1.5 * acceleration * dt, (wanted - now).norm());
  }

  const Arm& arm_;
  Shared<const ServoCTarget> target_;
  Joints twist_;
};

}  // namespace

std::unique_ptr<Mover> speedMover(const Arm& arm,
                                  const TargetState& start,
                                  double rate,
                                  Shared<const SpeedTarget> target) {
  return std::make_unique<SpeedMover>(arm, start, rate, std::move(target));
}

std::unique_ptr<Mover> servoCMover(const Arm& arm,
                                   const TargetState& start,
                                   Shared<const ServoCTarget> target) {
  return std::make_unique<ServoCMover>(arm, start, std::move(target));
}

}  // namespace s2r::ur
