#include "native/pose/grasp_extent.h"

#include <algorithm>
#include <cmath>

namespace s2r::pose {
namespace {

constexpr double kPalmClearance_m = 0.002;
constexpr double kSlabMargin_m = 0.002;  // beside the fingers' width

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

}  // namespace

Transform poseOf(const UprightBox& box) {
  Transform X = Transform::Identity();
  X.translation() = box.center_world_m;
  X.linear() = Eigen::AngleAxisd(box.yaw_rad, Vec3::UnitZ()).toRotationMatrix();
  return X;
}

std::optional<Extent> measureExtent(const GraspRequest& request,
                                    const Transform& X_world_grasp,
                                    const Gripper& gripper) {
  const std::vector<Vec3> points = finitePoints(request.target_points_world_m);
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

}  // namespace s2r::pose
