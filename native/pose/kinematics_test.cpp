#include "native/pose/kinematics.h"

#include <gtest/gtest.h>

#include "native/pose/test_arm.h"

namespace s2r::pose {
namespace {

TEST(Kinematics, ZeroPoseFollowsFromTheParametersByHand) {
  const ArmModel m = ur5e();
  const Transform X = Kinematics(m).forward(Joints::Zero());
  // Arm stretched along -x; joint 4's offset and the flange point along -y, d5 down.
  EXPECT_NEAR(X.translation().x(), -0.425 - 0.3922, 1e-12);
  EXPECT_NEAR(X.translation().y(), -0.1333 - 0.0996 - 0.1275, 1e-12);
  EXPECT_NEAR(X.translation().z(), 0.1625 - 0.0997, 1e-12);
  EXPECT_NEAR((X.linear().col(2) - Vec3(0, -1, 0)).norm(), 0, 1e-12);
}

TEST(Kinematics, HomePointsTheToolDown) {
  const Transform X = Kinematics(ur5e()).forward(homeJoints());
  EXPECT_NEAR((X.linear().col(2) - Vec3(0, 0, -1)).norm(), 0, 1e-12);
  EXPECT_NEAR(X.translation().x(), 0.3922 + 0.0997, 1e-12);
  EXPECT_NEAR(X.translation().y(), 0.1333, 1e-12);
  EXPECT_NEAR(X.translation().z(), 0.1625 + 0.425 - 0.0996 - 0.1275, 1e-12);
}

TEST(Kinematics, MatchesTheProductOfItsMatrices) {
  std::mt19937 random(1);
  for (int n = 0; n < 200; ++n) {
    const ArmModel m = calibratedUr5e(n);
    const Joints q = randomJoints(random, 2 * kPi);
    Transform X = m.X_world_base;
    for (int i = 0; i < kJoints; ++i) {
      X = X * Eigen::AngleAxisd(q[i] + m.dh[i].theta_offset_rad, Vec3::UnitZ()) *
          Eigen::Translation3d(m.dh[i].a_m, 0, m.dh[i].d_m) *
          Eigen::AngleAxisd(m.dh[i].alpha_rad, Vec3::UnitX());
    }
    EXPECT_LT(
        (Kinematics(m).forward(q).matrix() - (X * m.X_flange_tcp).matrix()).cwiseAbs().maxCoeff(),
        1e-12);
  }
}

TEST(Kinematics, JacobianMatchesDifferences) {
  std::mt19937 random(2);
  const Kinematics k{ur5e()};
  for (int n = 0; n < 100; ++n) {
    const Joints q = randomJoints(random);
    const Matrix6 J = k.jacobian(q);
    for (int i = 0; i < kJoints; ++i) {
      constexpr double kStep = 1e-6;
      const Joints d = Joints::Unit(i) * kStep;
      const Transform a = k.forward(q - d), b = k.forward(q + d);
      EXPECT_LT((J.col(i).head<3>() - (b.translation() - a.translation()) / (2 * kStep)).norm(),
                1e-8);
      EXPECT_LT((J.col(i).tail<3>() - rotationBetween(a.linear(), b.linear()) / (2 * kStep)).norm(),
                1e-8);
    }
  }
}

TEST(Kinematics, RotationVectorSurvivesHalfATurn) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const double angle : {0.0, 1e-9, 1e-4, 1.0, 3.0, kPi - 1e-5, kPi - 1e-9, kPi}) {
    for (int n = 0; n < 20; ++n) {
      const Vec3 axis = Vec3(normal(random), normal(random), normal(random)).normalized();
      const Mat3 R = rotationOf(randomJoints(random).head<3>());
      const Mat3 S = rotationOf(axis * angle) * R;
      EXPECT_LT((rotationOf(rotationBetween(R, S)) * R - S).cwiseAbs().maxCoeff(), 1e-7) << angle;
    }
  }
}

}  // namespace
}  // namespace s2r::pose
