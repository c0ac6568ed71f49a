#include "native/gripper/supervisor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "native/gripper/kinematics.h"

namespace s2r::gripper {
namespace {

// A gripper in simulated time: takes frames, turns, presses against an obstacle.
class Device {
 public:
  std::set<int> known{10, 11, 12, 15, 20, 21, 22};
  double angle_rad = 0.9;
  double target_rad = 0.9;
  double limit_a = 9.0;
  double rate_rad_s = 2.0;
  double obstacle_m = -1.0;
  bool enabled = false;
  bool jammed = false;
  bool heeds_limit = true;
  bool heeds_enable = true;
  bool talks = true;
  uint32_t fault_bits = 0;
  double zero_rad = 0.0;  // what the device takes for 0
  double current_a = 0.0;
  double speed_rad_s = 0.0;
  std::vector<int> codes;
  std::vector<float> limits;

  void take(const Bytes& bytes) {
    size_t at = 0;
    while (at < bytes.size()) {
      if (bytes[at] == 'G') {
        at += 10;
        continue;
      }
      const int command = bytes[at];
      const size_t size = command == 13 ? 11 : 7;
      ASSERT_LE(at + size, bytes.size());
      float value = 0.0F;
      std::memcpy(&value, &bytes[at + 1], 4);
      at += size;
      codes.push_back(command);
      if (!known.contains(command))
        continue;
      if (command == 10)
        enabled = false;
      if (command == 11 && heeds_enable)
        enabled = true;
      if (command == 15 || command == 20) {
        limits.push_back(value);
        limit_a = value;
      }
      if (command == 22 || command == 23)
        target_rad = value;
      if (command == 13 || command == 21)
        rate_rad_s = value;
    }
  }

  void step(double dt) {
    const double before = angle_rad;
    const double error = target_rad - angle_rad;
    double want = angle_rad;
    if (enabled)
      want += std::clamp(error, -rate_rad_s * dt, rate_rad_s * dt);
    if (jammed)
      want = angle_rad;
    const double stop = obstacle_m >= 0.0 ? angleFromOpening(obstacle_m).value() : -1.0;
    if (angle_rad >= stop)
      want = std::max(want, stop);
    angle_rad = want;
    speed_rad_s = (angle_rad - before) / dt;
    const bool blocked = enabled && std::abs(error) > 0.01 && std::abs(angle_rad - before) < 1e-9;
    current_a = blocked ? std::copysign(heeds_limit ? limit_a : 3.0, error) : 0.0;
  }

  [[nodiscard]] Report report() const {
    Report out;
    out.motor = Motor{speed_rad_s, current_a, angle_rad - zero_rad};
    MotorStatus status;
    status.bits = fault_bits | (enabled ? kStatusEnabled : 0U);
    out.status = status;
    return out;
  }
};

class Bench {
 public:
  explicit Bench(Settings settings = {}) : supervisor(settings) { supervisor.onOpened(time_s); }

  void run(double seconds) {
    const double end_s = time_s + seconds;
    while (time_s < end_s) {
      time_s += 0.005;
      device.take(supervisor.takeWrites());
      device.step(0.005);
      if (device.talks)
        supervisor.onReport(time_s, device.report());
      supervisor.tick(time_s);
      for (Event& event : supervisor.takeEvents())
        events.push_back(std::move(event));
    }
  }

  // The end of the last motion, where there is one.
  [[nodiscard]] std::optional<Event> end() const {
    for (auto it = events.rbegin(); it != events.rend(); ++it) {
      if (it->type == EventType::kMotionEnded)
        return *it;
    }
    return std::nullopt;
  }

  [[nodiscard]] size_t count(EventType type) const {
    return static_cast<size_t>(std::count_if(events.begin(), events.end(),
                                             [&](const Event& e) { return e.type == type; }));
  }

  double time_s = 10.0;
  Device device;
  Supervisor supervisor;
  std::vector<Event> events;
};

Settings with(Dialect dialect) {
  Settings settings;
  settings.dialect = dialect;
  return settings;
}

TEST(Supervisor, SetsTheLimitBeforeItGivesPowerAndMovesNothing) {
  Bench bench(with(Dialect::kSdk));
  bench.run(1.0);
  EXPECT_EQ(bench.supervisor.state().phase, Phase::kReady);
  EXPECT_EQ(bench.count(EventType::kReady), 1U);
  const auto& codes = bench.device.codes;
  const auto limit = std::find(codes.begin(), codes.end(), 15);
  const auto power = std::find(codes.begin(), codes.end(), 11);
  ASSERT_NE(power, codes.end());
  EXPECT_LT(limit, power);
  EXPECT_NEAR(bench.device.angle_rad, 0.9, 1e-6);
}

TEST(Supervisor, AGripperThatHoldsSomethingKeepsItsTarget) {
  Bench bench;
  bench.device.enabled = true;
  bench.device.obstacle_m = openingFromAngle(0.9);
  bench.device.target_rad = 0.5;
  bench.device.limit_a = 1.0;
  bench.run(1.0);
  EXPECT_EQ(bench.supervisor.state().phase, Phase::kReady);
  EXPECT_TRUE(bench.supervisor.state().stalled);
  EXPECT_EQ(bench.device.target_rad, 0.5);
  EXPECT_EQ(std::count(bench.device.codes.begin(), bench.device.codes.end(), 22), 0);
}

TEST(Supervisor, MovesWithinTolerance) {
  for (const double opening_m : {0.0, 0.02, 0.05, 0.095}) {
    Bench bench(with(Dialect::kSdk));
    bench.run(1.0);
    const auto reply = bench.supervisor.move(bench.time_s, {opening_m, {}, 0.1});
    EXPECT_FALSE(reply.refusal);
    bench.run(3.0);
    ASSERT_TRUE(bench.end());
    EXPECT_EQ(bench.end()->reason, EndReason::kCompleted);
    EXPECT_EQ(bench.end()->motion, reply.motion);
    EXPECT_NEAR(bench.end()->opening_m, opening_m, 0.0006);
  }
}

TEST(Supervisor, RefusesWithValueLimitAndMend) {
  Bench bench;
  bench.run(1.0);
  const auto message = [&](const Move& move) {
    const auto reply = bench.supervisor.move(bench.time_s, move);
    EXPECT_EQ(reply.refusal.value_or(Failure{}).code, code::kBadArgument);
    return reply.refusal.value_or(Failure{}).message;
  };
  EXPECT_NE(message({0.0951, {}, {}}).find("0.0951"), std::string::npos);
  EXPECT_NE(message({0.0951, {}, {}}).find("0.095 m"), std::string::npos);
  EXPECT_NE(message({-1e-6, {}, {}}).find("ask for"), std::string::npos);
  EXPECT_NE(message({std::nan(""), {}, {}}), "");
  EXPECT_NE(message({0.05, 11.0, {}}).find("current_limit_a"), std::string::npos);
  EXPECT_NE(message({0.05, {}, 0.3}).find("0.2"), std::string::npos);
  EXPECT_TRUE(bench.events.size() == 1 && !bench.supervisor.state().moving);
}

TEST(Supervisor, DetectsBothDialectsFromTheReaction) {
  for (const bool ros : {true, false}) {
    Bench bench;
    if (ros)
      bench.device.known = {10, 11, 12, 13, 15, 22, 23};
    bench.run(1.0);
    EXPECT_EQ(bench.supervisor.state().dialect, Dialect::kAuto);
    EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.03, {}, {}}).refusal);
    bench.run(3.0);
    EXPECT_EQ(bench.supervisor.state().dialect, ros ? Dialect::kRos : Dialect::kSdk);
    EXPECT_EQ(bench.count(EventType::kDialect), 1U);
    EXPECT_EQ(bench.end()->reason, EndReason::kCompleted);
    if (!ros) {
      EXPECT_EQ(std::count(bench.device.codes.begin(), bench.device.codes.end(), 13), 0);
    }
  }
}

TEST(Supervisor, StallsOnAnObjectAndKeepsPressing) {
  Bench bench(with(Dialect::kSdk));
  bench.device.obstacle_m = 0.04;
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, 6.0, {}}).refusal);
  bench.run(3.0);
  ASSERT_TRUE(bench.end());
  EXPECT_EQ(bench.end()->reason, EndReason::kStalled);
  EXPECT_NEAR(bench.end()->opening_m, 0.04, 1e-4);
  const State state = bench.supervisor.state();
  EXPECT_TRUE(state.stalled && !state.slipped && state.limit_observed);
  EXPECT_NEAR(state.force_estimate_n, 6.0, 1e-6);
  EXPECT_FLOAT_EQ(bench.device.limits.back(), 0.6F);
}

TEST(Supervisor, SlipIsToldOnce) {
  Bench bench(with(Dialect::kSdk));
  bench.device.obstacle_m = 0.04;
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  bench.run(3.0);
  bench.device.obstacle_m = 0.037;
  bench.run(0.5);
  EXPECT_EQ(bench.count(EventType::kSlipped), 1U);
  EXPECT_TRUE(bench.supervisor.state().slipped);
  bench.device.obstacle_m = -1.0;
  bench.run(1.0);
  EXPECT_EQ(bench.count(EventType::kSlipped), 1U);
}

TEST(Supervisor, JammedFingersAreNoGrip) {
  Bench bench(with(Dialect::kSdk));
  bench.device.jammed = true;
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  bench.run(3.0);
  EXPECT_EQ(bench.end()->reason, EndReason::kTimeout);
  EXPECT_EQ(bench.end()->failure.code, code::kStuck);
  EXPECT_FALSE(bench.supervisor.state().stalled);
}

TEST(Supervisor, ATighterGripOnTheSameObjectStalls) {
  Bench bench(with(Dialect::kSdk));
  bench.device.obstacle_m = 0.04;
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, 3.0, {}}).refusal);
  bench.run(3.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, 9.0, {}}).refusal);
  bench.run(3.0);
  EXPECT_EQ(bench.end()->motion, 2U);
  EXPECT_EQ(bench.end()->reason, EndReason::kStalled);
  EXPECT_NEAR(bench.supervisor.state().force_estimate_n, 9.0, 1e-5);
}

TEST(Supervisor, ACommandWithoutReactionIsSentTwiceThenLatches) {
  Bench bench(with(Dialect::kSdk));
  bench.run(1.0);
  bench.device.known = {};
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  bench.run(2.0);
  EXPECT_EQ(bench.end()->reason, EndReason::kFault);
  EXPECT_EQ(bench.end()->failure.code, code::kIgnored);
  EXPECT_EQ(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal->code, code::kIgnored);
}

TEST(Supervisor, ALimitThatIsNotHeededIsAFault) {
  Bench bench(with(Dialect::kSdk));
  bench.device.obstacle_m = 0.04;
  bench.device.heeds_limit = false;
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  bench.run(3.0);
  EXPECT_EQ(bench.supervisor.state().fault.code, code::kCurrentLimit);
  EXPECT_GE(bench.device.target_rad, bench.device.angle_rad - 1e-3);
}

TEST(Supervisor, FaultBitsLatchAndPowerIsNeverGivenByItself) {
  Bench bench(with(Dialect::kSdk));
  bench.device.obstacle_m = 0.04;
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  bench.run(3.0);
  bench.device.fault_bits = kStatusOverCurrent;
  bench.device.enabled = false;
  const auto power = std::count(bench.device.codes.begin(), bench.device.codes.end(), 11);
  bench.run(1.0);
  EXPECT_EQ(bench.supervisor.state().fault.code, code::kDeviceFault);
  EXPECT_NE(bench.supervisor.state().fault.message.find("over-current"), std::string::npos);
  EXPECT_FALSE(bench.supervisor.recover(bench.time_s));
  bench.run(0.5);
  EXPECT_EQ(bench.supervisor.state().fault.code, code::kDeviceFault);
  EXPECT_FALSE(bench.device.enabled);
  bench.device.fault_bits = 0;
  bench.run(2.0);
  EXPECT_EQ(bench.supervisor.state().phase, Phase::kFault);
  EXPECT_EQ(bench.supervisor.move(bench.time_s, {0.05, {}, {}}).refusal->code, code::kDeviceFault);
  EXPECT_EQ(std::count(bench.device.codes.begin(), bench.device.codes.end(), 11), power);
  EXPECT_FALSE(bench.supervisor.recover(bench.time_s));
  bench.run(1.0);
  EXPECT_EQ(bench.supervisor.state().phase, Phase::kReady);
  EXPECT_TRUE(bench.device.enabled);
}

TEST(Supervisor, OneDamagedStatusIsNoFault) {
  Bench bench;
  bench.run(1.0);
  for (int i = 0; i < 5; ++i) {
    Report odd = bench.device.report();
    odd.status->bits = 0x04;
    bench.supervisor.onReport(bench.time_s, odd);
    bench.run(0.02);
  }
  EXPECT_EQ(bench.supervisor.state().phase, Phase::kReady);
}

TEST(Supervisor, SwitchingOffByItselfIsAFault) {
  Bench bench;
  bench.run(1.0);
  bench.device.enabled = false;
  bench.run(0.1);
  EXPECT_EQ(bench.supervisor.state().fault.code, code::kDisabled);
  EXPECT_FALSE(bench.device.enabled);
}

TEST(Supervisor, StaleTelemetryFailsTheMotionAndTheNextMoveReadsAnew) {
  Bench bench(with(Dialect::kSdk));
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  bench.run(0.1);
  bench.device.talks = false;
  bench.run(0.09);
  EXPECT_TRUE(bench.supervisor.state().fault.code.empty());
  bench.run(0.05);
  EXPECT_EQ(bench.supervisor.state().fault.code, code::kStale);
  EXPECT_EQ(bench.end()->reason, EndReason::kFault);
  bench.device.talks = true;
  bench.run(0.3);
  EXPECT_EQ(bench.supervisor.state().phase, Phase::kFault);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.03, {}, {}}).refusal);
  EXPECT_FALSE(bench.supervisor.takeReopen());
  bench.run(3.0);
  EXPECT_EQ(bench.end()->reason, EndReason::kCompleted);
}

TEST(Supervisor, ALostLineAsksToBeOpenedByTheNextMoveOnly) {
  Bench bench(with(Dialect::kSdk));
  bench.run(1.0);
  bench.device.talks = false;
  bench.supervisor.onLinkLost(bench.time_s, {code::kUnplugged, "gone"});
  bench.run(0.5);
  EXPECT_FALSE(bench.supervisor.takeReopen());
  const auto reply = bench.supervisor.move(bench.time_s, {0.02, {}, {}});
  EXPECT_FALSE(reply.refusal);
  EXPECT_TRUE(bench.supervisor.takeReopen());
  bench.device.talks = true;
  bench.device.enabled = false;
  bench.device.angle_rad = bench.device.target_rad = 0.4;
  bench.supervisor.onOpened(bench.time_s);
  bench.run(3.0);
  EXPECT_EQ(bench.end()->motion, reply.motion);
  EXPECT_EQ(bench.end()->reason, EndReason::kCompleted);
}

TEST(Supervisor, ALineThatDoesNotOpenFailsTheWaitingMove) {
  Bench bench;
  bench.run(1.0);
  bench.supervisor.onLinkLost(bench.time_s, {code::kUnplugged, "gone"});
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.02, {}, {}}).refusal);
  EXPECT_TRUE(bench.supervisor.takeReopen());
  bench.supervisor.onLinkLost(bench.time_s, {code::kNotFound, "no link"});
  bench.device.talks = false;
  bench.run(0.02);
  EXPECT_EQ(bench.end()->failure.code, code::kNotFound);
}

TEST(Supervisor, SilenceAndRefusedPowerEndTheOpening) {
  Bench silent;
  silent.device.talks = false;
  silent.run(2.0);
  EXPECT_EQ(silent.supervisor.state().fault.code, code::kSilent);
  Bench dead;
  dead.device.heeds_enable = false;
  dead.run(2.5);
  EXPECT_EQ(dead.supervisor.state().fault.code, code::kNotEnabled);
  EXPECT_EQ(std::count(dead.device.codes.begin(), dead.device.codes.end(), 11), 2);
}

TEST(Supervisor, HoldStopsFreeFingersAndKeepsAGrip) {
  Bench bench(with(Dialect::kSdk));
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  bench.run(0.2);
  bench.supervisor.hold(bench.time_s);
  bench.run(0.5);
  EXPECT_EQ(bench.end()->reason, EndReason::kStopped);
  EXPECT_GT(openingFromAngle(bench.device.angle_rad), 0.02);
  bench.device.obstacle_m = 0.02;
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, {}}).refusal);
  while (bench.device.current_a == 0.0)
    bench.run(0.005);
  bench.supervisor.hold(bench.time_s);
  bench.run(0.5);
  EXPECT_LT(bench.device.target_rad, 0.01);
  EXPECT_TRUE(bench.supervisor.state().stalled);
}

TEST(Supervisor, AHoldThatIsLostIsSentAgain) {
  Bench bench(with(Dialect::kSdk));
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, 0.01}).refusal);
  bench.run(0.2);
  bench.supervisor.hold(bench.time_s);
  (void)bench.supervisor.takeWrites();  // never arrives
  EXPECT_NEAR(bench.device.target_rad, 0.0, 0.01);
  bench.run(0.5);
  EXPECT_EQ(bench.end()->reason, EndReason::kStopped);
  EXPECT_NEAR(bench.device.target_rad, bench.device.angle_rad, 0.05);
  EXPECT_EQ(bench.supervisor.state().phase, Phase::kReady);
  const double held_rad = bench.device.angle_rad;
  bench.run(1.0);
  EXPECT_DOUBLE_EQ(bench.device.angle_rad, held_rad);
}

TEST(Supervisor, FingersThatTurnOnAfterAHoldAreAFault) {
  Bench bench(with(Dialect::kSdk));
  bench.run(1.0);
  EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.0, {}, 0.005}).refusal);
  bench.run(0.2);
  bench.device.known.erase(22);
  bench.supervisor.hold(bench.time_s);
  bench.run(1.0);
  EXPECT_EQ(bench.supervisor.state().fault.code, code::kIgnored);
}

TEST(Supervisor, ADamagedAngleIsNotBelieved) {
  Bench bench;
  bench.run(1.0);
  Report odd = bench.device.report();
  odd.motor->angle_rad = 9.0;
  bench.supervisor.onReport(bench.time_s, odd);
  EXPECT_NEAR(bench.supervisor.state().angle_rad, 0.9, 1e-3);
}

TEST(Supervisor, ALostZeroIsAFault) {
  Bench bench;
  bench.device.angle_rad = bench.device.target_rad = 2.4;
  bench.run(1.0);
  EXPECT_EQ(bench.supervisor.state().fault.code, code::kBadZero);
}

TEST(Supervisor, AZeroThatIsLostDuringAMotionIsAFaultAndNoOpening) {
  for (const double jump_rad : {0.6, -0.6}) {
    Bench bench(with(Dialect::kSdk));
    bench.run(1.0);
    EXPECT_FALSE(bench.supervisor.move(bench.time_s, {0.03, {}, {}}).refusal);
    bench.run(0.1);
    EXPECT_TRUE(bench.supervisor.state().moving);
    bench.device.zero_rad = jump_rad;
    bench.run(0.1);
    EXPECT_EQ(bench.supervisor.state().fault.code, code::kBadZero);
    EXPECT_EQ(bench.end()->reason, EndReason::kFault);
    // A person has looked: where it stands now is taken for true.
    EXPECT_FALSE(bench.supervisor.recover(bench.time_s));
    bench.run(1.0);
    EXPECT_EQ(bench.supervisor.state().phase, Phase::kReady);
  }
}

TEST(Supervisor, ReleaseTakesThePowerAway) {
  Bench bench;
  bench.run(1.0);
  bench.supervisor.release(bench.time_s);
  EXPECT_FALSE(bench.supervisor.released());
  bench.run(0.05);
  EXPECT_TRUE(bench.supervisor.released());
  EXPECT_FALSE(bench.device.enabled);
}

}  // namespace
}  // namespace s2r::gripper
