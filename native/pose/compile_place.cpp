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
// Narrower releases are tried where walls leave no room for the opening asked for.
constexpr double kLeastRelease_m = 0.010;  // more than what is held
constexpr double kReleaseStep_m = 0.010;

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

// Where the object would stand at one yaw.
struct Spot {
  double yaw_rad = 0;
  Support support;
  Transform X_world_object = Transform::Identity(), X_world_tcp = Transform::Identity();
};

// The support's surface under the object, up to `above_m` over its height.
OrientedBox footOf(const Spot& spot, const HeldObject& held, double above_m) {
  constexpr double kBelow_m = 0.02;
  OrientedBox out;
  out.X_world_box = spot.X_world_object;
  out.X_world_box.translation().z() = spot.support.z_m + 0.5 * (above_m - kBelow_m);
  out.size_m = Vec3(held.size_m.x() + 2 * kFootMargin_m, held.size_m.y() + 2 * kFootMargin_m,
                    above_m + kBelow_m);
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
  Tool carrying;
  carrying.opening_m = std::clamp(request.held_opening_m.value_or(openingAround(held)), 0.0,
                                  arm.model.gripper.max_opening_m);
  carrying.held = withoutFoot(held, foot_m);
  CollisionChecker arriving(arm.model, index, carrying);
  std::vector<double> openings = {request.release_opening_m};
  while (openings.back() - kReleaseStep_m >= carrying.opening_m + kLeastRelease_m) {
    openings.push_back(openings.back() - kReleaseStep_m);
  }
  std::vector<CollisionChecker> leavings;
  leavings.reserve(openings.size());
  for (const double opening : openings) {
    leavings.emplace_back(arm.model, index, Tool{opening, std::nullopt});
  }

  CompileOutcome best_failure = unreachableOutcome();
  const auto blocked = [&](const Spot& spot, const Hit& hit) {
    best_failure = further(best_failure, blockedOutcome(arm, spot.X_world_tcp, request.q_seed_rad,
                                                        "at release ", hit));
  };
  std::vector<Spot> spots;
  for (const double yaw : yaws) {
    const Mat3 R_world_object = Eigen::AngleAxisd(yaw, Vec3::UnitZ()).toRotationMatrix();
    const Vec3 anchor = R_world_object * request.anchor_on_object_m;
    Footprint footprint;
    footprint.center_world_m = (request.target_point_world_m - anchor).head<2>();
    footprint.yaw_rad = yaw;
    footprint.size_m = held.size_m.head<2>();
    footprint.round = held.round;
    Spot spot;
    spot.yaw_rad = yaw;
    spot.support =
        findSupport(ground, footprint, request.target_point_world_m.z(), request.scene.table_z_m);
    if (!spot.support.found) {
      best_failure = further(best_failure, outcome(CompileCode::kNoSupport, spot.support.reason));
      continue;
    }
    spot.X_world_object.linear() = R_world_object;
    spot.X_world_object.translation().head<2>() = footprint.center_world_m;
    spot.X_world_object.translation().z() =
        spot.support.z_m + request.release_height_m + 0.5 * held.size_m.z();
    spot.X_world_tcp = spot.X_world_object * X_tcp_object.inverse(Eigen::Isometry);
    if (const auto hit = arriving.checkTool(spot.X_world_tcp).hit) {
      blocked(spot, *hit);
      continue;
    }
    spots.push_back(spot);
  }

  // Another yaw before a narrower opening: an opening that is asked for has a reason.
  for (size_t k = 0; k < openings.size(); ++k) {
    for (const Spot& spot : spots) {
      if (const auto hit = leavings[k].checkTool(spot.X_world_tcp).hit) {
        blocked(spot, *hit);
        continue;
      }
      ChainRequest chain;
      chain.X_pivot = chain.X_before = chain.X_after = spot.X_world_tcp;
      chain.arriving = &arriving;
      chain.leaving = &leavings[k];
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
        out.opening_m = openings[k];
        out.support_z_m = spot.support.z_m;
        out.support_seen = spot.support.seen_share;
        out.object_yaw_rad = spot.yaw_rad;
        out.may_touch = footOf(spot, held, request.release_height_m + foot_m);
        return out;
      }
    }
  }
  return failed(best_failure);
}

}  // namespace s2r::pose
