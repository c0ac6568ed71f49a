#include "native/arm/core/trajectory.h"

#include <cmath>

#include "native/arm/core/faults.h"
#include "native/arm/core/zones.h"

namespace s2r::arm {
namespace {

// Segments walked over in one period before the right one is searched for.
constexpr int kStepsBeforeSearch = 32;
// Points this close sample a curve; further apart they are corners.
constexpr double kDense_s = 0.03;

}  // namespace

void Path::begin(const StartRequest& request,
                 const Joints& from,
                 const CoreConfig& config) noexcept {
  time_s_ = request.time_s;
  q_rad_ = request.q_rad;
  count_ = request.count;
  duration_s_ = time_s_[count_ - 1];
  fade_s_ = 0;
  for (size_t i = 0; i < kJoints; ++i) {
    offset_rad_[i] = from[i] - q_rad_[i];
    const double d = std::abs(offset_rad_[i]);
    const JointLimits& l = config.limits[i];
    // Peaks of the quintic that fades: 1.875 d/T, 5.774 d/T^2, 60 d/T^3; a third of each limit.
    fade_s_ =
        std::max({fade_s_, 5.7 * d / l.velocity_rad_s, std::sqrt(17.5 * d / l.acceleration_rad_s2),
                  std::cbrt(180 * d / l.jerk_rad_s3)});
  }
  end_s_ = std::max(duration_s_, fade_s_);
  valid_ = std::isfinite(end_s_);
  enter(0);
}

double Path::slope(uint32_t point, size_t joint) const noexcept {
  if (point == 0 || point + 1 >= count_) {
    return 0;
  }
  const double h0 = time_s_[point] - time_s_[point - 1], h1 = time_s_[point + 1] - time_s_[point];
  const double d0 = (q(point, joint) - q(point - 1, joint)) / h0,
               d1 = (q(point + 1, joint) - q(point, joint)) / h1;
  const double parabola = (h1 * d0 + h0 * d1) / (h0 + h1);
  // A cubic leaves its chord by at most 4/27 h per unit of slope that differs from the chord's, at
  // each end.
  const double room0 = kChordError_rad * 27 / 8 / h0, room1 = kChordError_rad * 27 / 8 / h1;
  const double low = std::max(d0 - room0, d1 - room1), high = std::min(d0 + room0, d1 + room1);
  if (low <= high) {
    return std::clamp(parabola, low, high);
  }
  // A corner between long chords: the slope with which neither side overshoots its ends.
  return d0 * d1 > 0 ? 2 * d0 * d1 / (d0 + d1) : 0;
}

void Path::enter(uint32_t segment) noexcept {
  segment_ = segment;
  if (!(time_s_[segment + 1] > time_s_[segment])) {
    valid_ = false;
    return;
  }
  dense_ = time_s_[segment + 1] - time_s_[segment] <= kDense_s &&
           (segment == 0 || time_s_[segment] - time_s_[segment - 1] <= kDense_s) &&
           (segment + 2 >= count_ || time_s_[segment + 2] - time_s_[segment + 1] <= kDense_s);
  for (size_t i = 0; i < kJoints; ++i) {
    slope_from_[i] = slope(segment, i);
    slope_to_[i] = slope(segment + 1, i);
    if (dense_) {
      bend_from_[i] = bend(segment, i);
      bend_to_[i] = bend(segment + 1, i);
    }
  }
}

// Second derivative at a point by differences; the ends are at rest, as if the path came from and
// went back to its neighbour.
double Path::bend(uint32_t point, size_t joint) const noexcept {
  const uint32_t before = point == 0 ? 1 : point - 1,
                 after = point + 1 >= count_ ? count_ - 2 : point + 1;
  const double h0 = std::abs(time_s_[point] - time_s_[before]),
               h1 = std::abs(time_s_[after] - time_s_[point]);
  return 2 *
         ((q(after, joint) - q(point, joint)) / h1 + (q(before, joint) - q(point, joint)) / h0) /
         (h0 + h1);
}

Path::Point Path::at(double s) noexcept {
  Point out;
  if (!valid_ || !(s >= 0)) {
    return out;
  }
  const double t = std::min(s, duration_s_);
  uint32_t segment = segment_;
  for (int step = 0; segment + 2 < count_ && t >= time_s_[segment + 1]; ++segment) {
    if (++step > kStepsBeforeSearch) {
      const double* after = std::upper_bound(time_s_ + segment, time_s_ + count_, t);
      segment = std::min(static_cast<uint32_t>(after - time_s_) - 1, count_ - 2);
      break;
    }
  }
  if (segment != segment_) {
    enter(segment);
    if (!valid_) {
      return out;
    }
  }
  const double h = time_s_[segment + 1] - time_s_[segment];
  const double u = (t - time_s_[segment]) / h;
  const bool past = s > duration_s_;
  double fade = 0, fade1 = 0, fade2 = 0, fade3 = 0;
  if (s < fade_s_) {
    const double x = s / fade_s_, y = 1 - x;
    fade = y * y * y * (1 + 3 * x + 6 * x * x);
    fade1 = -30 * x * x * y * y / fade_s_;
    fade2 = -60 * x * y * (1 - 2 * x) / (fade_s_ * fade_s_);
    fade3 = -60 * (1 - 6 * x + 6 * x * x) / (fade_s_ * fade_s_ * fade_s_);
  }
  out.valid = std::isfinite(u);
  for (size_t i = 0; i < kJoints; ++i) {
    const double p0 = q(segment, i), p1 = q(segment + 1, i), m0 = slope_from_[i] * h,
                 m1 = slope_to_[i] * h;
    const double c2 = 3 * (p1 - p0) - 2 * m0 - m1, c3 = 2 * (p0 - p1) + m0 + m1;
    out.q[i] = p0 + u * (m0 + u * (c2 + u * c3)) + offset_rad_[i] * fade;
    out.dq[i] = (past ? 0 : (m0 + u * (2 * c2 + 3 * c3 * u)) / h) + offset_rad_[i] * fade1;
    // Where points are dense the cubic's own second derivative is a saw tooth about the curve's,
    // and its third is wrong.
    const double ddq = dense_ ? bend_from_[i] + u * (bend_to_[i] - bend_from_[i])
                              : (2 * c2 + 6 * c3 * u) / (h * h);
    const double dddq = dense_ ? (bend_to_[i] - bend_from_[i]) / h : 6 * c3 / (h * h * h);
    out.ddq[i] = (past ? 0 : ddq) + offset_rad_[i] * fade2;
    out.dddq[i] = (past ? 0 : dddq) + offset_rad_[i] * fade3;
    out.valid = out.valid && std::isfinite(out.q[i]) && std::isfinite(out.dq[i]) &&
                std::isfinite(out.ddq[i] + out.dddq[i]);
  }
  return out;
}

uint32_t Path::reachedPoint(double s) const noexcept {
  if (count_ == 0) {
    return 0;
  }
  return s >= duration_s_ ? count_ - 1 : segment_;
}

namespace {

TrajectoryCheck defect(FaultCode code,
                       uint32_t point,
                       int joint,
                       double value,
                       double limit,
                       std::string message) {
  TrajectoryCheck check;
  check.ok = false;
  check.point = point;
  check.defect.code = code;
  check.defect.joint = joint;
  check.defect.value = value;
  check.defect.limit = limit;
  check.message = "point " + std::to_string(point) + " of the trajectory: " + std::move(message);
  return check;
}

std::string fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

}  // namespace

TrajectoryCheck checkTrajectory(const CoreConfig& config,
                                const double* time_s,
                                const double* q_rad,
                                uint32_t count,
                                const LoadUpdate& load) {
  if (count < 2) {
    return defect(FaultCode::kGateNotFinite, 0, kNoIndex, count, 2,
                  "the trajectory has " + std::to_string(count) + " points; it needs at least 2");
  }
  if (time_s[0] != 0) {
    return defect(FaultCode::kGateNotFinite, 0, kNoIndex, time_s[0], 0,
                  "its time is " + fixed(time_s[0]) + " s; the first time must be 0");
  }
  ZoneChecker zones(config);
  zones.setLoad(load);
  for (uint32_t n = 0; n < count; ++n) {
    const double* q = q_rad + static_cast<size_t>(n) * kJoints;
    if (!std::isfinite(time_s[n]) || (n > 0 && !(time_s[n] > time_s[n - 1]))) {
      return defect(FaultCode::kGateNotFinite, n, kNoIndex, time_s[n], n > 0 ? time_s[n - 1] : 0,
                    "its time is " + fixed(time_s[n]) + " s; times must be numbers that rise");
    }
    Joints here;
    for (int i = 0; i < kJoints; ++i) {
      const JointLimits& l = config.limits[static_cast<size_t>(i)];
      const std::string name = "joint " + std::to_string(i + 1);
      if (!std::isfinite(q[i])) {
        return defect(FaultCode::kGateNotFinite, n, i, q[i], 0, name + " is not a number");
      }
      if (q[i] < l.position_min_rad || q[i] > l.position_max_rad) {
        const double limit = q[i] < l.position_min_rad ? l.position_min_rad : l.position_max_rad;
        return defect(FaultCode::kGateJointLimit, n, i, q[i], limit,
                      name + " is at " + fixed(q[i]) + " rad; the limit is " + fixed(limit) +
                          " rad: choose another way or pose");
      }
      if (n > 0) {
        const double speed = std::abs(q[i] - q[i - kJoints]) / (time_s[n] - time_s[n - 1]);
        if (speed > 1.02 * l.velocity_rad_s) {
          return defect(FaultCode::kGateVelocity, n, i, speed, l.velocity_rad_s,
                        name + " moves at " + fixed(speed) + " rad/s; the limit is " +
                            fixed(l.velocity_rad_s) + " rad/s: plan slower");
        }
      }
      here[static_cast<size_t>(i)] = q[i];
    }
    if (n == 0) {
      zones.startAt(here);
    }
    const ZoneChecker::Hit hit = zones.check(here);
    if (hit.zone >= 0) {
      FaultDetail detail;
      detail.code = FaultCode::kGateZone;
      detail.body = hit.body;
      detail.zone = hit.zone;
      detail.value = hit.distance_m;
      detail.limit = hit.limit_m;
      TrajectoryCheck check =
          defect(FaultCode::kGateZone, n, kNoIndex, 0, 0, faultMessage(detail, config));
      check.defect = detail;
      return check;
    }
  }
  if (time_s[count - 1] > 600) {
    return defect(
        FaultCode::kGateNotFinite, count - 1, kNoIndex, time_s[count - 1], 600,
        "it ends at " + fixed(time_s[count - 1]) + " s; the limit is 600 s: split the motion");
  }
  return {};
}

}  // namespace s2r::arm
