// Stops, epochs, lease, parent; the start's refusals; guards.
#include "native/arm/core/test_rig.h"

namespace s2r::arm {
namespace {

TEST(Stops, EachBeginsAnEpochAndOlderPlansAreRefusedForEver) {
  TestRig rig;
  rig.connect();
  const uint64_t first = rig.out.stop_epoch;
  rig.in.stops_requested += 3;
  rig.in.stop_reason.assign("three at once");
  rig.step();
  EXPECT_EQ(rig.out.stop_epoch, first + 3);
  EXPECT_EQ(rig.out.stops_served, 3u);
  EXPECT_EQ(rig.out.state, State::kHeld);
  const Trajectory path = rig.longMove();
  EXPECT_EQ(rig.start(path).refusal, Refusal::kStopEpoch);  // latched
  EXPECT_EQ(rig.resumeEpoch(first, 0).refusal, Refusal::kStopEpoch);
  EXPECT_EQ(rig.resume().refusal, Refusal::kNone);
  EXPECT_NE(rig.last(EventKind::kResumed), nullptr);
  rig.epoch_override = first;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(rig.start(path).refusal, Refusal::kStopEpoch);
  }
  rig.epoch_override.reset();
  EXPECT_EQ(rig.start(path).refusal, Refusal::kNone);
  // With nothing latched, Resume of the current epoch does nothing.
  EXPECT_EQ(rig.resume().refusal, Refusal::kNone);
  EXPECT_EQ(rig.out.state, State::kMoving);
}

TEST(Stops, AStopInTheCycleOfAStartWins) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  rig.stop();
  EXPECT_EQ(rig.start(path).refusal, Refusal::kStopEpoch);
  EXPECT_FALSE(rig.out.motion_active);
}

TEST(Stops, ResumeDuringTheRampIsBusy) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  rig.run(path.duration() / 2);
  rig.stop();
  rig.step();
  EXPECT_EQ(rig.resume().refusal, Refusal::kBusy);
  EXPECT_TRUE(rig.out.stop_latched);
}

TEST(Stops, ALapsedLeaseIsAnOrdinaryStopOnce) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  rig.run(path.duration() / 2);
  rig.in.lease_lapsed = true;
  ASSERT_TRUE(rig.runUntil([&] { return rig.out.state == State::kHeld; }, 2));
  EXPECT_EQ(rig.out.stop_epoch, 1u);
  EXPECT_EQ(rig.out.stop_source, StopSource::kLease);
  EXPECT_EQ(rig.last(EventKind::kStopped)->reason.view(), "lease lapsed");
  rig.in.lease_lapsed = false;
  EXPECT_EQ(rig.resume().refusal, Refusal::kNone);
  EXPECT_EQ(rig.out.state, State::kIdle);
}

TEST(Stops, AParentThatDiedRampsDownHoldsAndEndsTheProgram) {
  for (const bool parent : {true, false}) {
    TestRig rig;
    rig.connect();
    const Trajectory path = rig.longMove();
    ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
    rig.run(path.duration() / 2);
    (parent ? rig.in.parent_gone : rig.in.shutdown) = true;
    rig.step();
    EXPECT_EQ(rig.out.action, Action::kStopRamp);
    ASSERT_TRUE(rig.runUntil([&] { return rig.out.action == Action::kEndProgram; }, 2));
    EXPECT_TRUE(rig.standing());
    EXPECT_EQ(rig.out.motion.end_reason, EndReason::kStopped);
    // The program's end is then no fault, and nothing starts any more.
    rig.in.sample.runtime_state = 1;
    rig.in.sample.program_running = false;
    rig.run(0.1);
    EXPECT_EQ(rig.out.fault.code, FaultCode::kNone);
    EXPECT_NE(rig.start(path).refusal, Refusal::kNone);
    EXPECT_NE(rig.resume().refusal, Refusal::kNone);
  }
}

TEST(Stops, StopWhileIdleHoldsAndKeepsSending) {
  TestRig rig;
  rig.connect();
  rig.stop();
  rig.run(1);
  EXPECT_EQ(rig.out.state, State::kHeld);
  EXPECT_EQ(rig.out.action, Action::kServo);  // the controller's watchdog is fed, the arm held
}

TEST(Starts, AreRefusedWithTheirReason) {
  TestRig rig;
  rig.connect();
  Trajectory path = rig.longMove();
  Trajectory off = path;
  for (size_t n = 0; n < off.time_s.size(); ++n) {
    off.q_rad[n * kJoints + 4] += 0.03;
  }
  const StartAnswer answer = rig.start(off);
  EXPECT_EQ(answer.refusal, Refusal::kNotStart);
  EXPECT_EQ(answer.joint, 4);
  EXPECT_NEAR(answer.value, 0.03, 1e-6);
  EXPECT_EQ(answer.limit, 0.02);
  off.q_rad[2] = std::nan("");
  EXPECT_EQ(rig.start(off).refusal, Refusal::kNotStart);
  Guard guard;
  guard.force_n = std::nan("");
  EXPECT_EQ(rig.start(path, guard).refusal, Refusal::kBadArgument);
  guard.force_n = 5;
  guard.has_direction = true;
  EXPECT_EQ(rig.start(path, guard).refusal, Refusal::kBadArgument);
  Trajectory one;
  one.add(0, path.first());
  EXPECT_EQ(rig.start(one).refusal, Refusal::kBadArgument);
  EXPECT_EQ(rig.start(path).refusal, Refusal::kNone);
  EXPECT_EQ(rig.start(path).refusal, Refusal::kBusy);
  rig.in.link = LinkPhase::kDown;
  TestRig unlinked;
  unlinked.in.link = LinkPhase::kDown;
  unlinked.run(0.1);
  EXPECT_EQ(unlinked.out.state, State::kDisconnected);
  EXPECT_EQ(unlinked.start(path).refusal, Refusal::kNotReady);
  unlinked.in.link = LinkPhase::kConnecting;
  unlinked.run(0.1);
  EXPECT_EQ(unlinked.out.state, State::kConnecting);
  EXPECT_EQ(unlinked.out.action, Action::kNone);
}

struct Push {
  Wrench wrench;
  Guard guard;
  bool trips;
};

TEST(Guards, FollowTheProtocolsWords) {
  const auto guard = [](double force, double torque, std::optional<Vector3> direction) {
    Guard g;
    g.force_n = force;
    g.torque_nm = torque;
    g.has_direction = direction.has_value();
    g.direction_world = direction.value_or(Vector3{});
    g.contact_expected = true;
    return g;
  };
  const std::vector<Push> pushes = {
      {{0, 0, 6, 0, 0, 0}, guard(5, 0, {}), true},
      {{0, 0, 4, 0, 0, 0}, guard(5, 0, {}), false},
      {{3, 4, 0, 0, 0, 0}, guard(4.9, 0, {}), true},
      // Moving down: the world pushes up, against the direction.
      {{0, 0, 6, 0, 0, 0}, guard(5, 0, Vector3{0, 0, -2}), true},
      {{0, 0, -6, 0, 0, 0}, guard(5, 0, Vector3{0, 0, -2}), false},
      {{20, 0, 4, 0, 0, 0}, guard(5, 0, Vector3{0, 0, -2}), false},
      // Torque counts from any direction.
      {{0, 0, 0, 0, 2, 0}, guard(5, 1.5, Vector3{0, 0, -1}), true},
      {{0, 0, 0, 0, 1, 0}, guard(5, 1.5, {}), false},
      // 0: the arm's default, 25 N and 8 Nm.
      {{0, 26, 0, 0, 0, 0}, guard(0, 0, {}), true},
      {{0, 24, 0, 0, 0, 7}, guard(0, 0, {}), false},
      {{0, 0, 0, 9, 0, 0}, guard(0, 0, {}), true},
  };
  for (size_t n = 0; n < pushes.size(); ++n) {
    SCOPED_TRACE(n);
    TestRig rig;
    // A bias at the start is no contact.
    rig.in.sample.tcp_wrench_base = {30, -20, 40, 3, -4, 5};
    rig.connect();
    const Trajectory path = rig.longMove();
    ASSERT_EQ(rig.start(path, pushes[n].guard).refusal, Refusal::kNone);
    rig.run(path.duration() / 2);
    ASSERT_EQ(rig.out.state, State::kMoving);
    for (size_t i = 0; i < 6; ++i) {
      rig.in.sample.tcp_wrench_base[i] += pushes[n].wrench[i];
    }
    rig.run(0.06);
    EXPECT_EQ(rig.out.state == State::kStopping, pushes[n].trips);
    ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, path.duration() + 2));
    EXPECT_EQ(rig.out.motion.end_reason,
              pushes[n].trips ? EndReason::kContact : EndReason::kCompleted);
    EXPECT_EQ(rig.out.motion.has_contact_force, pushes[n].trips);
    EXPECT_FALSE(rig.out.stop_latched);
    EXPECT_EQ(rig.out.state, State::kIdle);
  }
}

TEST(Guards, ContactEndsWithTheSetpointAtTheActualPosition) {
  for (const bool expected : {true, false}) {
    TestRig rig;
    rig.lag_s = 0.08;
    rig.connect();
    const Trajectory path = rig.longMove();
    Guard guard;
    guard.force_n = 5;
    guard.contact_expected = expected;
    ASSERT_EQ(rig.start(path, guard).refusal, Refusal::kNone);
    rig.run(path.duration() / 2);
    EXPECT_GT(std::abs(rig.out.setpoint_rad[0] - rig.q_actual[0]), 0.05);
    rig.in.sample.tcp_wrench_base = {0, 0, 50, 0, 0, 0};
    rig.blocked = true;  // the arm stands at what it met
    ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, 3));
    EXPECT_EQ(rig.out.motion.end_reason,
              expected ? EndReason::kContact : EndReason::kUnexpectedContact);
    EXPECT_GT(rig.out.motion.contact_force_world_n[2], 5);
    EXPECT_GT(rig.out.motion.mean_force_n, 0);
    for (size_t j = 0; j < kJoints; ++j) {
      EXPECT_NEAR(rig.out.setpoint_rad[j], rig.q_actual[j], 1e-3);
    }
    EXPECT_EQ(rig.out.fault.code, FaultCode::kNone);
  }
}

TEST(Guards, WrenchIsTurnedToWorld) {
  CoreConfig config;
  config.X_world_base = {0, -1, 0, 0, 1, 0, 0, 0,
                         0, 0,  1, 0, 0, 0, 0, 1};  // base turned by 90 degrees about z
  TestRig rig(config);
  rig.in.sample.tcp_wrench_base = {10, 0, 3, 0, 1, 0};
  rig.connect();
  const Wrench& w = rig.out.tcp_wrench_world;
  EXPECT_NEAR(w[0], 0, 1e-12);
  EXPECT_NEAR(w[1], 10, 1e-12);
  EXPECT_NEAR(w[2], 3, 1e-12);
  EXPECT_NEAR(w[3], -1, 1e-12);
}

}  // namespace
}  // namespace s2r::arm
