#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <cmath>

#include "backends/emulators/ur-controller/motion.h"
#include "backends/emulators/ur-controller/trapezoid.h"

namespace s2r::ur {
namespace {

Joints home() {
  return (Joints() << 0, -pose::kPi / 2, pose::kPi / 2, -pose::kPi / 2, -pose::kPi / 2, 0)
      .finished();
}

PathLeg jointLeg(double q0, double speed, double acceleration, double blend_m = 0) {
  PathLeg leg;
  leg.q_rad = home();
  leg.q_rad[0] = q0;
  leg.speed = speed;
  leg.acceleration = acceleration;
  leg.blend_m = blend_m;
  return leg;
}

// Steps until the motion ends; greatest speed and acceleration of joint 0 on the way.
struct Trip {
  double seconds = 0, top_speed = 0, top_acceleration = 0;
};
Trip travel(Motion& motion, double longest_s = 20) {
  Trip out;
  while (!motion.idle() && out.seconds < longest_s) {
    motion.step();
    out.seconds += kCycleS;
    out.top_speed = std::max(out.top_speed, std::abs(motion.target().qd[0]));
    out.top_acceleration = std::max(out.top_acceleration, std::abs(motion.acceleration()[0]));
  }
  return out;
}

TEST(Trapezoid, ReachesItsDistanceWithinItsLimits) {
  for (const double distance : {0.001, 0.1, 1.0, 5.0}) {
    const Trapezoid profile(distance, 0.7, 1.3);
    EXPECT_NEAR(profile.at(profile.duration()), distance, 1e-12);
    double before = 0;
    for (double t = 0; t < profile.duration(); t += 1e-3) {
      EXPECT_GE(profile.at(t), before);
      EXPECT_LE(profile.at(t) - before, 0.7e-3 + 1e-9);
      before = profile.at(t);
    }
  }
}

TEST(PathMover, JointMoveEndsAtTheTargetInTime) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  motion.path({jointLeg(1.0, 0.5, 1.0)}, nullptr);
  const Trip result = travel(motion);
  EXPECT_NEAR(result.seconds, 2.5, 0.01);
  EXPECT_NEAR(result.top_speed, 0.5, 1e-6);
  EXPECT_LT(result.top_acceleration, 1.05);
  EXPECT_NEAR(motion.target().q[0], 1.0, 1e-12);
  EXPECT_TRUE(motion.standing());
}

TEST(PathMover, BlendKeepsMovingAndStaysOnTheWay) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  motion.path({jointLeg(0.5, 0.5, 2.0, 0.06), jointLeg(1.0, 0.5, 2.0)}, nullptr);
  double slowest = 1;
  while (!motion.idle()) {
    motion.step();
    if (motion.target().q[0] > 0.2 && motion.target().q[0] < 0.8) {
      slowest = std::min(slowest, motion.target().qd[0]);
    }
  }
  EXPECT_GT(slowest, 0.2);
  EXPECT_NEAR(motion.target().q[0], 1.0, 1e-9);
}

TEST(PathMover, HalfRateTakesTwiceAsLong) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  motion.setRate(0.5);
  for (int i = 0; i < 500; ++i) {
    motion.step();
  }
  motion.path({jointLeg(1.0, 0.5, 1.0)}, nullptr);
  EXPECT_NEAR(travel(motion).seconds, 5.0, 0.02);
}

TEST(PathMover, SuspendedMoveGoesOnFromWhereItStands) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  motion.path({jointLeg(1.0, 0.5, 1.0)}, nullptr);
  for (int i = 0; i < 500; ++i) {
    motion.step();
  }
  motion.suspend(10);
  travel(motion);
  EXPECT_TRUE(motion.standing());
  EXPECT_LT(motion.target().q[0], 0.6);
  motion.resume();
  const Trip rest = travel(motion);
  EXPECT_LT(rest.top_acceleration, 1.05);
  EXPECT_NEAR(motion.target().q[0], 1.0, 1e-9);
}

TEST(PathMover, LineKeepsTheToolOnTheLine) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  PathLeg leg;
  leg.cartesian = true;
  leg.X_base_tcp = arm.tool(home());
  leg.X_base_tcp.translation() += Vec3(0.1, 0.1, -0.05);
  leg.speed = 0.25;
  leg.acceleration = 1;
  const Vec3 from = arm.tool(home()).translation();
  const Vec3 along = Vec3(0.1, 0.1, -0.05).normalized();
  motion.path({leg}, nullptr);
  while (!motion.idle()) {
    motion.step();
    const Vec3 way = arm.tool(motion.target().q).translation() - from;
    EXPECT_LT((way - along * way.dot(along)).norm(), 1e-9);
  }
  EXPECT_LT((arm.tool(motion.target().q).translation() - leg.X_base_tcp.translation()).norm(),
            1e-9);
}

TEST(PathMover, RefusesAMoveWithoutSpeed) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  EXPECT_THROW(motion.path({jointLeg(1, 0, 1)}, nullptr), ScriptError);
}

TEST(ServoMover, IsTheDocumentedSecondOrderFollower) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  auto target = std::make_shared<ServoTarget>();
  target->q_rad = home();
  target->q_rad[0] = 0.01;
  target->gain = 900;              // natural frequency 30 rad/s
  target->lookahead_s = 2.0 / 30;  // critically damped
  motion.servo(target);
  const double wn = 30;
  for (int i = 1; i <= 200; ++i) {
    motion.step();
    const double t = i * kCycleS;
    const double exact = 0.01 * (1 - std::exp(-wn * t) * (1 + wn * t));
    EXPECT_NEAR(motion.target().q[0], exact, 4e-4);
  }
}

TEST(ServoMover, LowLookaheadOvershootsHighDoesNot) {
  const auto overshoot = [](double lookahead_s) {
    const Arm arm{KinematicDeltas()};
    Motion motion(arm);
    motion.reset(home());
    auto target = std::make_shared<ServoTarget>();
    target->q_rad = home();
    target->q_rad[0] = 0.01;
    target->gain = 300;
    target->lookahead_s = lookahead_s;
    motion.servo(target);
    double top = 0;
    for (int i = 0; i < 1000; ++i) {
      motion.step();
      top = std::max(top, motion.target().q[0]);
    }
    return top - 0.01;
  };
  EXPECT_GT(overshoot(0.03), 0.002);
  EXPECT_LT(overshoot(0.2), 1e-6);
}

TEST(ServoMover, ReducedRateSkipsSetpoints) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  motion.setRate(0.25);
  for (int i = 0; i < 200; ++i) {
    motion.step();
  }
  auto target = std::make_shared<ServoTarget>();
  target->q_rad = home();
  motion.servo(target);
  motion.step();  // a call begins with the setpoint of this cycle and lasts four
  target->q_rad[0] = 0.001;
  for (int i = 0; i < 3; ++i) {
    motion.step();
    EXPECT_EQ(motion.target().q[0], 0);
  }
  motion.step();
  EXPECT_GT(motion.target().q[0], 0);
}

TEST(SpeedMover, RampsAtItsAccelerationAndKeepsTheSpeed) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  auto target = std::make_shared<SpeedTarget>();
  target->velocity[0] = 0.4;
  target->acceleration = 2;
  motion.speed(target);
  const Trip result = travel(motion, 1.0);
  EXPECT_NEAR(result.top_acceleration, 2, 1e-6);
  EXPECT_NEAR(motion.target().qd[0], 0.4, 1e-12);
}

TEST(StopMover, SlowsTheLeadingJointAtTheRateGiven) {
  const Arm arm{KinematicDeltas()};
  Motion motion(arm);
  motion.reset(home());
  auto target = std::make_shared<SpeedTarget>();
  target->velocity[0] = 1;
  target->velocity[3] = 0.5;
  target->acceleration = 10;
  motion.speed(target);
  travel(motion, 0.5);
  const double from = motion.target().q[0];
  motion.stopJoints(2);
  const Trip result = travel(motion);
  EXPECT_NEAR(result.seconds, 0.5, 0.01);
  EXPECT_NEAR(motion.target().q[0] - from, 0.25, 0.003);
}

TEST(Arm, GravityTorqueIsTheGradientOfThePotential) {
  const Arm arm{KinematicDeltas()};
  Payload payload;
  payload.mass_kg = 1.5;
  payload.cog_m = Vec3(0.01, 0, 0.05);
  const Joints q = home() + Joints::Constant(0.3);
  // Virtual work with a joint-space kinetic check: M is symmetric and positive definite.
  const pose::Matrix6 M = arm.massMatrix(q, payload);
  EXPECT_LT((M - M.transpose()).norm(), 1e-12);
  EXPECT_GT(M.eigenvalues().real().minCoeff(), 0);
  // Joint 1 turns about the vertical: it bears no weight.
  EXPECT_NEAR(arm.gravityTorque(q, payload, Vec3(0, 0, 9.82))[0], 0, 1e-9);
  // Stretched out level, joint 2 bears everything at its lever.
  const Joints level = Joints::Zero();
  EXPECT_GT(std::abs(arm.gravityTorque(level, payload, Vec3(0, 0, 9.82))[1]), 50);
}

}  // namespace
}  // namespace s2r::ur
