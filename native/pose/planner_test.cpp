#include "native/pose/planner.h"

#include <gtest/gtest.h>

#include "native/pose/test_arm.h"

namespace s2r::pose {
namespace {

// Largest share of a joint limit that the samples use, by differences with rest before and after.
double largestUse(const ArmModel& m, const Samples& s, double velocity_scale = 1) {
  std::vector<Joints> q = s.q_rad;
  q.insert(q.begin(), 3, q.front());
  q.insert(q.end(), 3, q.back());
  const double dt = s.dt_s;
  double use = 0;
  for (size_t i = 3; i < q.size(); ++i) {
    const Joints v = (q[i] - q[i - 1]) / dt, a = (q[i] - 2 * q[i - 1] + q[i - 2]) / (dt * dt);
    const Joints j = (q[i] - 3 * q[i - 1] + 3 * q[i - 2] - q[i - 3]) / (dt * dt * dt);
    use =
        std::max({use, v.cwiseAbs().cwiseQuotient(m.velocity_max_rad_s).maxCoeff() / velocity_scale,
                  a.cwiseAbs().cwiseQuotient(m.acceleration_max_rad_s2).maxCoeff(),
                  j.cwiseAbs().cwiseQuotient(m.jerk_max_rad_s3).maxCoeff()});
  }
  return use;
}

Transform raised(Transform X, double x, double y, double z) {
  X.translation() += Vec3(x, y, z);
  return X;
}

TEST(PlanJoint, IsStraightFastAndWithinLimits) {
  const Arm arm{ur5e()};
  std::mt19937 random(21);
  for (int n = 0; n < 100; ++n) {
    JointRequest r;
    r.q_start_rad = randomJoints(random);
    r.q_goal_rad = randomJoints(random);
    const Plan plan = planJoint(arm, r);
    ASSERT_EQ(plan.code, PlanCode::kOk) << plan.reason;
    const auto& q = plan.samples.q_rad;
    EXPECT_EQ(q.front(), r.q_start_rad);
    EXPECT_EQ(q.back(), *r.q_goal_rad);
    const double use = largestUse(arm.model, plan.samples);
    EXPECT_LE(use, 1.0001);
    EXPECT_GE(use, 0.9);
    const Joints d = (*r.q_goal_rad - r.q_start_rad).normalized();
    for (const Joints& p : q) {
      const Joints off = p - r.q_start_rad;
      EXPECT_LT((off - d * off.dot(d)).norm(), 1e-9);
    }
  }
}

TEST(PlanJoint, ScalesAndLeastDurationAreKept) {
  const Arm arm{ur5e()};
  JointRequest r;
  r.q_start_rad = homeJoints();
  r.q_goal_rad = homeJoints() + Joints::Constant(0.7);
  r.velocity_scale = 0.25;
  const Plan slow = planJoint(arm, r);
  EXPECT_LE(largestUse(arm.model, slow.samples, 0.25), 1.0001);
  r.velocity_scale = 1;
  r.min_duration_s = 7.5;
  const Plan stretched = planJoint(arm, r);
  EXPECT_NEAR(static_cast<double>(stretched.samples.q_rad.size() - 1) * r.dt_s, 7.5, 1e-9);
  EXPECT_NEAR(stretched.pose_times_s.at(0), 7.5, 1e-9);
}

TEST(PlanJoint, GoalPoseTakesTheNearestSolutionAndLimitsAreNamed) {
  const Arm arm{ur5e()};
  JointRequest r;
  r.q_start_rad = homeJoints();
  Joints goal = homeJoints();
  goal[0] += 0.8;
  goal[4] += 0.2;
  r.X_world_goal = arm.kinematics().forward(goal);
  const Plan plan = planJoint(arm, r);
  ASSERT_EQ(plan.code, PlanCode::kOk);
  EXPECT_LT((plan.samples.q_rad.back() - goal).cwiseAbs().maxCoeff(), 1e-9);
  r.X_world_goal = raised(*r.X_world_goal, 3, 0, 0);
  EXPECT_EQ(planJoint(arm, r).code, PlanCode::kUnreachable);
  r.X_world_goal.reset();
  r.q_goal_rad = goal;
  (*r.q_goal_rad)[2] = 3.5;
  const Plan broken = planJoint(arm, r);
  EXPECT_EQ(broken.code, PlanCode::kJointLimit);
  EXPECT_NE(broken.reason.find("joint 3"), std::string::npos) << broken.reason;
  r.q_goal_rad->setConstant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(planJoint(arm, r).code, PlanCode::kJointLimit);
}

TEST(PlanLinear, StaysOnTheLineWithinEveryLimit) {
  std::mt19937 random(22);
  std::uniform_real_distribution<double> shift(-0.2, 0.2), turn(-0.6, 0.6);
  int planned = 0;
  for (int n = 0; n < 60; ++n) {
    const Arm arm{n % 3 == 0 ? calibratedUr5e(n) : ur5e()};
    PathRequest r;
    r.q_start_rad = homeJoints();
    const Transform X0 = arm.kinematics().forward(r.q_start_rad);
    Transform X1 = raised(X0, shift(random), shift(random), 0.5 * shift(random));
    X1.linear() = rotationOf(Vec3(turn(random), turn(random), turn(random))) * X1.linear();
    r.poses_world = {X1};
    const Plan plan = planPath(arm, r);
    if (plan.code != PlanCode::kOk) {
      EXPECT_EQ(plan.code, PlanCode::kNotLinear) << plan.reason;
      continue;
    }
    ++planned;
    EXPECT_LE(largestUse(arm.model, plan.samples), 1.01);
    const Vec3 p0 = X0.translation(), d = (X1.translation() - p0).normalized();
    const Vec3 w = rotationBetween(X0.linear(), X1.linear());
    double fastest = 0;
    Vec3 last = p0;
    for (const Joints& q : plan.samples.q_rad) {
      const Transform X = arm.kinematics().forward(q);
      const Vec3 off = X.translation() - p0;
      EXPECT_LT((off - d * off.dot(d)).norm(), 1e-6);
      const double share = off.dot(d) / (X1.translation() - p0).norm();
      EXPECT_LT(rotationBetween(rotationOf(w * share) * X0.linear(), X.linear()).norm(), 1e-5);
      fastest = std::max(fastest, (X.translation() - last).norm() / r.dt_s);
      last = X.translation();
    }
    EXPECT_LE(fastest, r.limits.speed_m_s * 1.001);
    EXPECT_LT((arm.kinematics().forward(plan.samples.q_rad.back()).matrix() - X1.matrix())
                  .cwiseAbs()
                  .maxCoeff(),
              1e-8);
  }
  EXPECT_GE(planned, 50);
}

TEST(PlanLinear, CruisesAtTheSpeedAskedFor) {
  const Arm arm{ur5e()};
  PathRequest r;
  r.q_start_rad = homeJoints();
  r.poses_world = {raised(arm.kinematics().forward(r.q_start_rad), 0, -0.3, 0)};
  const Plan plan = planPath(arm, r);
  ASSERT_EQ(plan.code, PlanCode::kOk) << plan.reason;
  // 0.3 m at 0.25 m/s, 1.2 m/s2 and 12 m/s3: 1.2 s of cruise distance and the ramps.
  const double duration = static_cast<double>(plan.samples.q_rad.size() - 1) * plan.samples.dt_s;
  EXPECT_NEAR(duration, 0.3 / 0.25 + 0.25 / 1.2 + 1.2 / 12, 0.15);
}

TEST(PlanLinear, SingularityIsNotLinearAndReachIsNamed) {
  const Arm arm{ur5e()};
  PathRequest r;
  r.q_start_rad = homeJoints();
  const Transform X0 = arm.kinematics().forward(r.q_start_rad);
  r.poses_world = {raised(X0, 0.8, 0, 0)};
  EXPECT_EQ(planPath(arm, r).code, PlanCode::kUnreachable);
  // Straight through the base: both ends reachable, the middle not.
  Transform near = X0, far = X0;
  near.translation().y() = far.translation().y() = 0.02;
  far.translation().x() *= -1;
  r.q_start_rad = arm.inverse.solveNear(near, homeJoints()).at(0);
  r.poses_world = {far};
  const Plan through = planPath(arm, r);
  EXPECT_EQ(through.code, PlanCode::kNotLinear) << through.reason;
  EXPECT_EQ(through.pose_index, 0);
  // Through a wrist singularity: joint 5 from +0.4 to -0.4 while the tool's heading is kept up by
  // joints 4 and 6.
  Joints q = homeJoints();
  q[4] = -0.3;
  r.q_start_rad = q;
  const Transform A = arm.kinematics().forward(q);
  const Frames f = arm.kinematics().frames(q);
  Transform B = A;
  // Tilt about the axis that is normal to both joint 4 and the tool, past the point where they
  // align, a little off it.
  const Vec3 z3 = f[3].linear().col(2), tool = A.linear().col(2);
  const Vec3 off = (z3.cross(tool)).normalized();
  B.linear() = rotationOf(-0.6 * off + 0.02 * z3.cross(off)) * A.linear();
  r.poses_world = {B};
  const Plan wrist = planPath(arm, r);
  if (wrist.code == PlanCode::kOk) {
    EXPECT_LE(largestUse(arm.model, wrist.samples), 1.01);
  } else {
    EXPECT_EQ(wrist.code, PlanCode::kNotLinear) << wrist.reason;
  }
}

TEST(PlanPath, CornersAreBlendedOrStoppedAt) {
  const Arm arm{ur5e()};
  PathRequest r;
  r.q_start_rad = homeJoints();
  const Transform X0 = arm.kinematics().forward(r.q_start_rad);
  r.poses_world = {raised(X0, 0, -0.1, 0), raised(X0, -0.1, -0.1, 0), raised(X0, -0.1, -0.1, 0.1)};
  r.blend_m = 0.02;
  const Plan blended = planPath(arm, r);
  ASSERT_EQ(blended.code, PlanCode::kOk) << blended.reason;
  EXPECT_LE(largestUse(arm.model, blended.samples), 1.01);
  ASSERT_EQ(blended.pose_times_s.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(blended.pose_times_s));
  for (size_t i = 0; i < 3; ++i) {
    const auto k = static_cast<size_t>(std::lround(blended.pose_times_s[i] / r.dt_s));
    const double miss = (arm.kinematics().forward(blended.samples.q_rad[k]).translation() -
                         r.poses_world[i].translation())
                            .norm();
    EXPECT_LT(miss, i < 2 ? 0.375 * 0.02 : 1e-6);
  }
  r.blend_m = 0;
  const Plan stopping = planPath(arm, r);
  ASSERT_EQ(stopping.code, PlanCode::kOk);
  EXPECT_GE(stopping.samples.q_rad.size(), blended.samples.q_rad.size());
  for (size_t i = 0; i < 3; ++i) {
    const auto k = static_cast<size_t>(std::lround(stopping.pose_times_s[i] / r.dt_s));
    EXPECT_LT(
        (arm.kinematics().forward(stopping.samples.q_rad[k]).matrix() - r.poses_world[i].matrix())
            .norm(),
        1e-8);
  }
  // Wide corners are driven through without a stop.
  r.blend_m = 0.045;
  const Plan wide = planPath(arm, r);
  ASSERT_EQ(wide.code, PlanCode::kOk);
  const auto corner = static_cast<size_t>(std::lround(wide.pose_times_s[0] / r.dt_s));
  EXPECT_GT((arm.kinematics().forward(wide.samples.q_rad[corner + 1]).translation() -
             arm.kinematics().forward(wide.samples.q_rad[corner]).translation())
                    .norm() /
                r.dt_s,
            0.05);
  // There and back: a turn of 180 degrees stops whatever the blend.
  r.blend_m = 0.02;
  r.poses_world = {raised(X0, 0, -0.1, 0), X0};
  const Plan back = planPath(arm, r);
  ASSERT_EQ(back.code, PlanCode::kOk);
  const auto turn = static_cast<size_t>(std::lround(back.pose_times_s[0] / r.dt_s));
  EXPECT_LT(
      (arm.kinematics().forward(back.samples.q_rad[turn]).matrix() - r.poses_world[0].matrix())
          .norm(),
      1e-8);
}

TEST(PlanPath, DensePathsAndRepeatedPoses) {
  const Arm arm{ur5e()};
  PathRequest r;
  r.q_start_rad = homeJoints();
  const Transform X0 = arm.kinematics().forward(r.q_start_rad);
  r.poses_world = {X0, X0};
  const Plan still = planPath(arm, r);
  ASSERT_EQ(still.code, PlanCode::kOk);
  EXPECT_EQ(still.samples.q_rad.size(), 1u);
  EXPECT_EQ(still.pose_times_s.size(), 2u);
  // A circle of 72 chords.
  for (int i = 0; i <= 72; ++i) {
    const double a = 2 * kPi * i / 72;
    r.poses_world.push_back(raised(X0, 0.05 * std::cos(a) - 0.05, 0.05 * std::sin(a), 0));
  }
  const Plan circle = planPath(arm, r);
  ASSERT_EQ(circle.code, PlanCode::kOk) << circle.reason;
  EXPECT_LE(largestUse(arm.model, circle.samples), 1.01);
  EXPECT_EQ(circle.pose_times_s.size(), 75u);
  for (const Joints& q : circle.samples.q_rad) {
    const Vec3 p = arm.kinematics().forward(q).translation() - X0.translation() + Vec3(0.05, 0, 0);
    EXPECT_NEAR(p.norm(), 0.05, 5e-4);
  }
}

Scene wall() {
  Scene scene;
  scene.table_z_m = 0;
  Zone z;
  z.name = "wall";
  z.box.size_m = Vec3(0.5, 0.02, 0.35);
  z.box.X_world_box.translation() = Vec3(0.55, 0.0, 0.175);
  scene.zones.push_back(z);
  return scene;
}

TEST(PlanJoint, GoesOverAWallOrSaysWhatIsInTheWay) {
  const Arm arm{ur5e()};
  JointRequest r;
  const Joints home = homeJoints();
  Transform left = arm.kinematics().forward(home);
  left.translation() = Vec3(0.45, 0.25, 0.15);
  Transform right = left;
  right.translation() = Vec3(0.45, -0.25, 0.15);
  r.q_start_rad = arm.inverse.solveNear(left, home).at(0);
  r.q_goal_rad = arm.inverse.solveNear(right, home).at(0);
  r.scene = wall();
  const Plan over = planJoint(arm, r);
  ASSERT_EQ(over.code, PlanCode::kOk) << over.reason;
  EXPECT_TRUE(over.detour);
  EXPECT_LE(largestUse(arm.model, over.samples), 1.01);
  SceneIndex index(*r.scene);
  CollisionChecker checker(arm.model, index, r.tool);
  for (const Joints& q : over.samples.q_rad) {
    const Frames f = arm.kinematics().frames(q);
    ASSERT_FALSE(checker.check(f, arm.kinematics().tcpOf(f)).hit);
  }
  r.detour = false;
  const Plan blocked = planJoint(arm, r);
  EXPECT_EQ(blocked.code, PlanCode::kCollision);
  ASSERT_TRUE(blocked.hit);
  EXPECT_EQ(blocked.hit->against, "zone wall");
  r.detour = true;
  right.translation() = Vec3(0.45, 0.0, 0.15);  // inside the wall
  r.q_goal_rad = arm.inverse.solveNear(right, home).at(0);
  EXPECT_EQ(planJoint(arm, r).code, PlanCode::kCollision);
}

TEST(PlanLinear, CollisionOnTheWayIsFoundWithItsPose) {
  const Arm arm{ur5e()};
  PathRequest r;
  const Joints home = homeJoints();
  Transform X = arm.kinematics().forward(home);
  X.translation() = Vec3(0.45, 0.25, 0.15);
  r.q_start_rad = arm.inverse.solveNear(X, home).at(0);
  r.scene = wall();
  r.poses_world = {raised(X, 0, -0.03, 0), raised(X, 0, -0.4, 0)};
  const Plan plan = planPath(arm, r);
  EXPECT_EQ(plan.code, PlanCode::kCollision);
  EXPECT_EQ(plan.pose_index, 1);
  r.poses_world.resize(1);
  const Plan free = planPath(arm, r);
  EXPECT_EQ(free.code, PlanCode::kOk) << free.reason;
  EXPECT_TRUE(free.clearance_m.has_value());
}

TEST(Plan, ContactAtTheStartMayBeLeftButNotPressed) {
  const Arm arm{ur5e()};
  const Joints home = homeJoints();
  Transform X = arm.kinematics().forward(home);
  X.translation() = Vec3(0.45, 0.2, 0.03);
  PathRequest r;
  r.q_start_rad = arm.inverse.solveNear(X, home).at(0);
  r.tool.opening_m = 0.04;
  HeldObject held;
  held.size_m = Vec3(0.04, 0.04, 0.06);
  r.tool.held = held;  // its underside stands on the table at z = 0
  Scene scene;
  scene.table_z_m = 0;
  r.scene = scene;
  r.poses_world = {raised(X, 0, 0, 0.1)};
  const Plan up = planPath(arm, r);
  EXPECT_EQ(up.code, PlanCode::kOk) << up.reason;
  r.poses_world = {raised(X, 0, 0, -0.01)};
  EXPECT_EQ(planPath(arm, r).code, PlanCode::kCollision);
  r.poses_world = {raised(X, 0, 0, 0.05), raised(X, 0, -0.1, 0.0)};
  r.blend_m = 0;
  EXPECT_EQ(planPath(arm, r).code, PlanCode::kCollision);
}

}  // namespace
}  // namespace s2r::pose
