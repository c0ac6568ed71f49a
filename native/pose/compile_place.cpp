#include "native/pose/compile_place.h"

#include <algorithm>
#include <cmath>

#include "native/pose/support.h"

namespace s2r::pose {
namespace {

constexpr double kYawStep_rad = kPi / 12;
// The lowest part of the object is not checked against the cloud: its support is there, with noise.
constexpr double kFoot_m = 0.006;
constexpr double kFootMargin_m = 0.003;

Place failed(CompileOutcome outcome) {
  Place out;
  out.outcome = std::move(outcome);
  return out;
}

CompileOutcome outcome(CompileCode code, std::string reason) {
  CompileOutcome out;
  out.code = code;
  out.reason = std::move(reason);
  return out;
}

// The held object without its lowest part.
HeldObject withoutFoot(const HeldObject& held, double foot_m) {
  HeldObject out = held;
  const double foot = std::min(foot_m, 0.5 * held.size_m.z());
  out.size_m.z() -= foot;
  out.X_tcp_object = held.X_tcp_object * Eigen::Translation3d(0, 0, 0.5 * foot);
  return out;
}

double openingAround(const HeldObject& held) {
  const Vec3 y = held.X_tcp_object.linear().row(1).transpose();
  return y.cwiseAbs().dot(held.size_m);
}

}  // namespace

Place compilePlace(const Arm& arm, const PlaceRequest& request) {
  const HeldObject& held = request.held;
  const Transform X_tcp_object = held.X_tcp_object;
  std::vector<double> yaws;
  const auto yawOf = [](const Vec3& axis) { return std::atan2(axis.y(), axis.x()); };
  if (request.object_axis_world) {
    const Vec3& axis = *request.object_axis_world;
    if (!(axis.norm() > 1e-6) || axis.head<2>().norm() < 0.1 * axis.norm()) {
      return failed(
          outcome(CompileCode::kBadAxis,
                  "the object's axis must have a horizontal part: objects are set down upright"));
    }
    yaws = {yawOf(axis), wrapAngle(yawOf(axis) + kPi)};
  } else {
    const Mat3 R = arm.kinematics().forward(request.q_seed_rad).linear() * X_tcp_object.linear();
    const double now = yawOf(R.col(0));
    yaws.push_back(now);
    for (int k = 1; k <= 12; ++k) {
      yaws.push_back(wrapAngle(now + k * kYawStep_rad));
      if (k < 12) {
        yaws.push_back(wrapAngle(now - k * kYawStep_rad));
      }
    }
  }

  const SceneIndex index(request.scene);
  std::vector<Vec3> ground =
      finitePoints(request.support_cloud_world_m.empty() ? request.scene.cloud_world_m
                                                         : request.support_cloud_world_m);
  const double range = held.size_m.head<2>().norm() + request.anchor_on_object_m.head<2>().norm();
  std::vector<Shape> excluded;
  for (const OrientedBox& box : request.scene.exclude_boxes) {
    excluded.push_back(boxShape(box.X_world_box, box.size_m));
  }
  const CellMap excluded_points(finitePoints(request.scene.exclude_points_world_m),
                                request.scene.exclude_radius_m);
  std::erase_if(ground, [&](const Vec3& p) {
    return (p - request.target_point_world_m).head<2>().norm() > range ||
           std::ranges::any_of(excluded,
                               [&p](const Shape& box) { return distanceToPoint(box, p) <= 0; }) ||
           excluded_points.anyWithin(p, request.scene.exclude_radius_m);
  });

  const double foot_m = kFoot_m + std::max(0.0, index.tool_clearance_m - request.release_height_m);
  Tool carrying, open;
  carrying.opening_m = std::clamp(request.held_opening_m.value_or(openingAround(held)), 0.0,
                                  arm.model.gripper.max_opening_m);
  carrying.held = withoutFoot(held, foot_m);
  open.opening_m = request.release_opening_m;
  CollisionChecker arriving(arm.model, index, carrying);
  CollisionChecker leaving(arm.model, index, open);

  CompileOutcome best_failure =
      outcome(CompileCode::kUnreachable, "the release pose is out of the arm's reach");
  for (const double yaw : yaws) {
    const Mat3 R_world_object = Eigen::AngleAxisd(yaw, Vec3::UnitZ()).toRotationMatrix();
    Transform X_world_object = Transform::Identity();
    X_world_object.linear() = R_world_object;
    const Vec3 anchor = R_world_object * request.anchor_on_object_m;
    Footprint footprint;
    footprint.center_world_m = (request.target_point_world_m - anchor).head<2>();
    footprint.yaw_rad = yaw;
    footprint.size_m = held.size_m.head<2>();
    footprint.round = held.round;
    const Support support =
        findSupport(ground, footprint, request.target_point_world_m.z(), request.scene.table_z_m);
    if (!support.found) {
      best_failure = further(best_failure, outcome(CompileCode::kNoSupport, support.reason));
      continue;
    }
    X_world_object.translation().head<2>() = footprint.center_world_m;
    X_world_object.translation().z() =
        support.z_m + request.release_height_m + 0.5 * held.size_m.z();
    ChainRequest chain;
    chain.X_pivot = chain.X_before = chain.X_after =
        X_world_object * X_tcp_object.inverse(Eigen::Isometry);
    std::optional<Hit> hit = arriving.checkTool(chain.X_pivot).hit;
    if (!hit) {
      hit = leaving.checkTool(chain.X_pivot).hit;
    }
    if (hit) {
      CompileOutcome blocked = outcome(CompileCode::kCollision, "at release " + describe(*hit));
      blocked.hit = hit;
      blocked.checks = {true, true, false, hit->distance_m};
      best_failure = further(best_failure, blocked);
      continue;
    }
    chain.arriving = &arriving;
    chain.leaving = &leaving;
    for (const double height : lineLengths(request.carry_height_m)) {
      chain.X_before.translation() = chain.X_pivot.translation() + height * Vec3::UnitZ();
      chain.X_after.translation() =
          chain.X_pivot.translation() - height * chain.X_pivot.linear().col(2);
      const BestChain found = findChain(arm, {chain}, request.q_seed_rad);
      if (found.line.outcome.code != CompileCode::kOk) {
        best_failure = further(best_failure, found.line.outcome);
        continue;
      }
      Place out;
      out.outcome = found.line.outcome;
      out.carry = {chain.X_before, found.line.q_before};
      out.release = {chain.X_pivot, found.line.q_pivot};
      out.retreat = {chain.X_after, found.line.q_after};
      out.opening_m = request.release_opening_m;
      out.support_z_m = support.z_m;
      out.support_seen = support.seen_share;
      out.object_yaw_rad = yaw;
      const double low = support.z_m - 0.02, high = support.z_m + request.release_height_m + foot_m;
      out.may_touch.X_world_box = X_world_object;
      out.may_touch.X_world_box.translation().z() = 0.5 * (low + high);
      out.may_touch.size_m = Vec3(held.size_m.x() + 2 * kFootMargin_m,
                                  held.size_m.y() + 2 * kFootMargin_m, high - low);
      return out;
    }
  }
  return failed(best_failure);
}

}  // namespace s2r::pose
