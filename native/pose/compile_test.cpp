#include <gtest/gtest.h>

#include "native/pose/compile_grasp.h"
#include "native/pose/compile_place.h"
#include "native/pose/support.h"
#include "native/pose/test_arm.h"

namespace s2r::pose {
namespace {

void add(std::vector<float>& cloud, double x, double y, double z) {
  for (const double v : {x, y, z}) {
    cloud.push_back(static_cast<float>(v));
  }
}

// Surface points of an upright box, bottom left out.
void addBox(std::vector<float>& cloud, const UprightBox& box, double step = 0.003) {
  const double c = std::cos(box.yaw_rad), s = std::sin(box.yaw_rad);
  const Vec3 h = 0.5 * box.size_m;
  const auto put = [&](double x, double y, double z) {
    add(cloud, box.center_world_m.x() + c * x - s * y, box.center_world_m.y() + s * x + c * y,
        box.center_world_m.z() + z);
  };
  for (double x = -h.x(); x <= h.x() + 1e-9; x += step) {
    for (double y = -h.y(); y <= h.y() + 1e-9; y += step) {
      put(x, y, h.z());
    }
    for (double z = -h.z(); z <= h.z(); z += step) {
      put(x, h.y(), z);
      put(x, -h.y(), z);
    }
  }
  for (double y = -h.y(); y <= h.y(); y += step) {
    for (double z = -h.z(); z <= h.z(); z += step) {
      put(h.x(), y, z);
      put(-h.x(), y, z);
    }
  }
}

void addTable(std::vector<float>& cloud, double step = 0.008) {
  for (double x = 0.25; x < 0.75; x += step) {
    for (double y = -0.4; y < 0.4; y += step) {
      add(cloud, x, y, 0);
    }
  }
}

UprightBox boxAt(double x, double y, const Vec3& size, double yaw = 0) {
  return {Vec3(x, y, 0.5 * size.z()), size, yaw, false};
}

class GraspTest : public testing::Test {
 protected:
  GraspRequest request(const UprightBox& box) {
    GraspRequest r;
    r.target_box = box;
    r.grasp_center_world_m = box.center_world_m;
    r.closing_axis_world = Vec3(-std::sin(box.yaw_rad), std::cos(box.yaw_rad), 0);
    addBox(r.target_points_world_m, box);
    addTable(r.scene.cloud_world_m);
    r.scene.cloud_world_m.insert(r.scene.cloud_world_m.end(), r.target_points_world_m.begin(),
                                 r.target_points_world_m.end());
    r.scene.table_z_m = 0;
    r.q_seed_rad = homeJoints();
    r.max_opening_m = arm_.model.gripper.max_opening_m;
    return r;
  }
  void expectDrivable(const CompiledPose& from, const CompiledPose& to) {
    PathRequest r;
    r.q_start_rad = from.q_rad;
    r.poses_world = {to.X_world_tcp};
    const Plan plan = planPath(arm_, r);
    ASSERT_EQ(plan.code, PlanCode::kOk) << plan.reason;
    EXPECT_LT((plan.samples.q_rad.back() - to.q_rad).cwiseAbs().maxCoeff(), 1e-6);
  }
  double lowestFingerZ(const Transform& X, double opening) {
    ArmModel bare = arm_.model;
    bare.capsules.clear();
    Scene scene;
    scene.table_z_m = 0;
    const SceneIndex index(scene);
    CollisionChecker checker(bare, index, {opening, std::nullopt});
    return checker.checkTool(X).clearance_m;
  }
  Arm arm_{ur5e()};
};

TEST_F(GraspTest, BoxesOverTheTableAreCompiledInOneBranch) {
  std::mt19937 random(41);
  std::uniform_real_distribution<double> x(0.35, 0.65), y(-0.3, 0.3), yaw(-kPi, kPi),
      size(0.03, 0.06);
  for (int n = 0; n < 60; ++n) {
    const UprightBox box =
        boxAt(x(random), y(random), Vec3(size(random), size(random), size(random)), yaw(random));
    const GraspRequest r = request(box);
    const Grasp g = compileGrasp(arm_, r);
    ASSERT_EQ(g.outcome.code, CompileCode::kOk) << g.outcome.reason;
    EXPECT_TRUE(g.outcome.checks.reach && g.outcome.checks.joint_limits &&
                g.outcome.checks.collision);
    ASSERT_TRUE(g.object_width_m);
    EXPECT_NEAR(*g.object_width_m, box.size_m.y(), 0.002);
    EXPECT_GE(g.opening_m, box.size_m.y() + 2 * 0.004);
    EXPECT_LE(g.opening_m, 0.095);
    const Mat3& R = g.contact.X_world_tcp.linear();
    EXPECT_LT((R.col(2) - Vec3(0, 0, -1)).norm(), 1e-9);
    EXPECT_NEAR(std::abs(R.col(1).dot(r.closing_axis_world)), 1, 1e-9);
    EXPECT_NEAR(R.determinant(), 1, 1e-9);
    EXPECT_GE(lowestFingerZ(g.contact.X_world_tcp, g.opening_m), 0.004 - 1e-9);
    EXPECT_LT((g.contact.X_world_tcp.translation() - box.center_world_m).head<2>().norm(), 1e-9);
    for (const CompiledPose* p : {&g.approach, &g.contact, &g.lift}) {
      EXPECT_LT((arm_.kinematics().forward(p->q_rad).matrix() - p->X_world_tcp.matrix())
                    .cwiseAbs()
                    .maxCoeff(),
                1e-8);
      EXPECT_TRUE(arm_.inverse.withinLimits(p->q_rad));
    }
    expectDrivable(g.approach, g.contact);
    expectDrivable(g.contact, g.lift);
  }
}

TEST_F(GraspTest, TooWideTooLowAndBadAxisAreNamed) {
  GraspRequest r = request(boxAt(0.5, 0.1, Vec3(0.05, 0.12, 0.05)));
  EXPECT_EQ(compileGrasp(arm_, r).outcome.code, CompileCode::kObjectTooWide);
  r.closing_axis_world = Vec3::UnitX();
  EXPECT_EQ(compileGrasp(arm_, r).outcome.code, CompileCode::kOk);
  r.closing_axis_world = Vec3(0, 0.01, -1);
  EXPECT_EQ(compileGrasp(arm_, r).outcome.code, CompileCode::kBadAxis);
  r.closing_axis_world = Vec3::Zero();
  EXPECT_EQ(compileGrasp(arm_, r).outcome.code, CompileCode::kBadAxis);
  r.closing_axis_world = Vec3::Constant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(compileGrasp(arm_, r).outcome.code, CompileCode::kBadAxis);
  r = request(boxAt(0.5, 0.1, Vec3(0.04, 0.04, 0.004)));
  EXPECT_EQ(compileGrasp(arm_, r).outcome.code, CompileCode::kObjectTooLow);
  r = request(boxAt(0.5, 0.1, Vec3(0.05, 0.06, 0.05)));
  r.grasp_center_world_m.y() += 0.03;  // so far off the middle that no opening takes it
  const Grasp off = compileGrasp(arm_, r);
  EXPECT_EQ(off.outcome.code, CompileCode::kObjectTooWide);
  EXPECT_NE(off.outcome.reason.find("off the grasp centre"), std::string::npos);
}

TEST_F(GraspTest, ReachAndJointLimitsAreTold) {
  EXPECT_EQ(compileGrasp(arm_, request(boxAt(1.2, 0, Vec3(0.05, 0.05, 0.05)))).outcome.code,
            CompileCode::kUnreachable);
  ArmModel tight = ur5e();
  tight.position_min_rad[1] = -0.2;
  tight.position_max_rad[1] = 0.2;
  const Grasp g = compileGrasp(Arm{tight}, request(boxAt(0.5, 0.1, Vec3(0.05, 0.05, 0.05))));
  EXPECT_EQ(g.outcome.code, CompileCode::kJointLimit) << g.outcome.reason;
  EXPECT_TRUE(g.outcome.checks.reach);
  EXPECT_FALSE(g.outcome.checks.joint_limits);
}

TEST_F(GraspTest, TallObjectKeepsThePalmOff) {
  const UprightBox can{Vec3(0.5, 0.1, 0.06), Vec3(0.06, 0.06, 0.12), 0, true};
  GraspRequest r = request(can);
  r.grasp_center_world_m.z() = 0.02;  // deeper than the fingers are long
  const Grasp g = compileGrasp(arm_, r);
  ASSERT_EQ(g.outcome.code, CompileCode::kOk) << g.outcome.reason;
  EXPECT_GT(g.raised_m, 0.02);
  EXPECT_NEAR(*g.object_width_m, 0.06, 0.002);
}

TEST_F(GraspTest, ThePadsNotTheFingersEndsHoldTheCentre) {
  ArmModel m = ur5e();
  m.gripper.tip_beyond_tcp_m = 0;
  m.gripper.grip_depth_m = 0.012;
  const Arm arm{m};
  const Grasp tall = compileGrasp(arm, request(boxAt(0.5, 0.1, Vec3(0.04, 0.04, 0.06))));
  ASSERT_EQ(tall.outcome.code, CompileCode::kOk) << tall.outcome.reason;
  EXPECT_NEAR(tall.raised_m, -0.012, 1e-9);
  EXPECT_NEAR(tall.contact.X_world_tcp.translation().z(), 0.03 - 0.012, 1e-9);
  const Grasp low = compileGrasp(arm, request(boxAt(0.5, 0.1, Vec3(0.04, 0.04, 0.02))));
  ASSERT_EQ(low.outcome.code, CompileCode::kOk) << low.outcome.reason;
  EXPECT_NEAR(low.contact.X_world_tcp.translation().z(), 0.004, 1e-9);
}

TEST_F(GraspTest, NeighboursNarrowTheOpeningOrBlockTheFingers) {
  const UprightBox box = boxAt(0.5, 0.1, Vec3(0.04, 0.04, 0.05));
  GraspRequest r = request(box);
  // Room for a finger of 12 mm beside the object, but not for the full margin as well.
  addBox(r.scene.cloud_world_m, boxAt(0.5, 0.1 + 0.02 + 0.021 + 0.02, Vec3(0.04, 0.04, 0.08)));
  const Grasp narrow = compileGrasp(arm_, r);
  ASSERT_EQ(narrow.outcome.code, CompileCode::kOk) << narrow.outcome.reason;
  EXPECT_LT(narrow.opening_m, 0.04 + 2 * 0.012);
  GraspRequest blocked = request(box);
  addBox(blocked.scene.cloud_world_m,
         boxAt(0.5, 0.1 + 0.02 + 0.012 + 0.02, Vec3(0.04, 0.04, 0.08)));
  const Grasp g = compileGrasp(arm_, blocked);
  EXPECT_EQ(g.outcome.code, CompileCode::kCollision);
  ASSERT_TRUE(g.outcome.hit);
  EXPECT_EQ(g.outcome.hit->against, "cloud");
  EXPECT_LT(g.outcome.checks.clearance_m, 0.002);
  blocked.closing_axis_world = Vec3::UnitX();
  EXPECT_EQ(compileGrasp(arm_, blocked).outcome.code, CompileCode::kOk);
}

TEST_F(GraspTest, TiltedApproachAndForbiddenZone) {
  GraspRequest r = request(boxAt(0.5, 0.0, Vec3(0.04, 0.04, 0.10)));
  r.approach_axis_world = Vec3(0.5, 0, -1);
  r.closing_axis_world = Vec3::UnitY();
  const Grasp tilted = compileGrasp(arm_, r);
  ASSERT_EQ(tilted.outcome.code, CompileCode::kOk) << tilted.outcome.reason;
  EXPECT_LT(
      (tilted.contact.X_world_tcp.linear().col(2) - r.approach_axis_world.normalized()).norm(),
      1e-9);
  EXPECT_GE(lowestFingerZ(tilted.contact.X_world_tcp, tilted.opening_m), 0.002 - 1e-9);
  Zone zone;
  zone.name = "shelf";
  zone.box.X_world_box.translation() = Vec3(0.5, 0, 0.2);
  zone.box.size_m = Vec3(0.3, 0.3, 0.02);
  r.scene.zones.push_back(zone);
  const Grasp under = compileGrasp(arm_, r);
  EXPECT_EQ(under.outcome.code, CompileCode::kCollision);
  EXPECT_EQ(under.outcome.hit->against, "zone shelf");
}

TEST(Support, HighestSurfaceIsRobustAndLevel) {
  std::vector<float> cloud;
  std::mt19937 random(42);
  std::normal_distribution<double> noise(0, 0.0015);
  for (double x = -0.1; x < 0.1; x += 0.0025) {
    for (double y = -0.1; y < 0.1; y += 0.0025) {
      add(cloud, x, y, 0.03 + noise(random));
    }
  }
  for (int i = 0; i < 6; ++i) {
    add(cloud, 0.01 * i - 0.03, 0.004, 0.045);  // flying pixels
  }
  const Footprint footprint{{0, 0}, 0.3, {0.05, 0.04}, false};
  const Support s = findSupport(finitePoints(cloud), footprint, 0.03, 0.0);
  ASSERT_TRUE(s.found) << s.reason;
  EXPECT_NEAR(s.z_m, 0.03, 0.003);
  EXPECT_GT(s.seen_share, 0.9);
}

TEST(Support, EdgesTipHolesAreRefusedAndBowlsCarry) {
  std::vector<Vec3> step, bowl;
  for (double x = -0.05; x < 0.05; x += 0.002) {
    for (double y = -0.05; y < 0.05; y += 0.002) {
      step.emplace_back(x, y, x > 0.012 ? 0.055 : 0.04);
      bowl.emplace_back(x, y, 0.05 + 6 * (x * x + y * y));
    }
  }
  const Footprint footprint{{0, 0}, 0, {0.05, 0.05}, false};
  const Support edge = findSupport(step, footprint, 0.04, 0.0);
  EXPECT_FALSE(edge.found);
  EXPECT_NE(edge.reason.find("tip"), std::string::npos);
  const Support round = findSupport(bowl, {{0, 0}, 0, {0.05, 0.05}, true}, 0.05, 0.0);
  EXPECT_TRUE(round.found) << round.reason;
  EXPECT_GT(round.z_m, 0.051);
  EXPECT_FALSE(findSupport({}, footprint, 0.1, 0.0).found);
  const Support table = findSupport({}, footprint, 0.004, 0.0);
  EXPECT_TRUE(table.found);
  EXPECT_EQ(table.z_m, 0.004);
  EXPECT_FALSE(findSupport({}, footprint, 0.004, std::nullopt).found);
}

class PlaceTest : public GraspTest {
 protected:
  // A box held as after a straight-down grasp in its middle.
  PlaceRequest place(const Vec3& target, const Vec3& size = Vec3(0.05, 0.04, 0.06)) {
    PlaceRequest r;
    r.held.size_m = size;
    r.held.X_tcp_object.linear() = rotationOf(Vec3(kPi, 0, 0));
    r.target_point_world_m = target;
    addTable(r.scene.cloud_world_m, 0.004);
    r.scene.table_z_m = 0;
    r.q_seed_rad = homeJoints();
    r.release_opening_m = arm_.model.gripper.max_opening_m;
    return r;
  }
  static void addTray(std::vector<float>& cloud,
                      double x0,
                      double y0,
                      double inner_x,
                      double inner_y,
                      double wall) {
    constexpr double kFloor = 0.008;
    for (double x = -0.5 * inner_x; x <= 0.5 * inner_x; x += 0.003) {
      for (double y = -0.5 * inner_y; y <= 0.5 * inner_y; y += 0.003) {
        add(cloud, x0 + x, y0 + y, kFloor);
      }
    }
    for (double z = kFloor; z <= wall; z += 0.003) {
      for (double x = -0.5 * inner_x; x <= 0.5 * inner_x; x += 0.003) {
        add(cloud, x0 + x, y0 - 0.5 * inner_y, z);
        add(cloud, x0 + x, y0 + 0.5 * inner_y, z);
      }
      for (double y = -0.5 * inner_y; y <= 0.5 * inner_y; y += 0.003) {
        add(cloud, x0 - 0.5 * inner_x, y0 + y, z);
        add(cloud, x0 + 0.5 * inner_x, y0 + y, z);
      }
    }
  }
};

TEST_F(PlaceTest, OnTheTableTheUndersideIsJustAboveIt) {
  PlaceRequest r = place(Vec3(0.5, 0.1, 0.002));
  r.object_axis_world = Vec3(1, 1, 0);
  const Place p = compilePlace(arm_, r);
  ASSERT_EQ(p.outcome.code, CompileCode::kOk) << p.outcome.reason;
  EXPECT_NEAR(p.support_z_m, 0, 1e-3);
  const Transform X_object = p.release.X_world_tcp * r.held.X_tcp_object;
  EXPECT_NEAR(X_object.translation().z() - 0.03, p.support_z_m + 0.004, 1e-9);
  EXPECT_LT((X_object.translation() - r.target_point_world_m).head<2>().norm(), 1e-9);
  EXPECT_NEAR(std::abs(X_object.linear().col(0).dot(Vec3(1, 1, 0).normalized())), 1, 1e-9);
  EXPECT_NEAR(X_object.linear()(2, 2), 1, 1e-9);
  expectDrivable(p.carry, p.release);
  expectDrivable(p.release, p.retreat);
  // The descent is free for a planner that leaves out the support's own points.
  PathRequest path;
  path.q_start_rad = p.carry.q_rad;
  path.poses_world = {p.release.X_world_tcp};
  path.scene = r.scene;
  path.scene->exclude_boxes.push_back(p.may_touch);
  path.tool = {0.04, r.held};
  const Plan plan = planPath(arm_, path);
  EXPECT_EQ(plan.code, PlanCode::kOk) << plan.reason;
}

TEST_F(PlaceTest, AnchorGoesOverTheTarget) {
  PlaceRequest r = place(Vec3(0.5, -0.1, 0));
  r.anchor_on_object_m = Vec3(0.02, 0, 0);
  r.object_axis_world = Vec3(0, 1, 0);
  const Place p = compilePlace(arm_, r);
  ASSERT_EQ(p.outcome.code, CompileCode::kOk) << p.outcome.reason;
  const Vec3 anchor = p.release.X_world_tcp * (r.held.X_tcp_object * r.anchor_on_object_m);
  EXPECT_LT((anchor - r.target_point_world_m).head<2>().norm(), 1e-9);
}

TEST_F(PlaceTest, TrayFloorIsTheSupportAndWallsAreKeptClear) {
  // Fingers open to 95 mm along y and 12 mm thick on each side: they need 125 mm between walls that
  // are higher than their tips; the tray has 160 mm one way and 110 mm the other.
  PlaceRequest r = place(Vec3(0.5, 0.1, 0.008), Vec3(0.05, 0.04, 0.03));
  addTray(r.scene.cloud_world_m, 0.5, 0.1, 0.11, 0.16, 0.04);
  const Place free = compilePlace(arm_, r);
  ASSERT_EQ(free.outcome.code, CompileCode::kOk) << free.outcome.reason;
  EXPECT_NEAR(free.support_z_m, 0.008, 1e-3);
  r.object_axis_world = Vec3::UnitY();         // closing along x: no room for the open fingers
  const Place narrow = compilePlace(arm_, r);  // but for less open ones
  ASSERT_EQ(narrow.outcome.code, CompileCode::kOk) << narrow.outcome.reason;
  EXPECT_LT(narrow.opening_m, 0.08);
  EXPECT_GE(narrow.opening_m, 0.05);
  EXPECT_DOUBLE_EQ(free.opening_m, 0.095);
  r.held_opening_m = 0.08;
  EXPECT_EQ(compilePlace(arm_, r).outcome.code, CompileCode::kCollision);
  r.held_opening_m.reset();
  r.object_axis_world.reset();
  r.target_point_world_m.x() += 0.045;  // against the wall: never shifted in silence
  const Place wall = compilePlace(arm_, r);
  EXPECT_TRUE(wall.outcome.code == CompileCode::kCollision ||
              wall.outcome.code == CompileCode::kNoSupport)
      << wall.outcome.reason;
}

TEST_F(PlaceTest, FailuresHaveCodes) {
  EXPECT_EQ(compilePlace(arm_, place(Vec3(1.3, 0, 0))).outcome.code, CompileCode::kUnreachable);
  EXPECT_EQ(compilePlace(arm_, place(Vec3(0.5, 0, 0.2))).outcome.code, CompileCode::kNoSupport);
  PlaceRequest r = place(Vec3(0.5, 0, 0));
  r.object_axis_world = Vec3::UnitZ();
  EXPECT_EQ(compilePlace(arm_, r).outcome.code, CompileCode::kBadAxis);
  // Half on a block, half over the table: it would tip.
  r = place(Vec3(0.5, 0.1, 0.05));
  addBox(r.scene.cloud_world_m, boxAt(0.53, 0.1, Vec3(0.05, 0.1, 0.05)));
  r.object_axis_world = Vec3::UnitX();
  EXPECT_EQ(compilePlace(arm_, r).outcome.code, CompileCode::kNoSupport);
}

TEST_F(PlaceTest, SupportMayComeFromACloudOfItsOwn) {
  PlaceRequest r = place(Vec3(0.5, 0.1, 0.008), Vec3(0.05, 0.04, 0.03));
  addTray(r.support_cloud_world_m, 0.5, 0.1, 0.16, 0.16, 0.03);
  const Place p = compilePlace(arm_, r);
  ASSERT_EQ(p.outcome.code, CompileCode::kOk) << p.outcome.reason;
  EXPECT_NEAR(p.support_z_m, 0.008, 1e-6);
}

TEST_F(PlaceTest, StacksOnABlock) {
  PlaceRequest r = place(Vec3(0.5, 0.1, 0.05), Vec3(0.04, 0.04, 0.04));
  addBox(r.scene.cloud_world_m, boxAt(0.5, 0.1, Vec3(0.05, 0.05, 0.05)));
  const Place p = compilePlace(arm_, r);
  ASSERT_EQ(p.outcome.code, CompileCode::kOk) << p.outcome.reason;
  EXPECT_NEAR(p.support_z_m, 0.05, 1e-3);
}

}  // namespace
}  // namespace s2r::pose
