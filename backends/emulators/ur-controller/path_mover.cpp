// movej, movel and paths of them. Each leg has a trapezoidal speed profile. Where a leg has a blend
// radius and the next is of the same kind, the next starts as soon as the tool is within the
// radius, its displacement added to what is left of the first: the corner is rounded and the arm
// keeps moving.
#include <algorithm>
#include <cmath>
#include <deque>

#include "backends/emulators/ur-controller/mover.h"
#include "backends/emulators/ur-controller/trapezoid.h"

namespace s2r::ur {

namespace {

// The maker publishes no limit of the tool's turning in a movel; these keep wrists within theirs.
constexpr double kTurnSpeed = 1.5, kTurnAcceleration = 6;

struct RunningLeg {
  Joints dq = Joints::Zero();
  Vec3 dp = Vec3::Zero(), turn = Vec3::Zero();
  Trapezoid profile;  // of the share 0..1
  double time_s = 0;
  [[nodiscard]] double share() const { return profile.at(time_s); }
  [[nodiscard]] bool ended() const { return time_s >= profile.duration(); }
};

class PathMover : public Mover {
 public:
  PathMover(const Arm& arm,
            const TargetState& start,
            std::vector<PathLeg> legs,
            Shared<int> progress)
      : arm_(arm), legs_(std::move(legs)), progress_(std::move(progress)) {
    for (const PathLeg& leg : legs_) {
      if (!(leg.speed > 0) || !(leg.acceleration > 0)) {
        throw ScriptError("a move needs a speed and an acceleration above 0");
      }
    }
    resumeFrom(start);
  }

  bool step(TargetState& state, double rate) override {
    if (braking_) {
      if (!braking_->step(state, 1)) {
        return false;
      }
      braking_.reset();
      base_q_ = state.q;
      base_X_ = arm_.tool(state.q);
    }
    if (running_.empty() && !startNext()) {
      state.qd.setZero();
      return true;
    }
    for (RunningLeg& leg : running_) {
      leg.time_s += kCycleS * rate;
    }
    const Joints q_before = state.q;
    state.q = present(state.q);
    state.qd = (state.q - q_before) / kCycleS;
    retire(state.q);
    blend(state.q);
    if (running_.empty() && next_ >= legs_.size()) {
      state.qd.setZero();
      return true;
    }
    return false;
  }

  void resumeFrom(const TargetState& state) override {
    // A leg that had begun is begun again from here.
    if (!running_.empty()) {
      next_ -= running_.size();
      running_.clear();
    }
    base_q_ = state.q;
    base_X_ = arm_.tool(state.q);
    if (state.qd.cwiseAbs().maxCoeff() > 1e-6 && next_ < legs_.size()) {
      braking_ = legs_[next_].cartesian ? stopToolMover(arm_, legs_[next_].acceleration)
                                        : stopJointsMover(legs_[next_].acceleration);
    }
  }

  [[nodiscard]] std::optional<Transform> waypoint() const override {
    return legs_.empty() ? std::nullopt
                         : std::optional(cornerOf(legs_[next_ == 0 ? 0 : next_ - 1]));
  }

 private:
  [[nodiscard]] Joints present(const Joints& seed) const {
    if (!running_cartesian_) {
      Joints q = base_q_;
      for (const RunningLeg& leg : running_) {
        q += leg.share() * leg.dq;
      }
      return q;
    }
    Transform X = base_X_;
    for (const RunningLeg& leg : running_) {
      const double share = leg.share();
      X.translation() += share * leg.dp;
      X.linear() = pose::rotationOf(share * leg.turn) * X.linear();
    }
    const std::optional<Joints> q = arm_.follow(X, seed);
    if (!q) {
      throw ProtectiveStop(153, "movel: no solution of the inverse kinematics on the line");
    }
    return *q;
  }

  // Legs end in the order in which they started; what they covered becomes the base.
  void retire(const Joints& q) {
    while (!running_.empty() && running_.front().ended()) {
      const RunningLeg& leg = running_.front();
      base_q_ = running_cartesian_ ? q : Joints(base_q_ + leg.dq);
      base_X_.translation() += leg.dp;
      base_X_.linear() = pose::rotationOf(leg.turn) * base_X_.linear();
      if (!running_cartesian_) {
        base_X_ = arm_.tool(base_q_);
      }
      running_.pop_front();
    }
  }

  void blend(const Joints& q) {
    if (running_.empty() || next_ >= legs_.size() || next_ == 0) {
      return;
    }
    const PathLeg& corner = legs_[next_ - 1];
    if (corner.blend_m <= 0 || corner.cartesian != legs_[next_].cartesian) {
      return;
    }
    const Vec3 at = arm_.tool(q).translation();
    if ((at - cornerOf(corner).translation()).norm() <= corner.blend_m) {
      startNext();
    }
  }

  [[nodiscard]] Transform cornerOf(const PathLeg& leg) const {
    return leg.cartesian ? leg.X_base_tcp : arm_.tool(leg.q_rad);
  }

  bool startNext() {
    if (next_ >= legs_.size()) {
      return false;
    }
    const PathLeg& leg = legs_[next_];
    // The corner that this leg starts from is where all running legs end.
    Joints from_q = base_q_;
    Transform from_X = base_X_;
    for (const RunningLeg& before : running_) {
      from_q += before.dq;
      from_X.translation() += before.dp;
      from_X.linear() = pose::rotationOf(before.turn) * from_X.linear();
    }
    RunningLeg run;
    if (leg.cartesian) {
      run.dp = leg.X_base_tcp.translation() - from_X.translation();
      run.turn = pose::rotationBetween(from_X.linear(), leg.X_base_tcp.linear());
      const double way = run.dp.norm(), angle = run.turn.norm();
      double speed = 1e9, acceleration = 1e9;
      if (way > 1e-9) {
        speed = leg.speed / way, acceleration = leg.acceleration / way;
      }
      if (angle > 1e-9) {
        speed = std::min(speed, kTurnSpeed / angle);
        acceleration = std::min(acceleration, kTurnAcceleration / angle);
      }
      run.profile = way < 1e-9 && angle < 1e-9 ? Trapezoid() : Trapezoid(1, speed, acceleration);
    } else {
      run.dq = leg.q_rad - from_q;
      const double way = run.dq.cwiseAbs().maxCoeff();
      run.profile =
          way < 1e-12 ? Trapezoid() : Trapezoid(1, leg.speed / way, leg.acceleration / way);
    }
    running_cartesian_ = leg.cartesian;
    running_.push_back(run);
    ++next_;
    if (leg.progress >= 0 && progress_) {
      *progress_ = leg.progress;
    }
    return true;
  }

  const Arm& arm_;
  std::vector<PathLeg> legs_;
  Shared<int> progress_;
  std::size_t next_ = 0;
  std::deque<RunningLeg> running_;
  bool running_cartesian_ = false;
  Joints base_q_ = Joints::Zero();
  Transform base_X_ = Transform::Identity();
  std::unique_ptr<Mover> braking_;
};

}  // namespace

std::unique_ptr<Mover> pathMover(const Arm& arm,
                                 const TargetState& start,
                                 std::vector<PathLeg> legs,
                                 Shared<int> progress) {
  return std::make_unique<PathMover>(arm, start, std::move(legs), std::move(progress));
}

}  // namespace s2r::ur
