// Every setpoint keeps its limits, whatever is played and whenever it is stopped; paths are
// followed and ended.
#include <ruckig/ruckig.hpp>

#include "native/arm/core/test_rig.h"

namespace s2r::arm {
namespace {

Joints randomNear(std::mt19937& random, const Joints& q, double range) {
  std::uniform_real_distribution<double> step(-range, range);
  Joints out;
  for (size_t j = 0; j < kJoints; ++j) {
    out[j] = std::clamp(q[j] + step(random), -6.0, 6.0);
  }
  return out;
}

TEST(Motion, FollowsAPlannedPathCloselyAndCompletes) {
  TestRig rig;
  rig.connect();
  Joints to = homeJoints();
  to[0] += 1.5;
  to[1] += 0.3;
  to[3] -= 1.0;
  for (const double dt : {0.002, 0.004, 0.008, 0.02}) {
    TestRig fresh;
    fresh.connect();
    const Trajectory path = feasibleLine(homeJoints(), to, fresh.config, 0.95, dt);
    const StartAnswer answer = fresh.start(path);
    ASSERT_EQ(answer.refusal, Refusal::kNone);
    double worst = 0;
    ASSERT_TRUE(fresh.runUntil(
        [&] {
          worst = std::max(worst, fresh.out.path_error_rad);
          return !fresh.out.motion_active;
        },
        path.duration() + 1));
    EXPECT_LT(worst, 4e-4) << "points every " << dt << " s";
    EXPECT_EQ(fresh.out.motion.end_reason, EndReason::kCompleted);
    EXPECT_EQ(fresh.out.motion.fraction_done, 1);
    EXPECT_EQ(fresh.out.motion.reached_point, path.time_s.size() - 1);
    EXPECT_LT(fresh.out.motion.end_time_s, answer.expected_end_time_s + 0.35);
    EXPECT_GE(fresh.out.motion.end_time_s, answer.expected_end_time_s);
    EXPECT_EQ(fresh.out.state, State::kIdle);
    for (size_t j = 0; j < kJoints; ++j) {
      EXPECT_NEAR(fresh.out.setpoint_rad[j], path.last()[j], 1e-4);
    }
    EXPECT_EQ(fresh.out.counters.tracker_fallbacks, 0u);
    RecordProperty("worst_path_error_rad", std::to_string(worst));
    std::printf("[ figures  ] points every %4.0f ms: setpoint off the path by at most %.2e rad\n",
                dt * 1e3, worst);
  }
}

// Time-optimal plans jump in jerk, and are sampled; here at 80 % of the acceleration and half the
// jerk.
TEST(Motion, FollowsTimeOptimalPlans) {
  for (const double dt : {0.002, 0.008, 0.02}) {
    TestRig rig;
    rig.connect();
    ruckig::Ruckig<6> planner;
    ruckig::InputParameter<6> input;
    ruckig::Trajectory<6> plan;
    input.current_position = homeJoints();
    input.target_position = {-0.9, -1.1, 1.9, -1.8, -1.2, 1.4};
    input.max_velocity.fill(3);
    input.max_acceleration.fill(8);
    input.max_jerk.fill(80);
    input.synchronization = ruckig::Synchronization::Phase;
    ASSERT_EQ(planner.calculate(input, plan), ruckig::Result::Working);
    const int n = static_cast<int>(std::ceil(plan.get_duration() / dt));
    Trajectory path;
    for (int i = 0; i <= n; ++i) {
      Joints q, v, a;
      plan.at_time(plan.get_duration() * i / n, q, v, a);
      path.add(plan.get_duration() * i / n, q);
    }
    ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
    double worst = 0;
    ASSERT_TRUE(rig.runUntil(
        [&] {
          worst = std::max(worst, rig.out.path_error_rad);
          return !rig.out.motion_active;
        },
        path.duration() + 1));
    EXPECT_EQ(rig.out.motion.end_reason, EndReason::kCompleted);
    EXPECT_LT(worst, 1e-3);
    std::printf(
        "[ figures  ] time-optimal plan, points every %2.0f ms: off the path by at most %.2e rad\n",
        dt * 1e3, worst);
  }
}

TEST(Motion, ReleasesTheArraysOnceAtItsEnd) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  int released = 0;
  rig.runUntil(
      [&] {
        released += rig.out.released_group == rig.group ? 1 : 0;
        return false;
      },
      path.duration() + 1);
  EXPECT_EQ(released, 1);
  EXPECT_NE(rig.last(EventKind::kGroupStarted), nullptr);
  EXPECT_NE(rig.last(EventKind::kGroupProgress), nullptr);
  EXPECT_EQ(rig.last(EventKind::kMotionEnded)->motion.end_reason, EndReason::kCompleted);
}

TEST(Motion, SpeedScalingStretchesTimeAndKeepsThePath) {
  for (const double scale : {1.0, 0.5, 0.25}) {
    TestRig rig;
    rig.connect();
    const Trajectory path = rig.longMove();
    const double direction = path.last()[2] - path.first()[2],
                 other = path.last()[0] - path.first()[0];
    rig.in.sample.speed_scaling = scale;
    const double began = rig.in.now_s;
    ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
    double off = 0;
    ASSERT_TRUE(rig.runUntil(
        [&] {
          // Both joints are at the same share of the way: the straight line is kept.
          off = std::max(off, std::abs((rig.out.setpoint_rad[2] - path.first()[2]) / direction -
                                       (rig.out.setpoint_rad[0] - path.first()[0]) / other));
          return !rig.out.motion_active;
        },
        path.duration() / scale + 1));
    EXPECT_NEAR(rig.in.now_s - began, path.duration() / scale, 0.45);
    EXPECT_LT(off, 2e-3);
  }
}

TEST(Motion, ASmallOffsetAtTheStartFadesOut) {
  TestRig rig;
  rig.connect();
  Trajectory path = rig.longMove();
  for (size_t n = 0; n < path.time_s.size(); ++n) {
    path.q_rad[n * kJoints + 1] += 0.019;
    path.q_rad[n * kJoints + 4] -= 0.015;
  }
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, path.duration() + 2));
  EXPECT_EQ(rig.out.motion.end_reason, EndReason::kCompleted);
  EXPECT_NEAR(rig.out.setpoint_rad[1], path.last()[1], 1e-4);
}

TEST(Motion, TwoPointsAndCornersAreSmoothedWithoutOvershoot) {
  TestRig rig;
  rig.connect();
  Trajectory path;
  Joints a = homeJoints(), b = a, c = a;
  b[0] += 0.6;
  c[0] += 0.2;
  path.add(0, a);
  path.add(0.9, b);
  path.add(1.8, c);
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  double most = -10, least = 10;
  ASSERT_TRUE(rig.runUntil(
      [&] {
        most = std::max(most, rig.out.setpoint_rad[0]);
        least = std::min(least, rig.out.setpoint_rad[0]);
        return !rig.out.motion_active;
      },
      5));
  EXPECT_EQ(rig.out.motion.end_reason, EndReason::kCompleted);
  EXPECT_GE(least, a[0] - 1e-3);
  EXPECT_LE(most, b[0] + 1e-3);
  EXPECT_GE(most, b[0] - 2e-2);  // no point is skipped
}

TEST(Motion, ATimeoutIsReportedWhereTheArmDoesNotArrive) {
  CoreConfig config;
  config.distance_base_rad = 1;
  config.settle_timeout_s = 0.3;
  TestRig rig(config);
  rig.connect();
  Joints to = homeJoints();
  to[5] += 0.05;
  const Trajectory path = feasibleLine(homeJoints(), to, config, 0.5, 0.01);
  rig.blocked = true;
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, path.duration() + 2));
  EXPECT_EQ(rig.out.motion.end_reason, EndReason::kTimeout);
}

TEST(Motion, AStopDeceleratesAtOnceAlongThePath) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  rig.run(path.duration() / 2);
  const double speed = std::abs(rig.out.setpoint_vel_rad_s[0]);
  ASSERT_GT(speed, 0.5);
  rig.stop("enough");
  rig.step();
  // The first setpoint after the request already decelerates.
  EXPECT_LT(std::abs(rig.out.setpoint_vel_rad_s[0]), speed);
  EXPECT_EQ(rig.out.action, Action::kStopRamp);
  EXPECT_EQ(rig.out.state, State::kStopping);
  EXPECT_EQ(rig.out.stops_served, 1u);
  EXPECT_TRUE(rig.out.stop_latched);
  const double began = rig.in.now_s;
  double before = std::abs(rig.out.setpoint_vel_rad_s[0]);
  ASSERT_TRUE(rig.runUntil(
      [&] {
        const double now = std::abs(rig.out.setpoint_vel_rad_s[0]);
        EXPECT_LE(now, before + 2e-3);
        before = now;
        EXPECT_LT(rig.out.path_error_rad, 1e-2);
        return rig.out.state == State::kHeld;
      },
      3));
  std::printf("[ figures  ] stop from %.2f rad/s: at rest and reported after %.0f ms\n", speed,
              (rig.in.now_s - began) * 1e3);
  EXPECT_LT(rig.in.now_s - began, 1.0);
  EXPECT_EQ(rig.out.motion.end_reason, EndReason::kStopped);
  EXPECT_LT(rig.out.motion.fraction_done, 1);
  EXPECT_EQ(rig.last(EventKind::kStopped)->reason.view(), "enough");
}

// The property: random motions, plans that ask too much among them, random scaling, random stops
// and resumes.
TEST(Motion, RandomisedSetpointsAlwaysKeepTheirLimits) {
  std::mt19937 random(20261130);
  std::uniform_real_distribution<double> unit(0, 1);
  uint64_t judged = 0, fallbacks = 0;
  double worst[3] = {0, 0, 0};
  int completed = 0, stopped = 0, faults = 0;
  for (int round = 0; round < 60; ++round) {
    CoreConfig config;
    for (JointLimits& l : config.limits) {
      l.velocity_rad_s = 0.5 + 2.5 * unit(random);
      l.acceleration_rad_s2 = 2 + 20 * unit(random);
      l.jerk_rad_s3 = 40 + 800 * unit(random);
    }
    TestRig rig(config, randomNear(random, homeJoints(), 1));
    rig.lag_s = 0.005 + 0.08 * unit(random);
    rig.connect();
    for (int n = 0; n < 5; ++n) {
      const Joints from = rig.out.setpoint_rad;
      Trajectory path;
      const double kind = unit(random);
      if (kind < 0.5) {
        path = feasibleLine(from, randomNear(random, from, 1.2), config, 0.3 + 0.7 * unit(random),
                            0.002 + 0.018 * unit(random));
      } else if (kind < 0.75) {
        // Asks for more than the arm can.
        path = smoothLine(from, randomNear(random, from, 0.5), 0.2 + 0.5 * unit(random),
                          0.002 + 0.03 * unit(random));
      } else {
        // Corners at uneven times, from beside where the arm is.
        double t = 0;
        path.add(0, randomNear(random, from, 0.019));
        const int points = 1 + static_cast<int>(6 * unit(random));
        Joints q = from;
        for (int p = 0; p < points; ++p) {
          t += 0.01 + 0.6 * unit(random);
          q = randomNear(random, q, 0.3);
          path.add(t, q);
        }
      }
      ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
      const int stop_after =
          unit(random) < 0.5 ? static_cast<int>(unit(random) * path.duration() / kPeriod_s) : -1;
      int cycle = 0;
      rig.runUntil(
          [&] {
            if (unit(random) < 0.01) {
              rig.in.sample.speed_scaling = unit(random) < 0.2 ? 0 : unit(random);
            }
            if (unit(random) < 0.003) {
              rig.in.sample.target_speed_fraction = 0.2 + 0.8 * unit(random);
            }
            if (++cycle == stop_after) {
              rig.stop();
            }
            return !rig.out.motion_active;
          },
          30);
      rig.in.sample.speed_scaling = rig.in.sample.target_speed_fraction = 1;
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "round " << round << " motion " << n;
      ASSERT_TRUE(rig.runUntil([&] { return !rig.out.motion_active; }, 30))
          << "round " << round << " motion " << n;
      completed += rig.out.motion.end_reason == EndReason::kCompleted ? 1 : 0;
      stopped += rig.out.motion.end_reason == EndReason::kStopped ? 1 : 0;
      faults += rig.out.fault.code != FaultCode::kNone ? 1 : 0;
      ASSERT_EQ(rig.out.fault.code, FaultCode::kNone) << faultMessage(rig.out.fault, config);
      if (rig.out.motion.end_reason == EndReason::kCompleted) {
        for (size_t j = 0; j < kJoints; ++j) {
          EXPECT_NEAR(rig.out.setpoint_rad[j], path.last()[j], 2e-4);
        }
      }
      if (rig.out.stop_latched) {
        ASSERT_TRUE(rig.runUntil([&] { return rig.out.state == State::kHeld; }, 3));
        ASSERT_EQ(rig.resume().refusal, Refusal::kNone);
      }
      ASSERT_TRUE(rig.runUntil([&] { return rig.out.state == State::kIdle; }, 3));
    }
    judged += rig.judged;
    fallbacks += rig.out.counters.tracker_fallbacks;
    worst[0] = std::max(worst[0], rig.worst_velocity);
    worst[1] = std::max(worst[1], rig.worst_acceleration);
    worst[2] = std::max(worst[2], rig.worst_jerk);
  }
  std::printf(
      "[ figures  ] %lu setpoints: at most %.4f of velocity, %.4f of acceleration, %.4f of jerk; "
      "%d completed, "
      "%d stopped, %lu plain braking steps\n",
      static_cast<unsigned long>(judged), worst[0], worst[1], worst[2], completed, stopped,
      static_cast<unsigned long>(fallbacks));
  EXPECT_GT(completed, 100);
  EXPECT_GT(stopped, 50);
  EXPECT_GT(judged, 100000u);
  EXPECT_EQ(fallbacks, 0u);
}

TEST(Motion, CyclesThatComeLateDoNotMakeTheSetpointJump) {
  TestRig rig;
  rig.connect();
  const Trajectory path = rig.longMove();
  ASSERT_EQ(rig.start(path).refusal, Refusal::kNone);
  for (int i = 0; i < 100; ++i) {
    rig.next_gap_s = i % 10 == 0 ? 0.015 : kPeriod_s;  // judged per cycle by the rig
    rig.step();
  }
  EXPECT_EQ(rig.out.state, State::kMoving);
}

}  // namespace
}  // namespace s2r::arm
