#include "native/pose/compile_grasp.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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
constexpr double kPalmClearance_m = 0.002;
constexpr double kTargetMargin_m = 0.005;  // points this near the target's box belong to it
constexpr double kSlabMargin_m = 0.002;

// What the fingers will meet, in the grasp frame (origin at the grasp centre, y closing, z
// approach).
struct Extent {
  double low_y = 0, high_y = 0;  // within the width of the fingers
  double top_z = 0, bottom_z = 0;
};

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

Transform poseOf(const UprightBox& box) {
  Transform X = Transform::Identity();
  X.translation() = box.center_world_m;
  X.linear() = Eigen::AngleAxisd(box.yaw_rad, Vec3::UnitZ()).toRotationMatrix();
  return X;
}

// Range of y of a convex outline between x = -half and x = half.
void clipOutline(const std::vector<Eigen::Vector2d>& points,
                 double half,
                 double& low,
                 double& high) {
  const auto take = [&](double y) {
    low = std::min(low, y);
    high = std::max(high, y);
  };
  for (size_t i = 0; i < points.size(); ++i) {
    if (std::abs(points[i].x()) <= half) {
      take(points[i].y());
    }
    // The hull's edges are among all connections, and the others lie inside it.
    for (size_t j = i + 1; j < points.size(); ++j) {
      for (const double edge : {-half, half}) {
        const double a = points[i].x() - edge, b = points[j].x() - edge;
        if (a * b < 0) {
          take(points[i].y() + (points[j].y() - points[i].y()) * a / (a - b));
        }
      }
    }
  }
}

std::optional<Extent> measure(const GraspRequest& request,
                              const Transform& X_world_grasp,
                              const Gripper& gripper,
                              const std::vector<Vec3>& points) {
  constexpr double kNone = 1e9;
  Extent e{kNone, -kNone, kNone, -kNone};
  const double half = 0.5 * gripper.finger_width_m + kSlabMargin_m;
  const Transform X_grasp_world = X_world_grasp.inverse(Eigen::Isometry);
  if (request.target_box) {
    const UprightBox& box = *request.target_box;
    const Transform X = X_grasp_world * poseOf(box);
    std::vector<Eigen::Vector2d> outline;
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 sign(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
      const Vec3 p = X * Vec3(0.5 * box.size_m.cwiseProduct(sign));
      outline.emplace_back(p.x(), p.y());
      e.top_z = std::min(e.top_z, p.z());
      e.bottom_z = std::max(e.bottom_z, p.z());
    }
    if (box.round) {
      const Vec3 y = X.linear().row(1).transpose();
      const double reach = 0.5 * (std::hypot(y.x() * box.size_m.x(), y.y() * box.size_m.y()) +
                                  std::abs(y.z()) * box.size_m.z());
      e.low_y = X.translation().y() - reach;
      e.high_y = X.translation().y() + reach;
    } else {
      clipOutline(outline, half, e.low_y, e.high_y);
    }
  }
  std::vector<double> ys;
  for (const Vec3& p : points) {
    const Vec3 g = X_grasp_world * p;
    if (std::abs(g.x()) <= half && std::abs(g.y()) < 0.3) {
      ys.push_back(g.y());
    }
    if (!request.target_box) {
      e.top_z = std::min(e.top_z, g.z());
      e.bottom_z = std::max(e.bottom_z, g.z());
    }
  }
  if (ys.size() >= 8) {
    // The outermost hundredth is noise at the object's edge.
    std::ranges::sort(ys);
    e.low_y = std::min(e.low_y, ys[ys.size() / 100]);
    e.high_y = std::max(e.high_y, ys[ys.size() - 1 - ys.size() / 100]);
  }
  if (e.low_y > e.high_y) {
    return std::nullopt;
  }
  return e;
}

// How far the TCP must be drawn back so that the palm stays off the object.
double palmRaise(const Arm& arm,
                 const Transform& X_world_tcp,
                 const UprightBox& box,
                 double most_m) {
  const Shape target = boxShape(poseOf(box), box.size_m);
  const Transform X_tcp_flange = arm.model.X_flange_tcp.inverse(Eigen::Isometry);
  for (double raise = 0; raise <= most_m; raise += 0.001) {
    Transform X = X_world_tcp;
    X.translation() -= raise * X.linear().col(2);
    double nearest = 1;
    for (const LinkCapsule& c : arm.model.capsules) {
      if (c.link == 6) {
        nearest =
            std::min(nearest, distanceBetween(capsuleShape(c.capsule, X * X_tcp_flange), target));
      }
    }
    for (const Capsule& c : arm.model.gripper.capsules) {
      nearest = std::min(nearest, distanceBetween(capsuleShape(c, X), target));
    }
    if (nearest >= kPalmClearance_m) {
      return raise;
    }
  }
  return most_m + 1;
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

}  // namespace

Grasp compileGrasp(const Arm& arm, const GraspRequest& request) {
  const Gripper& gripper = arm.model.gripper;
  if (!(request.approach_axis_world.norm() > 1e-6) || !(request.closing_axis_world.norm() > 1e-6)) {
    return failed(CompileCode::kBadAxis, "closing and approach axis must not be null");
  }
  const Vec3 approach = request.approach_axis_world.normalized();
  Vec3 closing = request.closing_axis_world.normalized();
  closing -= closing.dot(approach) * approach;
  if (closing.norm() < 0.1) {
    return failed(CompileCode::kBadAxis,
                  "the closing axis is parallel to the approach axis within 6 degrees: give a "
                  "direction across it");
  }
  closing.normalize();
  Transform X_grasp = Transform::Identity();
  X_grasp.linear().col(1) = closing;
  X_grasp.linear().col(2) = approach;
  X_grasp.linear().col(0) = closing.cross(approach);
  X_grasp.translation() = request.grasp_center_world_m;

  const std::vector<Vec3> target_points = finitePoints(request.target_points_world_m);
  const std::optional<Extent> extent = measure(request, X_grasp, gripper, target_points);
  const double widest = std::min(request.max_opening_m, gripper.max_opening_m);
  std::vector<double> openings = {widest};
  if (extent) {
    const double width = extent->high_y - extent->low_y;
    const double reach = std::max({extent->high_y, -extent->low_y, 0.0});
    if (width + 2 * kLeastMargin_m > widest) {
      return failed(CompileCode::kObjectTooWide,
                    text("the object is %.4f m wide along the closing axis, the gripper opens to "
                         "%.4f m: close along another direction",
                         width, widest));
    }
    if (2 * (reach + kLeastMargin_m) > widest) {
      return failed(CompileCode::kObjectTooWide,
                    text("the object (%.4f m wide) lies %.4f m off the grasp centre along the "
                         "closing axis, so that %.4f m of opening would be needed, the gripper "
                         "opens to %.4f m: move the centre",
                         width, 0.5 * (extent->high_y + extent->low_y),
                         2 * (reach + kLeastMargin_m), widest));
    }
    const double least = std::max(gripper.min_opening_m, 0.0);
    openings = {std::clamp(2 * (reach + request.opening_margin_m), least, widest)};
    if (request.opening_margin_m > kTightMargin_m) {
      openings.push_back(std::clamp(2 * (reach + kTightMargin_m), least, widest));
    }
  }

  // How far contact must, and may, be drawn back along the approach.
  const double tip = gripper.tip_beyond_tcp_m;
  double most_raise = kBlindRaise_m;
  if (extent) {
    const double overlap =
        std::min(kLeastOverlap_m, kLeastOverlapShare * (extent->bottom_z - extent->top_z));
    most_raise = tip - extent->top_z - overlap;
  }
  // The grasp centre belongs between the pads, not at the fingers' very ends.
  const double deeper = std::max(0.0, gripper.grip_depth_m - tip);
  double raise = -deeper;
  if (request.scene.table_z_m) {
    const Vec3 up = X_grasp.linear().row(2).transpose();
    const double lowest = request.grasp_center_world_m.z() + (tip + deeper) * up.z() -
                          0.5 * gripper.finger_width_m * std::abs(up.x()) -
                          (0.5 * openings[0] + gripper.finger_thickness_m) * std::abs(up.y());
    const double missing = *request.scene.table_z_m + request.fingertip_clearance_m - lowest;
    if (missing > 0 && approach.z() < -0.2) {
      raise += missing / -approach.z();
    }
  }
  if (request.target_box) {
    Transform X = X_grasp;
    X.translation() -= raise * approach;
    raise += palmRaise(arm, X, *request.target_box, gripper.finger_length_m + tip);
  }
  if (raise > most_raise + 1e-9) {
    return failed(
        CompileCode::kObjectTooLow,
        extent
            ? text("contact must be drawn back by %.4f m to keep fingertips off the support and "
                   "the palm off the object, but beyond %.4f m the fingers hold too little of it",
                   raise, most_raise)
            : text("the grasp centre is too low: contact must be drawn back by %.4f m, more than "
                   "%.4f m is refused where the object was not measured",
                   raise, most_raise));
  }

  const SceneIndex index(withoutTarget(request));
  CompileOutcome best_failure;
  best_failure.code = CompileCode::kUnreachable;
  best_failure.reason = "the pose is out of the arm's reach";
  int tried = 0;
  constexpr int kMostTried = 3;  // heights at which the gripper fits but the arm does not get there
  for (; raise <= most_raise + 1e-9 && tried < kMostTried; raise += kRaiseStep_m) {
    for (const double opening : openings) {
      Tool open;
      open.opening_m = opening;
      CollisionChecker arriving(arm.model, index, open);
      Transform X_contact = X_grasp;
      X_contact.translation() -= raise * approach;
      std::array<Transform, 2> contacts = {X_contact, X_contact};
      contacts[1].linear() = X_contact.linear() * Vec3(-1, -1, 1).asDiagonal();
      std::array<std::optional<Hit>, 2> tool_hits;
      for (size_t i = 0; i < 2; ++i) {
        tool_hits[i] = arriving.checkTool(contacts[i]).hit;
      }
      if (tool_hits[0] && tool_hits[1]) {
        CompileOutcome blocked;
        blocked.code = CompileCode::kCollision;
        blocked.reason = "at contact " + describe(*tool_hits[0]);
        blocked.hit = tool_hits[0];
        blocked.checks = {true, true, false, tool_hits[0]->distance_m};
        best_failure = further(best_failure, blocked);
        continue;
      }
      ++tried;
      Tool holding = open;
      std::vector<CollisionChecker> leaving;
      leaving.reserve(2);
      for (const Transform& X : contacts) {
        holding.held = carried(request, X);
        leaving.emplace_back(arm.model, index, holding);
      }
      const std::vector<double> approaches = lineLengths(request.approach_distance_m);
      const std::vector<double> lifts = lineLengths(request.lift_height_m);
      for (size_t step = 0; step < std::max(approaches.size(), lifts.size()); ++step) {
        std::vector<ChainRequest> chains;
        for (size_t i = 0; i < 2; ++i) {
          if (tool_hits[i]) {
            continue;
          }
          ChainRequest chain;
          chain.X_pivot = chain.X_before = chain.X_after = contacts[i];
          chain.X_before.translation() -=
              approaches[std::min(step, approaches.size() - 1)] * approach;
          chain.X_after.translation().z() += lifts[std::min(step, lifts.size() - 1)];
          chain.arriving = &arriving;
          chain.leaving = &leaving[i];
          chains.push_back(chain);
        }
        const BestChain found = findChain(arm, chains, request.q_seed_rad);
        if (found.line.outcome.code == CompileCode::kOk) {
          const ChainRequest& chain = chains[found.chain];
          Grasp out;
          out.outcome = found.line.outcome;
          out.approach = {chain.X_before, found.line.q_before};
          out.contact = {chain.X_pivot, found.line.q_pivot};
          out.lift = {chain.X_after, found.line.q_after};
          out.opening_m = opening;
          out.raised_m = raise;
          if (extent) {
            out.object_width_m = extent->high_y - extent->low_y;
          }
          return out;
        }
        best_failure = further(best_failure, found.line.outcome);
      }
    }
  }
  Grasp out;
  out.outcome = best_failure;
  return out;
}

}  // namespace s2r::pose
