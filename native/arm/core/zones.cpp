#include "native/arm/core/zones.h"

#include <cmath>

namespace s2r::arm {
namespace {

Frame frameOf(const Transform16& X) {
  Frame frame;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      frame.R(row, column) = X[static_cast<size_t>(4 * row + column)];
    }
    frame.p[row] = X[static_cast<size_t>(4 * row + 3)];
  }
  return frame;
}

double pointToBox(const Eigen::Vector3d& p, const Eigen::Vector3d& half) {
  const Eigen::Vector3d beyond = p.cwiseAbs() - half;
  return beyond.cwiseMax(0).norm() + std::min(beyond.maxCoeff(), 0.0);
}

}  // namespace

Chain::Chain(const CoreConfig& config)
    : base_(frameOf(config.X_world_base)), flange_tcp_(frameOf(config.X_flange_tcp)) {
  for (size_t i = 0; i < kJoints; ++i) {
    const DhParameters& row = config.dh[i];
    rows_[i] = {row.a_m, row.d_m, std::sin(row.alpha_rad), std::cos(row.alpha_rad),
                row.theta_offset_rad};
  }
}

Frames Chain::frames(const Joints& q) const noexcept {
  Frames out;
  out[0] = base_;
  for (size_t i = 0; i < kJoints; ++i) {
    const Row& row = rows_[i];
    const double s = std::sin(q[i] + row.offset), c = std::cos(q[i] + row.offset);
    const Eigen::Matrix3d& R = out[i].R;
    const Eigen::Vector3d x = R.col(0) * c + R.col(1) * s, y = R.col(1) * c - R.col(0) * s,
                          z = R.col(2);
    out[i + 1].p = out[i].p + z * row.d + x * row.a;
    out[i + 1].R.col(0) = x;
    out[i + 1].R.col(1) = y * row.cos_alpha + z * row.sin_alpha;
    out[i + 1].R.col(2) = z * row.cos_alpha - y * row.sin_alpha;
  }
  out[7].R = out[6].R * flange_tcp_.R;
  out[7].p = out[6].R * flange_tcp_.p + out[6].p;
  return out;
}

// The distance to a convex set is convex along the axis: golden sections find its least value.
double segmentToBox(const Eigen::Vector3d& p0,
                    const Eigen::Vector3d& p1,
                    const Eigen::Vector3d& half) {
  const Eigen::Vector3d along = p1 - p0;
  if (along.squaredNorm() < 1e-18) {
    return pointToBox(p0, half);
  }
  constexpr double kGolden = 0.6180339887498949;
  double low = 0, high = 1, a = 1 - kGolden, b = kGolden;
  double at_a = pointToBox(p0 + a * along, half), at_b = pointToBox(p0 + b * along, half);
  for (int i = 0; i < 24; ++i) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - kGolden * (high - low);
      at_a = pointToBox(p0 + a * along, half);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + kGolden * (high - low);
      at_b = pointToBox(p0 + b * along, half);
    }
  }
  return std::min({at_a, at_b, pointToBox(p0, half), pointToBox(p1, half)});
}

ZoneChecker::ZoneChecker(const CoreConfig& config)
    : chain_(config), body_count_(config.body_count), zone_count_(config.zone_count) {
  std::copy(config.bodies.begin(), config.bodies.end(), bodies_.begin());
  zones_ = config.zones;
  for (size_t z = 0; z < kMaxZones; ++z) {
    boxes_[z] = frameOf(zones_[z].X_world_box);
  }
}

void ZoneChecker::setLoad(const LoadUpdate& load) noexcept {
  carried_ = load.carried;
  bodies_[kLoadBody] = {BodyKind::kLoad, 7, load.p0_tcp_m, load.p1_tcp_m, load.radius_m, {}};
}

template <typename Visit>
void ZoneChecker::visit(const Joints& q_rad, Visit visitor) const noexcept {
  if (zone_count_ == 0) {
    return;
  }
  const Frames frames = chain_.frames(q_rad);
  for (int b = 0; b <= kMaxBodies; ++b) {
    if (b == kLoadBody ? !carried_ : b >= body_count_) {
      continue;
    }
    const Body& body = bodies_[static_cast<size_t>(b)];
    const Frame& frame = frames[static_cast<size_t>(body.frame)];
    const Eigen::Vector3d p0 = frame * body.p0_m, p1 = frame * body.p1_m;
    for (int z = 0; z < zone_count_; ++z) {
      const Zone& zone = zones_[static_cast<size_t>(z)];
      if ((zone.applies_to & (1u << static_cast<uint32_t>(body.kind))) == 0) {
        continue;
      }
      double distance;
      if (zone.kind == Zone::Kind::kHalfSpace) {
        const Eigen::Vector3d n(zone.normal_world[0], zone.normal_world[1], zone.normal_world[2]);
        distance = std::min(n.dot(p0), n.dot(p1)) - zone.offset_m - body.radius_m;
      } else {
        const Frame& box = boxes_[static_cast<size_t>(z)];
        const Eigen::Vector3d half(zone.size_m[0] / 2, zone.size_m[1] / 2, zone.size_m[2] / 2);
        const Eigen::Vector3d a = box.R.transpose() * (p0 - box.p),
                              c = box.R.transpose() * (p1 - box.p);
        // Far away the cheap bound is enough.
        const double far = (0.5 * (a + c)).norm() - 0.5 * (c - a).norm() - half.norm();
        distance = (far > 0.2 ? far : segmentToBox(a, c, half)) - body.radius_m;
      }
      visitor(b, z, distance);
    }
  }
}

void ZoneChecker::startAt(const Joints& q_rad) noexcept {
  visit(q_rad, [this](int b, int z, double distance) {
    allowed_m_[static_cast<size_t>(b)][static_cast<size_t>(z)] = std::min(0.0, distance);
  });
}

ZoneChecker::Hit ZoneChecker::check(const Joints& q_rad) const noexcept {
  Hit worst;
  double worst_excess = 0;
  visit(q_rad, [&](int b, int z, double distance) {
    const double limit = allowed_m_[static_cast<size_t>(b)][static_cast<size_t>(z)];
    const double excess = limit - kSlack_m - distance;
    if (!(excess <= 0) && excess > worst_excess) {
      worst_excess = excess;
      worst = {b, z, distance, limit};
    }
  });
  return worst;
}

}  // namespace s2r::arm
