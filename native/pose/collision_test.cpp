#include "native/pose/collision.h"

#include <gtest/gtest.h>

#include "native/pose/test_arm.h"

namespace s2r::pose {
namespace {

Transform randomPose(std::mt19937& random, double range) {
  std::uniform_real_distribution<double> u(-1, 1);
  Transform X = Transform::Identity();
  X.linear() = rotationOf(3 * Vec3(u(random), u(random), u(random)));
  X.translation() = range * Vec3(u(random), u(random), u(random));
  return X;
}

// Points of a body, dense enough to bound distances from above.
std::vector<Vec3> samplesOf(const Shape& s, std::mt19937& random, int count) {
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<Vec3> out;
  for (int i = 0; i < count; ++i) {
    if (s.kind == ShapeKind::kCapsule) {
      out.push_back(s.p0 + 0.5 * (u(random) + 1) * (s.p1 - s.p0));
    } else {
      Vec3 local = Vec3(u(random), u(random), u(random)).cwiseProduct(s.half);
      const int face = i % 3;
      local[face] = std::copysign(s.half[face], local[face]);
      out.push_back(s.center + s.axes * local);
    }
  }
  return out;
}

TEST(Shapes, CapsulesAndBoxesAgreeWithSampling) {
  std::mt19937 random(31);
  for (int n = 0; n < 200; ++n) {
    const Shape capsule =
        capsuleShape({Vec3(-0.2, 0, 0), Vec3(0.2, 0, 0), 0.05}, randomPose(random, 0.5));
    const Shape other =
        capsuleShape({Vec3(0, 0, 0), Vec3(0, 0.3, 0), 0.03}, randomPose(random, 0.5));
    const Shape box = boxShape(randomPose(random, 0.5), Vec3(0.3, 0.1, 0.2));
    double to_box = 1e9, to_other = 1e9;
    for (const Vec3& p : samplesOf(capsule, random, 2000)) {
      to_box = std::min(to_box, distanceToPoint(box, p) - capsule.radius);
      to_other = std::min(to_other, distanceToPoint(other, p) - capsule.radius);
    }
    EXPECT_LE(distanceBetween(capsule, box), to_box + 1e-6);
    EXPECT_GE(distanceBetween(capsule, box), to_box - 4e-3);
    EXPECT_LE(distanceBetween(capsule, other), to_other + 1e-9);
    EXPECT_GE(distanceBetween(capsule, other), to_other - 4e-3);
    EXPECT_LE(boundDistance(capsule, box), to_box + 1e-9);
  }
}

TEST(Shapes, BoxesOverlapExactlyWhenTheirDistanceIsNegative) {
  std::mt19937 random(32);
  int overlapping = 0;
  for (int n = 0; n < 300; ++n) {
    const Shape a = boxShape(randomPose(random, 0.2), Vec3(0.3, 0.1, 0.2));
    const Shape b = boxShape(randomPose(random, 0.2), Vec3(0.1, 0.2, 0.1));
    double sampled = 1e9;
    for (const Vec3& p : samplesOf(b, random, 4000)) {
      sampled = std::min(sampled, distanceToPoint(a, p));
    }
    const double d = distanceBetween(a, b);
    EXPECT_NEAR(d, distanceBetween(b, a), 1e-12);
    EXPECT_LE(d, sampled + 1e-9);  // a lower bound
    if (sampled < -0.005) {
      ++overlapping;
      EXPECT_LT(d, 0);
    }
    if (d < 0 && sampled > 0.02) {
      ADD_FAILURE() << "overlap claimed at distance " << sampled;
    }
  }
  EXPECT_GT(overlapping, 20);
}

TEST(Shapes, CylinderIsInsideItsBoxAndLowestPointIsExact) {
  std::mt19937 random(33);
  for (int n = 0; n < 100; ++n) {
    const Transform X = randomPose(random, 0.3);
    const Shape cylinder = boxShape(X, Vec3(0.08, 0.08, 0.12), true),
                box = boxShape(X, Vec3(0.08, 0.08, 0.12));
    double lowest = 1e9;
    for (int i = 0; i < 720; ++i) {
      const double a = i * kPi / 360;
      for (const double z : {-0.06, 0.06}) {
        const Vec3 rim = X * Vec3(0.04 * std::cos(a), 0.04 * std::sin(a), z);
        lowest = std::min(lowest, rim.z());
        EXPECT_NEAR(distanceToPoint(cylinder, rim), 0, 1e-9);
      }
    }
    EXPECT_NEAR(lowestZ(cylinder), lowest, 1e-4);
    EXPECT_LE(lowestZ(box), lowestZ(cylinder) + 1e-12);
    const Vec3 p = randomPose(random, 0.3).translation();
    EXPECT_GE(distanceToPoint(cylinder, p), distanceToPoint(box, p) - 1e-12);
  }
}

TEST(PointTree, FindsWhatBruteForceFinds) {
  std::mt19937 random(34);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<Vec3> points(3000);
  for (Vec3& p : points) {
    p = Vec3(u(random), u(random), 0.1 * u(random));
  }
  const PointTree tree{points};
  for (int n = 0; n < 300; ++n) {
    const Transform X = randomPose(random, 1);
    const Shape shape = n % 3 == 0   ? capsuleShape({Vec3::Zero(), Vec3(0.4, 0, 0), 0.05}, X)
                        : n % 3 == 1 ? boxShape(X, Vec3(0.2, 0.1, 0.3))
                                     : boxShape(X, Vec3(0.2, 0.1, 0.3), true);
    double nearest = 1e9;
    for (const Vec3& p : points) {
      nearest = std::min(nearest, distanceToPoint(shape, p));
    }
    const PointTree::Nearest found = tree.nearest(shape, 0.05);
    if (nearest < 0.05) {
      EXPECT_DOUBLE_EQ(found.distance_m, nearest);
      EXPECT_DOUBLE_EQ(distanceToPoint(shape, found.point), nearest);
    } else {
      EXPECT_TRUE(std::isinf(found.distance_m));
    }
  }
  EXPECT_TRUE(std::isinf(
      PointTree{}.nearest(boxShape(Transform::Identity(), Vec3(1, 1, 1)), 1).distance_m));
}

void addPatch(std::vector<float>& cloud, const Vec3& center, double half, double step = 0.004) {
  for (double x = -half; x <= half; x += step) {
    for (double y = -half; y <= half; y += step) {
      for (const double v : {center.x() + x, center.y() + y, center.z()}) {
        cloud.push_back(static_cast<float>(v));
      }
    }
  }
}

class CheckerTest : public testing::Test {
 protected:
  CollisionChecker::Result check(const Scene& scene,
                                 const Joints& q,
                                 Tool tool = {0.08, std::nullopt}) {
    const SceneIndex index(scene);
    CollisionChecker checker(model_, index, std::move(tool));
    const Frames f = kinematics_.frames(q);
    return checker.check(f, kinematics_.tcpOf(f));
  }
  ArmModel model_ = ur5e();
  Kinematics kinematics_{model_};
  Transform X_home_ = kinematics_.forward(homeJoints());
};

TEST_F(CheckerTest, EmptySceneIsFreeAndFoldedArmHitsItself) {
  EXPECT_FALSE(check({}, homeJoints()).hit);
  Joints folded = homeJoints();
  folded[2] = 3.0;
  const auto result = check({}, folded);
  ASSERT_TRUE(result.hit);
  EXPECT_LT(result.hit->distance_m, 0.002);
}

TEST_F(CheckerTest, TableIsHitByTheFingersFirst) {
  model_.fixed_links = 5;  // the raised table must not meet the base's links
  Scene scene;
  const double tips = X_home_.translation().z() - model_.gripper.tip_beyond_tcp_m;
  scene.table_z_m = tips - 0.003;
  auto result = check(scene, homeJoints());
  EXPECT_FALSE(result.hit);
  EXPECT_NEAR(result.clearance_m, 0.003, 1e-9);
  scene.table_z_m = tips - 0.001;
  result = check(scene, homeJoints());
  ASSERT_TRUE(result.hit);
  EXPECT_EQ(result.hit->against, "table");
  EXPECT_EQ(result.hit->what.substr(0, 6), "finger");
  EXPECT_NEAR(result.hit->distance_m, 0.001, 1e-9);
}

TEST_F(CheckerTest, CloudHitsAreLocatedAndExclusionsWork) {
  Scene scene;
  const Vec3 at = X_home_ * Vec3(0, 0.046, 0);  // inside the finger at +y
  addPatch(scene.cloud_world_m, at, 0.008);
  auto result = check(scene, homeJoints());
  ASSERT_TRUE(result.hit);
  EXPECT_EQ(result.hit->what, "finger +y");
  EXPECT_EQ(result.hit->against, "cloud");
  ASSERT_TRUE(result.hit->point_world_m);
  EXPECT_LT((*result.hit->point_world_m - at).norm(), 0.02);
  scene.exclude_points_world_m = scene.cloud_world_m;
  EXPECT_FALSE(check(scene, homeJoints()).hit);
  scene.exclude_points_world_m.clear();
  OrientedBox box;
  box.X_world_box.translation() = at;
  box.size_m = Vec3(0.03, 0.03, 0.03);
  scene.exclude_boxes.push_back(box);
  EXPECT_FALSE(check(scene, homeJoints()).hit);
}

TEST_F(CheckerTest, StrayAndNonFinitePointsAndTheTableSurfaceAreNoObstacles) {
  model_.fixed_links = 5;
  Scene scene;
  const Vec3 at = X_home_ * Vec3(0, 0.046, 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  scene.cloud_world_m = {static_cast<float>(at.x()),
                         static_cast<float>(at.y()),
                         static_cast<float>(at.z()),
                         nan,
                         nan,
                         nan};
  EXPECT_FALSE(check(scene, homeJoints()).hit);
  scene.min_neighbours = 0;
  EXPECT_TRUE(check(scene, homeJoints()).hit);
  scene.min_neighbours = 2;
  scene.table_z_m = X_home_.translation().z() - 0.02;
  scene.cloud_world_m.clear();
  addPatch(scene.cloud_world_m, Vec3(at.x(), at.y(), *scene.table_z_m + 0.005), 0.05);
  EXPECT_FALSE(check(scene, homeJoints()).hit);
}

TEST_F(CheckerTest, HeldObjectAndObstaclesAndLinks) {
  Scene scene;
  Obstacle obstacle;
  obstacle.name = "left link 3";
  obstacle.capsule = {X_home_ * Vec3(0.3, -0.5, 0.1), X_home_ * Vec3(0.3, 0.5, 0.1), 0.05};
  scene.obstacles.push_back(obstacle);
  EXPECT_FALSE(check(scene, homeJoints()).hit);
  Tool tool{0.04, HeldObject{}};
  tool.held->X_tcp_object.translation() = Vec3(0.1, 0, 0.04);
  tool.held->size_m = Vec3(0.4, 0.04, 0.1);
  const auto held = check(scene, homeJoints(), tool);
  ASSERT_TRUE(held.hit);
  EXPECT_EQ(held.hit->what, "held object");
  EXPECT_EQ(held.hit->against, "obstacle left link 3");
  const Vec3 elbow = kinematics_.frames(homeJoints())[2].translation();
  scene.obstacles.clear();
  addPatch(scene.cloud_world_m, elbow + Vec3(0.1, 0, 0.05), 0.02);
  const auto link = check(scene, homeJoints());
  ASSERT_TRUE(link.hit);
  EXPECT_EQ(link.hit->what.substr(0, 5), "link ");
}

TEST_F(CheckerTest, HousingsThatMeetByConstructionAreNoCollision) {
  // The upper arm's root reaches over the base, whatever the joints are.
  model_.capsules.push_back({2, {Vec3(0.425, 0, 0.05), Vec3(0.425, 0, 0.138), 0.07}});
  ASSERT_TRUE(check({}, homeJoints()).hit);
  model_.touching_capsules = findTouchingCapsules(model_);
  EXPECT_FALSE(check({}, homeJoints()).hit);
  // Only that pair: the folded arm still hits itself.
  Joints folded = homeJoints();
  folded[2] = 3.0;
  EXPECT_TRUE(check({}, folded).hit);
}

TEST_F(CheckerTest, ReachBoundsTheMotionOfEveryBody) {
  const SceneIndex index{Scene{}};
  Tool tool{0.08, HeldObject{}};
  tool.held->size_m = Vec3(0.1, 0.1, 0.2);
  const CollisionChecker checker(model_, index, tool);
  std::mt19937 random(35);
  for (int n = 0; n < 300; ++n) {
    const Joints q = randomJoints(random);
    const Joints d = 1e-3 * randomJoints(random);
    const Transform a = kinematics_.forward(q), b = kinematics_.forward(q + d);
    const double bound = d.cwiseAbs().dot(checker.reach());
    const Shape sa = boxShape(a, tool.held->size_m), sb = boxShape(b, tool.held->size_m);
    EXPECT_LE(displacement(sa, sb), bound);
  }
}

}  // namespace
}  // namespace s2r::pose
