// Whatever comes in, in whatever order: setpoints keep their limits, epochs only rise, nothing
// starts behind a latch, and each accepted plan is released exactly once, after which it is not
// read (its memory is poisoned then).
#include <map>
#include <memory>

#include "native/arm/core/test_rig.h"

namespace s2r::arm {
namespace {

class Disorder {
 public:
  explicit Disorder(unsigned seed) : random_(seed) {
    CoreConfig config;
    config.lock_out_s = 5;
    config.recovery_limit = 16;
    config.recovery_window_s = 1;
    rig_ = std::make_unique<TestRig>(config);
  }

  void run(int cycles) {
    for (int i = 0; i < cycles && !::testing::Test::HasFatalFailure(); ++i) {
      disturb();
      ask();
      const uint64_t epoch = rig_->out.stop_epoch;
      const bool could_start = !rig_->out.stop_latched;
      const uint64_t asked_epoch = rig_->in.start.stop_epoch;
      const bool asked = rig_->in.start.present;
      rig_->step();
      check(epoch, asked, asked_epoch, could_start);
    }
  }

  int started = 0, ended = 0, resumed = 0;
  std::map<FaultCode, int> faults;

 private:
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  void disturb() {
    CycleInput& in = rig_->in;
    if (wrong_ > 0 && --wrong_ == 0) {
      in.link = LinkPhase::kUp;
      in.loss = LinkLoss::kNone;
      in.write_failed = false;
      in.sample.safety_bits = 1;
      in.sample.robot_mode = 7;
      in.sample.runtime_state = 2;
      in.sample.program_running = in.sample.remote_control = true;
      in.sample.target_speed_fraction = in.sample.speed_scaling = 1;
      in.sample.tcp_wrench_base = {};
      in.lease_lapsed = false;
      rig_->frozen = rig_->blocked = false;
    }
    if (wrong_ > 0 || !chance(0.004)) {
      return;
    }
    wrong_ = 1 + static_cast<int>(200 * unit() * unit());
    switch (static_cast<int>(unit() * 15)) {
      case 0:
        in.link = chance(0.5) ? LinkPhase::kDown : LinkPhase::kConnecting;
        in.loss = static_cast<LinkLoss>(static_cast<int>(unit() * 4));
        break;
      case 1:
        in.write_failed = true;
        break;
      case 2:
        rig_->frozen = true;
        break;
      case 3:
        in.sample.safety_bits = 1u << static_cast<int>(2 + unit() * 9);
        break;
      case 4:
        in.sample.robot_mode = static_cast<int>(unit() * 8);
        break;
      case 5:
        in.sample.runtime_state = static_cast<int>(unit() * 6);
        in.sample.program_running = chance(0.5);
        break;
      case 6:
        in.sample.remote_control = false;
        break;
      case 7:
        in.sample.target_speed_fraction = chance(0.5) ? 0 : std::nan("");
        break;
      case 8:
        in.sample.speed_scaling = chance(0.2) ? -3 : 2 * unit();
        break;
      case 9:
        in.sample.tcp_wrench_base = {200 * unit(), 0, chance(0.3) ? std::nan("") : 0, 0,
                                     40 * unit(),  0};
        break;
      case 10:
        in.lease_lapsed = true;
        break;
      case 11:
        rig_->blocked = true;
        break;
      case 12:
        rig_->next_gap_s = 0.05 * unit();
        break;
      case 13:
        in.raised_fault = static_cast<FaultCode>(1 + static_cast<int>(unit() * 26));
        break;
      default:
        ++in.stops_requested;
        break;
    }
  }

  void ask() {
    CycleInput& in = rig_->in;
    if (chance(0.02)) {
      in.recover = {true, 5};
    }
    if (chance(0.02)) {
      in.resume = {true, chance(0.9) ? rig_->out.stop_epoch : static_cast<uint64_t>(unit() * 10),
                   static_cast<uint64_t>(chance(0.8) ? 5 : 0)};
    }
    if (chance(0.05)) {
      Joints to = rig_->out.setpoint_rad;
      for (double& q : to) {
        q = std::clamp(q + unit() - 0.5, -3.0, 3.0);
      }
      auto plan = std::make_unique<Trajectory>(
          feasibleLine(rig_->out.setpoint_rad, to, rig_->config, 0.9, 0.01));
      in.start.present = true;
      in.start.group = ++group_;
      in.start.stop_epoch = chance(0.8) ? rig_->out.stop_epoch : static_cast<uint64_t>(unit() * 10);
      in.start.time_s = plan->time_s.data();
      in.start.q_rad = plan->q_rad.data();
      in.start.count = static_cast<uint32_t>(plan->time_s.size());
      in.start.guard.contact_expected = chance(0.5);
      plans_[group_] = std::move(plan);
    }
  }

  void check(uint64_t epoch, bool asked, uint64_t asked_epoch, bool could_start) {
    const CycleOutput& out = rig_->out;
    ASSERT_GE(out.stop_epoch, epoch);
    ASSERT_EQ(out.counters.tracker_fallbacks, 0u);
    if (asked) {
      ASSERT_TRUE(out.start.present);
      if (out.start.refusal == Refusal::kNone) {
        // (A resume in the same cycle comes first.)
        ASSERT_TRUE(could_start || (out.resume.present && out.resume.refusal == Refusal::kNone));
        ASSERT_EQ(asked_epoch, out.stop_epoch);
        ++started;
      } else {
        plans_.erase(out.start.group);
      }
    }
    if (out.released_group != 0) {
      ASSERT_EQ(plans_.count(out.released_group), 1u);
      plans_.erase(out.released_group);
      ++ended;
    }
    ASSERT_LE(plans_.size(), 1u);
    ASSERT_EQ(plans_.size() == 1, out.motion_active);
    if (out.motion_active && out.start.refusal != Refusal::kNone) {
      ASSERT_EQ(out.motion.end_reason, EndReason::kUnspecified);
    }
    resumed += out.resume.present && out.resume.refusal == Refusal::kNone ? 1 : 0;
    for (int i = 0; i < out.event_count; ++i) {
      const CycleEvent& event = out.events[static_cast<size_t>(i)];
      faults[event.kind == EventKind::kFault ? event.fault.code : FaultCode::kNone] += 1;
    }
  }

  std::mt19937 random_;
  std::unique_ptr<TestRig> rig_;
  std::map<uint64_t, std::unique_ptr<Trajectory>> plans_;
  uint64_t group_ = 0;
  int wrong_ = 0;
};

TEST(Disorder, NeverBreaksTheRules) {
  int started = 0, resumed = 0;
  std::map<FaultCode, int> faults;
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Disorder disorder(seed);
    disorder.run(40000);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    EXPECT_LE(disorder.started - disorder.ended, 1);
    started += disorder.started;
    resumed += disorder.resumed;
    for (const auto& [code, count] : disorder.faults) {
      faults[code] += count;
    }
  }
  EXPECT_GT(started, 200);
  EXPECT_GT(resumed, 100);
  EXPECT_GE(faults.size(), 15u);
  std::printf("[ figures  ] 480,000 cycles: %d motions, %d resumes, %zu kinds of fault\n", started,
              resumed, faults.size() - 1);
}

}  // namespace
}  // namespace s2r::arm
