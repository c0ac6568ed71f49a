#include "native/pose/shapes.h"

#include <algorithm>
#include <cmath>

namespace s2r::pose {
namespace {

double segmentPoint(const Vec3& p0, const Vec3& p1, const Vec3& point) {
  const Vec3 d = p1 - p0;
  const double length2 = d.squaredNorm();
  const double t = length2 > 0 ? std::clamp((point - p0).dot(d) / length2, 0.0, 1.0) : 0.0;
  return (point - p0 - t * d).norm();
}

// Closest approach of two segments: the unconstrained minimum of the quadratic where it lies
// inside, else the best of the four edges.
double segmentSegment(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) {
  const Vec3 u = a1 - a0, v = b1 - b0, w = a0 - b0;
  const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm();
  const double det = uu * vv - uv * uv;
  if (det > 1e-12 * uu * vv) {
    const double s = (uv * v.dot(w) - vv * u.dot(w)) / det;
    const double t = (uu * v.dot(w) - uv * u.dot(w)) / det;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) {
      return (w + s * u - t * v).norm();
    }
  }
  return std::min({segmentPoint(b0, b1, a0), segmentPoint(b0, b1, a1), segmentPoint(a0, a1, b0),
                   segmentPoint(a0, a1, b1)});
}

double boxPoint(const Vec3& local, const Vec3& half) {
  const Vec3 q = local.cwiseAbs() - half;
  return q.cwiseMax(0).norm() + std::min(0.0, q.maxCoeff());
}

double cylinderPoint(const Vec3& local, const Vec3& half) {
  // Distance from an ellipse is at least (gauge - 1) times the shorter semi-axis, with equality for
  // circles.
  const double gauge = std::hypot(local.x() / half.x(), local.y() / half.y());
  const double radial = (gauge - 1) * std::min(half.x(), half.y());
  const double axial = std::abs(local.z()) - half.z();
  if (radial <= 0 && axial <= 0) {
    return std::max(radial, axial);
  }
  return std::hypot(std::max(radial, 0.0), std::max(axial, 0.0));
}

// The signed distance from a convex body is convex along a segment, so golden-section search finds
// its minimum.
double segmentShape(const Vec3& p0, const Vec3& p1, const Shape& shape) {
  constexpr double kGolden = 0.6180339887498949;
  constexpr int kIterations = 26;  // 0.618^26 = 4e-6 of the segment's length
  const auto at = [&](double t) { return distanceToPoint(shape, p0 + t * (p1 - p0)); };
  double low = 0, high = 1;
  double t1 = high - kGolden, t2 = low + kGolden;
  double f1 = at(t1), f2 = at(t2);
  double best = std::min({f1, f2, at(0), at(1)});
  for (int i = 0; i < kIterations; ++i) {
    if (f1 < f2) {
      high = t2, t2 = t1, f2 = f1;
      t1 = high - kGolden * (high - low);
      f1 = at(t1);
    } else {
      low = t1, t1 = t2, f1 = f2;
      t2 = low + kGolden * (high - low);
      f2 = at(t2);
    }
    best = std::min({best, f1, f2});
  }
  return best;
}

double boxBox(const Shape& a, const Shape& b) {
  const Vec3 d = b.center - a.center;
  double separation = -1e300;
  const auto along = [&](const Vec3& axis) {
    const double extent_a = (a.axes.transpose() * axis).cwiseAbs().dot(a.half);
    const double extent_b = (b.axes.transpose() * axis).cwiseAbs().dot(b.half);
    separation = std::max(separation, std::abs(d.dot(axis)) - extent_a - extent_b);
  };
  for (int i = 0; i < 3; ++i) {
    along(a.axes.col(i));
    along(b.axes.col(i));
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Vec3 axis = a.axes.col(i).cross(b.axes.col(j));
      const double norm = axis.norm();
      if (norm > 1e-9) {
        along(axis / norm);
      }
    }
  }
  return separation;
}

}  // namespace

Shape capsuleShape(const Capsule& capsule, const Transform& X_world_frame) {
  Shape s;
  s.kind = ShapeKind::kCapsule;
  s.p0 = X_world_frame * capsule.p0_m;
  s.p1 = X_world_frame * capsule.p1_m;
  s.radius = capsule.radius_m;
  s.center = 0.5 * (s.p0 + s.p1);
  s.bound = 0.5 * (s.p1 - s.p0).norm() + s.radius;
  return s;
}

Shape boxShape(const Transform& X_world_box, const Vec3& size_m, bool round) {
  Shape s;
  s.kind = round ? ShapeKind::kCylinder : ShapeKind::kBox;
  s.axes = X_world_box.linear();
  s.half = 0.5 * size_m;
  s.center = X_world_box.translation();
  s.bound = s.half.norm();
  return s;
}

double distanceToPoint(const Shape& shape, const Vec3& point) {
  switch (shape.kind) {
    case ShapeKind::kCapsule:
      return segmentPoint(shape.p0, shape.p1, point) - shape.radius;
    case ShapeKind::kBox:
      return boxPoint(shape.axes.transpose() * (point - shape.center), shape.half);
    case ShapeKind::kCylinder:
      return cylinderPoint(shape.axes.transpose() * (point - shape.center), shape.half);
  }
  return 0;
}

double lowestZ(const Shape& shape) {
  if (shape.kind == ShapeKind::kCapsule) {
    return std::min(shape.p0.z(), shape.p1.z()) - shape.radius;
  }
  const Vec3 up = shape.axes.row(2).transpose();
  if (shape.kind == ShapeKind::kBox) {
    return shape.center.z() - up.cwiseAbs().dot(shape.half);
  }
  return shape.center.z() - std::hypot(up.x() * shape.half.x(), up.y() * shape.half.y()) -
         std::abs(up.z()) * shape.half.z();
}

double distanceBetween(const Shape& a, const Shape& b) {
  if (a.kind == ShapeKind::kCapsule && b.kind == ShapeKind::kCapsule) {
    return segmentSegment(a.p0, a.p1, b.p0, b.p1) - a.radius - b.radius;
  }
  if (a.kind == ShapeKind::kCapsule || b.kind == ShapeKind::kCapsule) {
    const Shape& capsule = a.kind == ShapeKind::kCapsule ? a : b;
    Shape box = a.kind == ShapeKind::kCapsule ? b : a;
    box.kind = ShapeKind::kBox;
    return segmentShape(capsule.p0, capsule.p1, box) - capsule.radius;
  }
  return boxBox(a, b);
}

double boundDistance(const Shape& a, const Shape& b) {
  return (a.center - b.center).norm() - a.bound - b.bound;
}

double displacement(const Shape& a, const Shape& b) {
  if (a.kind == ShapeKind::kCapsule) {
    return std::max((a.p0 - b.p0).norm(), (a.p1 - b.p1).norm());
  }
  // A corner's displacement is affine in its local coordinates, so the farthest is at a corner.
  double most = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 local(corner & 1 ? a.half.x() : -a.half.x(), corner & 2 ? a.half.y() : -a.half.y(),
                     corner & 4 ? a.half.z() : -a.half.z());
    most = std::max(most, (a.center + a.axes * local - b.center - b.axes * local).norm());
  }
  return most;
}

}  // namespace s2r::pose
