// servoj: the maker documents gain as the P term on the position error and lookahead as the time by
// which the present position is projected ahead with the present velocity. Taken literally that is
//   qdd = gain * (q_target - (q + lookahead * qd)),
// a second-order follower of natural frequency sqrt(gain) and damping ratio lookahead * sqrt(gain)
// / 2: a low lookahead or a high gain overshoots, a high lookahead lags by about that time.
// A call lasts `time_s` of program time, so at reduced speed scaling setpoints are skipped.
#include "backends/emulators/ur-controller/mover.h"

namespace s2r::ur {

namespace {

class ServoMover : public Mover {
 public:
  ServoMover(const TargetState& start, double rate, Shared<const ServoTarget> target)
      : target_(std::move(target)), qd_program_(start.qd / std::max(rate, 0.05)) {
    call_ = *target_;
  }

  bool step(TargetState& state, double rate) override {
    const double dt = kCycleS * rate;
    if (left_s_ <= 1e-9) {
      call_ = *target_;
      left_s_ = std::max(call_.time_s, kCycleS);
    }
    left_s_ -= dt;
    // Semi-implicit Euler with the damping taken implicitly: stable for every gain allowed.
    const Joints error = call_.q_rad - state.q;
    const double damping = call_.gain * call_.lookahead_s;
    qd_program_ = (qd_program_ + dt * call_.gain * error) / (1 + dt * damping);
    state.q += dt * qd_program_;
    state.qd = rate * qd_program_;
    return false;
  }

  void resumeFrom(const TargetState& state) override { qd_program_ = state.qd; }

 private:
  Shared<const ServoTarget> target_;
  ServoTarget call_;
  Joints qd_program_;
  double left_s_ = 0;
};

}  // namespace

std::unique_ptr<Mover> servoMover(const TargetState& start,
                                  double rate,
                                  Shared<const ServoTarget> target) {
  return std::make_unique<ServoMover>(start, rate, std::move(target));
}

}  // namespace s2r::ur
