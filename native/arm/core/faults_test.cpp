// Every fault: noticed in time, with its own code, never with a setpoint beyond the limits, and
// cleared by a person only.
#include <set>

#include "native/arm/core/test_rig.h"

namespace s2r::arm {
namespace {

TEST(Faults, TableNamesEachFaultOnceWithTheNextStep) {
  std::set<std::string> names;
  for (const FaultInfo& info : kFaults) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    if (info.code != FaultCode::kNone) {
      EXPECT_GT(std::string(info.next_step).size(), 20u) << info.name;
      EXPECT_GT(info.severity, 0) << info.name;
      FaultDetail detail;
      detail.code = info.code;
      EXPECT_NE(faultMessage(detail, CoreConfig{}).find(info.next_step), std::string::npos);
    }
  }
}

struct FaultCase {
  const char* name;
  FaultCode code;
  std::function<void(TestRig&)> strike;
  std::function<void(TestRig&)> mend;
  EndReason end;
  int cycles;  // at most, until it is noticed
};

std::vector<FaultCase> faultCases() {
  const auto bits = [](uint32_t value) {
    return [value](TestRig& rig) { rig.in.sample.safety_bits = value; };
  };
  const auto lose = [](LinkLoss loss) {
    return [loss](TestRig& rig) {
      rig.in.link = LinkPhase::kDown;
      rig.in.loss = loss;
    };
  };
  const auto relink = [](TestRig& rig) {
    rig.in.link = LinkPhase::kUp;
    rig.in.loss = LinkLoss::kNone;
    rig.in.write_failed = false;
  };
  const auto runtime = [](int state) {
    return [state](TestRig& rig) {
      rig.in.sample.runtime_state = state;
      rig.in.sample.program_running = state == 2;
    };
  };
  const auto nothing = [](TestRig&) {};
  const auto raise = [](FaultCode code) {
    return [code](TestRig& rig) {
      rig.in.raised_fault = code;
      rig.in.raised_text.assign("read back 2.5 kg, configured 1.2 kg");
    };
  };
  return {
      {"link closed", FaultCode::kLinkLost, lose(LinkLoss::kClosed), relink, EndReason::kFault, 1},
      {"link silent", FaultCode::kLinkLost, lose(LinkLoss::kTimeout), relink, EndReason::kFault, 1},
      {"link reset", FaultCode::kLinkReset, lose(LinkLoss::kReset), relink, EndReason::kFault, 1},
      {"write failed", FaultCode::kLinkLost, [](TestRig& rig) { rig.in.write_failed = true; },
       relink, EndReason::kFault, 1},
      {"controller frozen", FaultCode::kControllerFrozen, [](TestRig& rig) { rig.frozen = true; },
       [](TestRig& rig) { rig.frozen = false; }, EndReason::kFault, 3},
      {"program stopped", FaultCode::kProgramStopped, runtime(1), runtime(2), EndReason::kFault, 1},
      {"program paused", FaultCode::kProgramPaused, runtime(4), runtime(2), EndReason::kFault, 1},
      {"local mode", FaultCode::kLocalMode,
       [](TestRig& rig) { rig.in.sample.remote_control = false; },
       [](TestRig& rig) { rig.in.sample.remote_control = true; }, EndReason::kFault, 1},
      {"speed slider at 0", FaultCode::kSpeedSliderZero,
       [](TestRig& rig) { rig.in.sample.target_speed_fraction = 0; },
       [](TestRig& rig) { rig.in.sample.target_speed_fraction = 1; }, EndReason::kFault, 52},
      {"protective stop", FaultCode::kProtectiveStop, bits(1u << 2), bits(1),
       EndReason::kProtectiveStop, 1},
      {"robot emergency stop", FaultCode::kEmergencyStop, bits(1u << 6 | 1u << 7), bits(1),
       EndReason::kFault, 1},
      {"system emergency stop", FaultCode::kEmergencyStop, bits(1u << 5), bits(1),
       EndReason::kFault, 1},
      {"safeguard stop", FaultCode::kSafeguardStop, bits(1u << 4), bits(1), EndReason::kFault, 1},
      {"safety violation", FaultCode::kSafetyViolation, bits(1u << 8), bits(1), EndReason::kFault,
       1},
      {"safety fault", FaultCode::kSafetyViolation, bits(1u << 9), bits(1), EndReason::kFault, 1},
      {"power off", FaultCode::kRobotNotRunning, [](TestRig& rig) { rig.in.sample.robot_mode = 3; },
       [](TestRig& rig) { rig.in.sample.robot_mode = 7; }, EndReason::kFault, 1},
      {"registers in use", FaultCode::kRegistersInUse, raise(FaultCode::kRegistersInUse), nothing,
       EndReason::kFault, 1},
      {"payload differs", FaultCode::kPayloadMismatch, raise(FaultCode::kPayloadMismatch), nothing,
       EndReason::kFault, 1},
      {"TCP differs", FaultCode::kTcpMismatch, raise(FaultCode::kTcpMismatch), nothing,
       EndReason::kFault, 1},
      {"mounting differs", FaultCode::kMountingMismatch, raise(FaultCode::kMountingMismatch),
       nothing, EndReason::kFault, 1},
      {"starved", FaultCode::kCycleStarved, [](TestRig& rig) { rig.next_gap_s = 0.025; }, nothing,
       EndReason::kFault, 1},
      {"arm blocked", FaultCode::kGateDistance, [](TestRig& rig) { rig.blocked = true; },
       [](TestRig& rig) { rig.blocked = false; }, EndReason::kFault, 600},
  };
}

class EachFault : public ::testing::TestWithParam<size_t> {};

TEST_P(EachFault, DuringAMotionIsNoticedReportedAndClearedByAPerson) {
  const FaultCase fault = faultCases()[GetParam()];
  SCOPED_TRACE(fault.name);
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  rig.run(path.duration() / 2);
  ASSERT_EQ(rig.out.state, State::kMoving);
  const uint64_t epoch = rig.out.stop_epoch;
  fault.strike(rig);
  int cycles = 0;
  while (rig.out.fault.code != fault.code && cycles < fault.cycles + 5) {
    rig.step();
    ++cycles;
  }
  ASSERT_EQ(rig.out.fault.code, fault.code) << faultMessage(rig.out.fault, rig.config);
  EXPECT_LE(cycles, fault.cycles);
  EXPECT_TRUE(rig.out.stop_latched);
  EXPECT_EQ(rig.out.stop_epoch, epoch + 1);
  EXPECT_EQ(rig.last(EventKind::kFault)->fault.code, fault.code);
  EXPECT_EQ(rig.last(EventKind::kStopped)->stop_epoch, epoch + 1);

  // Standstill; the end says what it was; nothing says completed.
  ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active && rig.standing(); }, 4));
  EXPECT_EQ(rig.out.motion.end_reason, fault.end);
  EXPECT_LT(rig.out.motion.fraction_done, 1);
  rig.run(0.1);
  const State expected = fault.code == FaultCode::kLocalMode ? State::kLocalMode : State::kFault;
  EXPECT_EQ(rig.out.state, expected);

  // An old plan never starts, nor does a new one.
  rig.epoch_override = epoch;
  EXPECT_EQ(rig.start(path).refusal, Refusal::kFault);
  rig.epoch_override.reset();
  const StartAnswer refused = rig.start(path);
  EXPECT_EQ(refused.refusal, Refusal::kFault);
  EXPECT_EQ(refused.cause, fault.code);

  // Without a token, with a made-up one, and while the cause remains: no.
  EXPECT_EQ(rig.resume().refusal, Refusal::kToken);
  EXPECT_EQ(rig.resume(777).refusal, Refusal::kToken);
  rig.run(5.1);
  fault.mend(rig);
  ASSERT_TRUE(rig.runUntil([&] { return rig.out.robot_ready; }, 1));
  rig.run(0.2);
  EXPECT_EQ(rig.out.state, State::kFault);
  const RecoverAnswer token = rig.recover(4711);
  ASSERT_EQ(token.refusal, Refusal::kNone);
  EXPECT_EQ(rig.resume(4712).refusal, Refusal::kToken);
  EXPECT_EQ(rig.resumeEpoch(epoch, 4711).refusal, Refusal::kStopEpoch);
  ASSERT_EQ(rig.resume(4711).refusal, Refusal::kNone);
  ASSERT_TRUE(rig.runUntil([&] { return rig.out.state == State::kIdle; }, 2));
  EXPECT_EQ(rig.out.fault.code, FaultCode::kNone);

  // The same motion's epoch is past; a new plan starts from where the arm is.
  rig.epoch_override = epoch;
  const Trajectory again = rig.longMove(-0.4);
  EXPECT_EQ(rig.start(again).refusal, Refusal::kStopEpoch);
  rig.epoch_override.reset();
  ASSERT_EQ(rig.start(again).refusal, Refusal::kNone);
  ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, again.duration() + 2));
  EXPECT_EQ(rig.out.motion.end_reason, EndReason::kCompleted);

  // The token was good once.
  rig.stop();
  rig.run(0.5);
  rig.in.raised_fault = FaultCode::kInternal;
  rig.run(0.1);
  EXPECT_EQ(rig.resume(4711).refusal, Refusal::kToken);
}

INSTANTIATE_TEST_SUITE_P(All, EachFault, ::testing::Range<size_t>(0, faultCases().size()));

TEST(Faults, WhatTheRobotStopsItselfIsSentNoMoreSetpoints) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  rig.run(path.duration() / 2);
  rig.in.sample.safety_bits = 1u << 2;
  rig.step();
  EXPECT_EQ(rig.out.action, Action::kNone);
  rig.run(0.1);
  EXPECT_EQ(rig.out.action, Action::kNone);
  // After the stop is unlocked, holding begins where the arm is (the rig judges that), the fault
  // remains.
  rig.in.sample.safety_bits = 1;
  rig.run(0.02);
  EXPECT_EQ(rig.out.action, Action::kServo);
  EXPECT_EQ(rig.out.state, State::kFault);
}

TEST(Faults, AFrozenControllerIsRampedDownThenSentNothing) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  rig.run(path.duration() / 2);
  rig.frozen = true;
  rig.step();
  rig.step();
  EXPECT_EQ(rig.out.state, State::kMoving);
  rig.step();
  EXPECT_EQ(rig.out.state, State::kStopping);
  EXPECT_EQ(rig.out.action, Action::kStopRamp);
  EXPECT_EQ(rig.out.stale_cycles, 3);
  ASSERT_TRUE(rig.runUntil([&] { return rig.out.action == Action::kNone; }, 2));
  EXPECT_EQ(rig.out.state, State::kFault);
}

TEST(Faults, AMissedPackageOrTwoStopNothing) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  rig.runUntil(
      [&] {
        rig.frozen = rig.out.counters.cycles % 5 < 2;
        return !rig.out.motion_active;
      },
      path.duration() + 1);
  EXPECT_EQ(rig.out.motion.end_reason, EndReason::kCompleted);
  EXPECT_GT(rig.out.counters.stale_cycles, 100u);
}

TEST(Faults, HowManyStaleCyclesStopFollowsTheConfiguration) {
  CoreConfig config;
  config.stale_cycles_stop = 12;
  TestRig rig(config);
  rig.connect();
  rig.frozen = true;
  for (int i = 0; i < 11; ++i) {
    rig.step();
    ASSERT_EQ(rig.out.fault.code, FaultCode::kNone) << "stale cycle " << rig.out.stale_cycles;
  }
  rig.step();
  EXPECT_EQ(rig.out.stale_cycles, 12);
  EXPECT_EQ(rig.out.fault.code, FaultCode::kControllerFrozen);
}

TEST(Faults, AWorseFaultReplacesAMilderOneAndVoidsItsToken) {
  TestRig rig;
  rig.connect();
  rig.in.sample.runtime_state = 1;
  rig.run(0.01);
  EXPECT_EQ(rig.out.fault.code, FaultCode::kProgramStopped);
  ASSERT_EQ(rig.recover(5).refusal, Refusal::kNone);
  rig.in.sample.safety_bits = 1u << 6;
  rig.run(0.01);
  EXPECT_EQ(rig.out.fault.code, FaultCode::kEmergencyStop);
  rig.in.sample.safety_bits = 1;
  rig.in.sample.runtime_state = 2;
  rig.run(0.05);
  EXPECT_EQ(rig.resume(5).refusal, Refusal::kToken);
  // A milder one does not hide the worse.
  rig.in.sample.remote_control = false;
  rig.run(0.01);
  EXPECT_EQ(rig.out.fault.code, FaultCode::kEmergencyStop);
}

TEST(Faults, ResumeIsRefusedWhileTheCauseRemains) {
  TestRig rig;
  rig.connect();
  rig.in.sample.remote_control = false;
  rig.run(0.1);
  EXPECT_EQ(rig.out.state, State::kLocalMode);
  ASSERT_EQ(rig.recover(9).refusal, Refusal::kNone);
  const ResumeAnswer answer = rig.resume(9);
  EXPECT_EQ(answer.refusal, Refusal::kCauseRemains);
  EXPECT_EQ(answer.cause, FaultCode::kLocalMode);
  rig.in.sample.remote_control = true;
  rig.run(0.1);
  EXPECT_EQ(rig.resume(9).refusal, Refusal::kNone);
}

TEST(Faults, StartIsRefusedWithTheCauseWhereTheRobotIsNotReady) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  rig.in.sample.target_speed_fraction = 0;
  const StartAnswer answer = rig.start(path);
  EXPECT_EQ(answer.refusal, Refusal::kNotReady);
  EXPECT_EQ(answer.cause, FaultCode::kSpeedSliderZero);
}

TEST(Faults, ProtectiveStopsAreLockedOutCountedAndLimited) {
  CoreConfig config;
  config.recovery_limit = 2;
  TestRig rig(config);
  rig.connect();
  for (uint32_t n = 1; n <= 3; ++n) {
    rig.in.sample.safety_bits = 1u << 2;
    rig.in.sample.runtime_state = 4;
    rig.run(3);
    const RecoverAnswer early = rig.recover(10 + n);
    EXPECT_EQ(early.refusal, Refusal::kLockOut);
    EXPECT_NEAR(early.wait_s, 2, 0.02);
    EXPECT_FALSE(rig.out.unlock_protective_stop);
    rig.run(2.1);
    const RecoverAnswer answer = rig.recover(10 + n);
    if (n == 3) {
      EXPECT_EQ(answer.refusal, Refusal::kRecoveryLimit);
      EXPECT_FALSE(rig.out.unlock_protective_stop);
      break;
    }
    ASSERT_EQ(answer.refusal, Refusal::kNone);
    EXPECT_EQ(answer.recoveries, n);
    EXPECT_TRUE(rig.out.unlock_protective_stop);
    EXPECT_EQ(rig.resume(10 + n).refusal, Refusal::kCauseRemains);
    rig.in.sample.safety_bits = 1;
    rig.in.sample.runtime_state =
        1;  // the program is not running yet: that does not void the token
    rig.run(0.1);
    EXPECT_EQ(rig.out.fault.code, FaultCode::kProtectiveStop);
    rig.in.sample.runtime_state = 2;
    rig.run(0.1);
    EXPECT_EQ(rig.resume(10 + n).refusal, Refusal::kNone);
    rig.run(1);
  }
}

TEST(Faults, AProtectiveStopAfterTheTokenWasDrawnVoidsIt) {
  TestRig rig;
  rig.connect();
  rig.in.sample.safety_bits = 1u << 2;
  rig.run(5.1);
  ASSERT_EQ(rig.recover(33).refusal, Refusal::kNone);
  rig.in.sample.safety_bits = 1;
  rig.run(0.05);
  rig.in.sample.safety_bits = 1u << 2;
  rig.run(0.05);
  rig.in.sample.safety_bits = 1;
  rig.run(0.05);
  EXPECT_EQ(rig.resume(33).refusal, Refusal::kToken);
  EXPECT_EQ(rig.recover(34).refusal, Refusal::kLockOut);
}

TEST(Faults, NumbersThatAreNoneInThePlanStopTheMotionBeforeTheyAreReached) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 7.0}) {
    TestRig rig;
    rig.connect();
    Trajectory path = rig.longMove();
    path.q_rad[(path.time_s.size() - 10) * kJoints + 3] = bad;
    ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
    rig.run(path.duration() + 1);
    EXPECT_EQ(rig.out.fault.code,
              bad == 7 ? FaultCode::kGateJointLimit : FaultCode::kGateNotFinite);
    EXPECT_EQ(rig.out.fault.joint, 3);
    EXPECT_EQ(rig.out.motion.end_reason, EndReason::kFault);
    EXPECT_LT(rig.out.motion.fraction_done, 0.2);
  }
}

TEST(Faults, AMeasurementThatIsNoNumberCountsAsNone) {
  TestRig rig;
  rig.connect();
  rig.in.sample.q_rad[2] = std::nan("");
  rig.q_actual[2] = std::nan("");
  rig.run(0.02);
  EXPECT_EQ(rig.out.fault.code, FaultCode::kControllerFrozen);
}

}  // namespace
}  // namespace s2r::arm
