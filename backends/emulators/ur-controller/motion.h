// The joint target of the arm and what moves it. No clock, no sockets: one step a cycle.
#pragma once

#include "backends/emulators/ur-controller/mover.h"

namespace s2r::ur {

class Motion {
 public:
  explicit Motion(const Arm& arm) : arm_(arm) {}

  // Takes a position at rest; whatever moved the arm is dropped.
  void reset(const Joints& q_rad);
  void start(std::unique_ptr<Mover> mover) { mover_ = std::move(mover); }
  // Program calls.
  void stopJoints(double deceleration) { mover_ = stopJointsMover(deceleration); }
  void stopTool(double deceleration) { mover_ = stopToolMover(arm_, deceleration); }
  void servo(Shared<const ServoTarget> target);
  void servoC(Shared<const ServoCTarget> target);
  void speed(Shared<const SpeedTarget> target);
  void path(std::vector<PathLeg> legs, Shared<int> progress);
  void torque(const Payload& payload, Shared<const Joints> torque_nm);
  // A stop from outside the program: the motion under way is kept aside for resume().
  void suspend(double deceleration);
  void resume();
  void drop(double deceleration);  // as suspend, but the motion is forgotten

  // Share of full speed that is asked for; followed at a bounded rate.
  void setRate(double wanted) { rate_wanted_ = wanted; }
  [[nodiscard]] double rate() const { return rate_; }

  void step();
  [[nodiscard]] bool idle() const { return mover_ == nullptr; }
  [[nodiscard]] bool standing() const { return target_.qd.cwiseAbs().maxCoeff() < 1e-9; }
  [[nodiscard]] const TargetState& target() const { return target_; }
  // Pose that the motion under way ends its present leg at, else the tool's own.
  [[nodiscard]] Transform waypoint() const;
  [[nodiscard]] const Joints& acceleration() const { return qdd_; }

 private:
  const Arm& arm_;
  TargetState target_;
  Joints qdd_ = Joints::Zero();
  double rate_ = 1, rate_wanted_ = 1;
  std::unique_ptr<Mover> mover_, suspended_;
};

}  // namespace s2r::ur
