// stopj and stopl: every joint slows down in proportion, so that the arm keeps its direction. They
// work in real time: neither the slider nor a pause stretches them.
#include <algorithm>

#include "backends/emulators/ur-controller/mover.h"

namespace s2r::ur {

namespace {

constexpr double kHardestStop = 60;  // rad/s^2 of any joint, whatever the call asks for

// Scales the velocity by the share that is left after this cycle; true at standstill.
bool slow(TargetState& state, double speed, double deceleration) {
  const double joint_speed = state.qd.cwiseAbs().maxCoeff();
  if (joint_speed < 1e-9 || speed < 1e-9) {
    state.qd.setZero();
    return true;
  }
  const double share =
      std::max({0.0, 1 - deceleration * kCycleS / speed, 1 - kHardestStop * kCycleS / joint_speed});
  state.qd *= share;
  state.q += kCycleS * state.qd;
  return share <= 0;
}

class StopJoints : public Mover {
 public:
  explicit StopJoints(double deceleration) : deceleration_(deceleration) {}
  bool step(TargetState& state, double) override {
    return slow(state, state.qd.cwiseAbs().maxCoeff(), deceleration_);
  }
  void resumeFrom(const TargetState&) override {}

 private:
  double deceleration_;
};

class StopTool : public Mover {
 public:
  StopTool(const Arm& arm, double deceleration) : arm_(arm), deceleration_(deceleration) {}
  bool step(TargetState& state, double) override {
    // A turn counts as the speed of a point a quarter of a metre away.
    constexpr double kTurnRadiusM = 0.25;
    const Joints twist = arm_.jacobian(state.q) * state.qd;
    const double speed = std::max(twist.head<3>().norm(), kTurnRadiusM * twist.tail<3>().norm());
    const double joints = state.qd.cwiseAbs().maxCoeff();
    if (speed < 1e-6 && joints > 1e-6) {  // the tool stands while joints move
      return slow(state, joints, deceleration_);
    }
    return slow(state, speed, deceleration_);
  }
  void resumeFrom(const TargetState&) override {}

 private:
  const Arm& arm_;
  double deceleration_;
};

}  // namespace

std::unique_ptr<Mover> stopJointsMover(double deceleration) {
  return std::make_unique<StopJoints>(std::max(deceleration, 0.01));
}

std::unique_ptr<Mover> stopToolMover(const Arm& arm, double deceleration) {
  return std::make_unique<StopTool>(arm, std::max(deceleration, 0.01));
}

}  // namespace s2r::ur
