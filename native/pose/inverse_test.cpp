#include "native/pose/inverse.h"

#include <gtest/gtest.h>

#include "native/pose/test_arm.h"

namespace s2r::pose {
namespace {

double errorOf(const Kinematics& k, const Joints& q, const Transform& X) {
  return (k.forward(q).matrix() - X.matrix()).cwiseAbs().maxCoeff();
}

double apart(const Joints& a, const Joints& b) {
  double most = 0;
  for (int j = 0; j < kJoints; ++j) {
    most = std::max(most, std::abs(wrapAngle(a[j] - b[j])));
  }
  return most;
}

bool contains(const Solutions& s, const Joints& q, double tolerance) {
  for (int i = 0; i < s.count; ++i) {
    if (apart(s.q_rad[i], q) < tolerance) {
      return true;
    }
  }
  return false;
}

TEST(Inverse, RecoversEveryRandomConfigurationExactly) {
  std::mt19937 random(11);
  const Inverse inverse{ur5e()};
  ASSERT_TRUE(inverse.exact());
  for (int n = 0; n < 20000; ++n) {
    const Joints q = randomJoints(random);
    const Transform X = inverse.kinematics().forward(q);
    const Solutions s = inverse.solve(X);
    ASSERT_TRUE(contains(s, q, 1e-5)) << q.transpose();
    EXPECT_EQ(s.count % 2, 0) << q.transpose();
    for (int i = 0; i < s.count; ++i) {
      ASSERT_LT(errorOf(inverse.kinematics(), s.q_rad[i], X), 1e-9);
    }
  }
}

TEST(Inverse, CalibratedArmsAreRefined) {
  std::mt19937 random(12);
  int lost = 0, total = 0;
  for (unsigned arm = 0; arm < 5; ++arm) {
    const Inverse inverse{calibratedUr5e(arm)};
    ASSERT_FALSE(inverse.exact());
    for (int n = 0; n < 2000; ++n) {
      const Joints q = randomJoints(random);
      const Transform X = inverse.kinematics().forward(q);
      const Solutions s = inverse.solve(X);
      ++total;
      lost += contains(s, q, 1e-4) ? 0 : 1;
      for (int i = 0; i < s.count; ++i) {
        ASSERT_LT(errorOf(inverse.kinematics(), s.q_rad[i], X), 1e-9);
      }
    }
  }
  // On the edge of a singularity a calibrated arm may have solutions that no seed leads to.
  EXPECT_LE(lost, total / 400);
}

TEST(Inverse, NearlyParallelAxesWithHugeOffsetsAreStillAUr) {
  // Calibration tables describe nearly parallel axes by offsets of metres that cancel.
  ArmModel m = ur5e();
  m.dh[1].alpha_rad = 1e-3;
  m.dh[2].alpha_rad = -1e-3;
  m.dh[1].d_m = 5;
  m.dh[2].d_m = -5;
  const Inverse inverse{m};
  std::mt19937 random(13);
  int found = 0;
  for (int n = 0; n < 1000; ++n) {
    const Joints q = randomJoints(random);
    found += contains(inverse.solve(inverse.kinematics().forward(q)), q, 1e-4) ? 1 : 0;
  }
  EXPECT_GE(found, 995);
}

TEST(Inverse, SingularConfigurationsAreSolved) {
  const Inverse inverse{ur5e()};
  std::mt19937 random(14);
  const auto check = [&](const Joints& q, const char* what, bool recovered) {
    const Transform X = inverse.kinematics().forward(q);
    const Solutions s = inverse.solve(X, q[5]);
    EXPECT_GE(s.count, 1) << what;
    for (int i = 0; i < s.count; ++i) {
      EXPECT_LT(errorOf(inverse.kinematics(), s.q_rad[i], X), 1e-9) << what;
    }
    if (recovered) {
      EXPECT_TRUE(contains(s, q, 1e-4)) << what << " " << q.transpose();
    }
  };
  for (int n = 0; n < 300; ++n) {
    Joints q = randomJoints(random);
    q[4] = 0;
    check(q, "wrist", true);
    q[4] = kPi;
    check(q, "wrist turned", true);
    q = randomJoints(random);
    q[2] = 0;
    check(q, "stretched", true);
    q[2] = kPi;
    check(q, "folded", true);
    q[2] = 1e-9;
    check(q, "nearly stretched", true);
    q.setZero();
    q[1] = 1e-9 * n;
    q[5] = 0.01 * n;
    check(q, "stretched with a free wrist", false);
    q = randomJoints(random);
    q[2] = 1e-8;
    q[4] = 1e-8;
    check(q, "two at once", false);
    // Shoulder: the wrist centre at distance d4 from the axis of joint 1, found by bisection on
    // joint 2.
    q = randomJoints(random);
    const auto beyond = [&](double q2) {
      Joints p = q;
      p[1] = q2;
      const Frames f = inverse.kinematics().frames(p);
      const Vec3 z1(std::sin(p[0]), -std::cos(p[0]), 0);
      const Vec3 c = f[6].translation() - 0.0996 * f[6].linear().col(2);
      return Vec3(c.x(), c.y(), 0).cross(z1).z();
    };
    double low = -kPi, high = 0;
    if (beyond(low) * beyond(high) < 0) {
      for (int i = 0; i < 100; ++i) {
        const double middle = 0.5 * (low + high);
        (beyond(low) * beyond(middle) <= 0 ? high : low) = middle;
      }
      q[1] = low;
      check(q, "shoulder", true);
    }
  }
}

TEST(Inverse, OutOfReachAndBadInputGiveNothing) {
  const Inverse inverse{ur5e()};
  Transform X = inverse.kinematics().forward(homeJoints());
  X.translation().x() = 2;
  EXPECT_EQ(inverse.solve(X).count, 0);
  X.translation().x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(inverse.solve(X).count, 0);
  EXPECT_TRUE(inverse.solveNear(X, homeJoints()).empty());
  X.translation() = Vec3(0, 0, 0.3);  // the axis of joint 1
  EXPECT_EQ(inverse.solve(X).count, 0);
}

TEST(Inverse, LimitsAndFullTurns) {
  ArmModel m = ur5e();
  const Inverse inverse{m};
  const Joints q = homeJoints();
  const Transform X = inverse.kinematics().forward(q);
  const auto plain = inverse.solveWithin(X, false), turns = inverse.solveWithin(X, true);
  EXPECT_EQ(plain.size(), static_cast<size_t>(inverse.solve(X).count));
  EXPECT_GT(turns.size(), 8 * plain.size());
  for (const Joints& t : turns) {
    EXPECT_TRUE(inverse.withinLimits(t));
    EXPECT_LT(errorOf(inverse.kinematics(), t, X), 1e-9);
  }
  m.position_min_rad.setConstant(-0.1);
  m.position_max_rad.setConstant(0.1);
  EXPECT_TRUE(Inverse{m}.solveWithin(X, true).empty());

  Joints seed = q;
  seed[5] += 2 * kPi - 0.1;
  seed[0] -= 2 * kPi;
  const auto near = inverse.solveNear(X, seed);
  ASSERT_FALSE(near.empty());
  EXPECT_NEAR(near[0][5], q[5] + 2 * kPi, 1e-9);
  EXPECT_NEAR(near[0][0], q[0] - 2 * kPi, 1e-9);
}

TEST(Inverse, RefusesArmsOfAnotherType) {
  ArmModel m = ur5e();
  m.dh[1].alpha_rad = kPi / 2;
  EXPECT_THROW(Inverse{m}, std::invalid_argument);
  m = ur5e();
  m.dh[3].a_m = 0.088;
  EXPECT_THROW(Inverse{m}, std::invalid_argument);
  m = ur5e();
  m.dh[1].a_m = 0;
  EXPECT_THROW(Inverse{m}, std::invalid_argument);
}

}  // namespace
}  // namespace s2r::pose
