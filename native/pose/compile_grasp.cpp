#include "native/pose/compile_grasp.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "native/pose/grasp_extent.h"

namespace s2r::pose {
namespace {

constexpr double kLeastMargin_m = 0.002;  // free space at each finger that an opening must leave
constexpr double kTightMargin_m =
    0.004;  // tried where neighbours leave no room for the full margin
constexpr double kLeastOverlap_m = 0.010;   // of fingers and object along the approach
constexpr double kLeastOverlapShare = 0.6;  // of a flat object's height
constexpr double kBlindRaise_m =
    0.015;  // how far contact may be drawn back without knowing the object
constexpr double kRaiseStep_m = 0.003;
constexpr double kSameHeight_m = 1e-9;
constexpr double kLeastAcross = 0.1;     // sine of closing against approach axis
constexpr double kSteepApproach = -0.2;  // z of an approach that drawing back lifts
constexpr int kMostFitting =
    3;  // contact poses that take the gripper but that the arm does not get to
constexpr double kTargetMargin_m = 0.005;  // points this near the target's box belong to it

std::string text(const char* format, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

Grasp failed(CompileCode code, std::string reason) {
  Grasp out;
  out.outcome.code = code;
  out.outcome.reason = std::move(reason);
  return out;
}

Scene withoutTarget(const GraspRequest& request) {
  Scene scene = request.scene;
  scene.exclude_points_world_m.insert(scene.exclude_points_world_m.end(),
                                      request.target_points_world_m.begin(),
                                      request.target_points_world_m.end());
  if (request.target_box) {
    OrientedBox box;
    box.X_world_box = poseOf(*request.target_box);
    box.size_m = request.target_box->size_m.array() + 2 * kTargetMargin_m;
    scene.exclude_boxes.push_back(box);
  }
  return scene;
}

std::optional<HeldObject> carried(const GraspRequest& request, const Transform& X_world_tcp) {
  if (!request.target_box) {
    return std::nullopt;
  }
  HeldObject held;
  held.X_tcp_object = X_world_tcp.inverse(Eigen::Isometry) * poseOf(*request.target_box);
  held.size_m = request.target_box->size_m;
  held.round = request.target_box->round;
  return held;
}

// The grasp frame: origin at the grasp centre, y closing, z approach; empty for axes that span
// none.
std::optional<Transform> graspFrame(const GraspRequest& request) {
  if (!(request.approach_axis_world.norm() > 1e-6) || !(request.closing_axis_world.norm() > 1e-6)) {
    return std::nullopt;
  }
  const Vec3 approach = request.approach_axis_world.normalized();
  Vec3 closing = request.closing_axis_world.normalized();
  closing -= closing.dot(approach) * approach;
  if (closing.norm() < kLeastAcross) {
    return std::nullopt;
  }
  closing.normalize();
  Transform X = Transform::Identity();
  X.linear().col(0) = closing.cross(approach);
  X.linear().col(1) = closing;
  X.linear().col(2) = approach;
  X.translation() = request.grasp_center_world_m;
  return X;
}

// Why the object does not fit between the fingers, if it does not.
std::optional<std::string> tooWide(const Extent& extent, double widest_m) {
  const double width = extent.high_y - extent.low_y;
  const double needed = 2 * (std::max({extent.high_y, -extent.low_y, 0.0}) + kLeastMargin_m);
  if (width + 2 * kLeastMargin_m > widest_m) {
    return text(
        "the object is %.4f m wide along the closing axis, the gripper opens to %.4f m: close "
        "along "
        "another direction",
        width, widest_m);
  }
  if (needed > widest_m) {
    return text(
        "the object (%.4f m wide) lies %.4f m off the grasp centre along the closing axis, so that "
        "%.4f m of opening would be needed, the gripper opens to %.4f m: move the centre",
        width, 0.5 * (extent.high_y + extent.low_y), needed, widest_m);
  }
  return std::nullopt;
}

// Openings to try, widest first.
std::vector<double> openingsFor(const GraspRequest& request,
                                const Gripper& gripper,
                                const std::optional<Extent>& extent,
                                double widest_m) {
  if (!extent) {
    return {widest_m};
  }
  const double reach = std::max({extent->high_y, -extent->low_y, 0.0});
  const auto around = [&](double margin_m) {
    return std::clamp(2 * (reach + margin_m), std::min(gripper.min_opening_m, widest_m), widest_m);
  };
  std::vector<double> out = {around(request.opening_margin_m)};
  if (request.opening_margin_m > kTightMargin_m) {
    out.push_back(around(kTightMargin_m));
  }
  return out;
}

// How far contact must, and may, be drawn back along the approach from the grasp centre.
struct RaiseRange {
  double least_m = 0, most_m = 0;
};
RaiseRange raiseRange(const Arm& arm,
                      const GraspRequest& request,
                      const Transform& X_grasp,
                      const std::optional<Extent>& extent,
                      double opening_m) {
  const Gripper& gripper = arm.model.gripper;
  const double tip = gripper.tip_beyond_tcp_m;
  const Vec3 approach = X_grasp.linear().col(2);
  RaiseRange out;
  out.most_m = kBlindRaise_m;
  if (extent) {
    const double overlap =
        std::min(kLeastOverlap_m, kLeastOverlapShare * (extent->bottom_z - extent->top_z));
    out.most_m = tip - extent->top_z - overlap;
  }
  // The grasp centre belongs between the pads, not at the fingers' very ends.
  out.least_m = -std::max(0.0, gripper.grip_depth_m - tip);
  if (request.scene.table_z_m && approach.z() < kSteepApproach) {
    const Vec3 up = X_grasp.linear().row(2).transpose();
    const double lowest = request.grasp_center_world_m.z() + (tip - out.least_m) * up.z() -
                          0.5 * gripper.finger_width_m * std::abs(up.x()) -
                          (0.5 * opening_m + gripper.finger_thickness_m) * std::abs(up.y());
    const double missing = *request.scene.table_z_m + request.fingertip_clearance_m - lowest;
    out.least_m += std::max(0.0, missing) / -approach.z();
  }
  if (request.target_box) {
    Transform X = X_grasp;
    X.translation() -= out.least_m * approach;
    out.least_m += palmRaise(arm, X, *request.target_box, gripper.finger_length_m + tip);
  }
  return out;
}

// One contact pose, closing axis both ways, with its approach and lift; `gripper_fits` tells
// whether the open gripper alone is free there.
struct Attempt {
  Grasp grasp;
  bool gripper_fits = false;
};
Attempt attempt(const Arm& arm,
                const GraspRequest& request,
                const SceneIndex& index,
                const Transform& X_contact,
                double opening_m) {
  Attempt out;
  Tool tool;
  tool.opening_m = opening_m;
  CollisionChecker arriving(arm.model, index, tool);
  std::array<Transform, 2> contacts = {X_contact, X_contact};
  contacts[1].linear() = X_contact.linear() * Vec3(-1, -1, 1).asDiagonal();
  std::vector<ChainRequest> ways;
  std::vector<CollisionChecker> leaving;
  leaving.reserve(contacts.size());
  std::optional<Hit> blocked;
  for (const Transform& X : contacts) {
    if (const auto hit = arriving.checkTool(X).hit) {
      blocked = hit;
      continue;
    }
    tool.held = carried(request, X);
    ChainRequest way;
    way.X_pivot = way.X_before = way.X_after = X;
    way.arriving = &arriving;
    way.leaving = &leaving.emplace_back(arm.model, index, tool);
    ways.push_back(way);
  }
  if (ways.empty()) {
    out.grasp.outcome = blockedOutcome(arm, X_contact, request.q_seed_rad, "at contact ", *blocked);
    return out;
  }
  out.gripper_fits = true;
  out.grasp.outcome = unreachableOutcome();
  const std::vector<double> approaches = lineLengths(request.approach_distance_m);
  const std::vector<double> lifts = lineLengths(request.lift_height_m);
  for (size_t step = 0; step < std::max(approaches.size(), lifts.size()); ++step) {
    for (ChainRequest& way : ways) {
      way.X_before.translation() =
          way.X_pivot.translation() -
          approaches[std::min(step, approaches.size() - 1)] * way.X_pivot.linear().col(2);
      way.X_after.translation() =
          way.X_pivot.translation() + lifts[std::min(step, lifts.size() - 1)] * Vec3::UnitZ();
    }
    const BestChain found = findChain(arm, ways, request.q_seed_rad);
    if (found.line.outcome.code == CompileCode::kOk) {
      const ChainRequest& way = ways[found.chain];
      out.grasp.outcome = found.line.outcome;
      out.grasp.approach = {way.X_before, found.line.q_before};
      out.grasp.contact = {way.X_pivot, found.line.q_pivot};
      out.grasp.lift = {way.X_after, found.line.q_after};
      out.grasp.opening_m = opening_m;
      return out;
    }
    out.grasp.outcome = further(out.grasp.outcome, found.line.outcome);
  }
  return out;
}

}  // namespace

Grasp compileGrasp(const Arm& arm, const GraspRequest& request) {
  const Gripper& gripper = arm.model.gripper;
  const std::optional<Transform> X_grasp = graspFrame(request);
  if (!X_grasp) {
    return failed(
        CompileCode::kBadAxis,
        "closing and approach axis must not be null, and at least 6 degrees apart: give a "
        "closing direction across the approach");
  }
  const std::optional<Extent> extent = measureExtent(request, *X_grasp, gripper);
  const double widest = std::min(request.max_opening_m, gripper.max_opening_m);
  if (extent) {
    if (auto reason = tooWide(*extent, widest)) {
      return failed(CompileCode::kObjectTooWide, *reason);
    }
  }
  const std::vector<double> openings = openingsFor(request, gripper, extent, widest);
  const RaiseRange range = raiseRange(arm, request, *X_grasp, extent, openings[0]);
  if (range.least_m > range.most_m + kSameHeight_m) {
    return failed(
        CompileCode::kObjectTooLow,
        text(extent
                 ? "contact must be drawn back by %.4f m to keep fingertips off the support and "
                   "the palm off the object, but beyond %.4f m the fingers hold too little of it"
                 : "the grasp centre is too low: contact must be drawn back by %.4f m, more than "
                   "%.4f m is refused where the object was not measured",
             range.least_m, range.most_m));
  }

  const SceneIndex index(withoutTarget(request));
  Grasp best = failed(CompileCode::kUnreachable, "");
  best.outcome = unreachableOutcome();
  int fitting = 0;
  for (double raise = range.least_m;
       raise <= range.most_m + kSameHeight_m && fitting < kMostFitting; raise += kRaiseStep_m) {
    for (const double opening : openings) {
      Transform X_contact = *X_grasp;
      X_contact.translation() -= raise * X_grasp->linear().col(2);
      Attempt tried = attempt(arm, request, index, X_contact, opening);
      fitting += tried.gripper_fits ? 1 : 0;
      if (tried.grasp.outcome.code == CompileCode::kOk) {
        tried.grasp.raised_m = raise;
        if (extent) {
          tried.grasp.object_width_m = extent->high_y - extent->low_y;
        }
        return tried.grasp;
      }
      best.outcome = further(best.outcome, tried.grasp.outcome);
    }
  }
  return best;
}

}  // namespace s2r::pose
