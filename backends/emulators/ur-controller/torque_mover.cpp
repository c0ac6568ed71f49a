// direct_torque: gravity is compensated by the controller; what is left accelerates the arm against
// friction. Accelerations stay within what the target check allows.
#include <Eigen/Dense>

#include "backends/emulators/ur-controller/mover.h"

namespace s2r::ur {

namespace {

class TorqueMover : public Mover {
 public:
  TorqueMover(const Arm& arm, const Payload& payload, Shared<const Joints> torque)
      : arm_(arm), payload_(payload), torque_(std::move(torque)) {}

  bool step(TargetState& state, double) override {
    constexpr double kViscousNms = 4, kMostRadS2 = 60;
    const pose::Matrix6 M = arm_.massMatrix(state.q, payload_);
    // Friction is taken implicitly: (M + dt B) qdd = torque - B qd - c.
    const Joints load =
        *torque_ - kViscousNms * state.qd - arm_.coriolisTorque(state.q, state.qd, payload_);
    const pose::Matrix6 A = M + kCycleS * kViscousNms * pose::Matrix6::Identity();
    Joints qdd = A.ldlt().solve(load);
    const double most = qdd.cwiseAbs().maxCoeff();
    if (most > kMostRadS2) {
      qdd *= kMostRadS2 / most;
    }
    state.qd += kCycleS * qdd;
    state.q += kCycleS * state.qd;
    return false;
  }

  void resumeFrom(const TargetState&) override {}

 private:
  const Arm& arm_;
  Payload payload_;
  Shared<const Joints> torque_;
};

}  // namespace

std::unique_ptr<Mover> torqueMover(const Arm& arm,
                                   const Payload& payload,
                                   Shared<const Joints> torque) {
  return std::make_unique<TorqueMover>(arm, payload, std::move(torque));
}

}  // namespace s2r::ur
