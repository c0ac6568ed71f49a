#include "native/arm/core/config.h"

#include <cmath>

namespace s2r::arm {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string checkTransform(const Transform16& X, const char* name) {
  for (const double value : X) {
    if (!std::isfinite(value)) {
      return std::string(name) + " has a number that is not finite";
    }
  }
  for (size_t a = 0; a < 3; ++a) {
    for (size_t b = a; b < 3; ++b) {
      const double dot = X[a] * X[b] + X[4 + a] * X[4 + b] + X[8 + a] * X[8 + b];
      if (std::abs(dot - (a == b ? 1 : 0)) > 1e-6) {
        return std::string(name) + " is no rotation: columns " + std::to_string(a + 1) + " and " +
               std::to_string(b + 1) + " multiply to " + number(dot);
      }
    }
  }
  const double determinant = X[0] * (X[5] * X[10] - X[6] * X[9]) -
                             X[1] * (X[4] * X[10] - X[6] * X[8]) +
                             X[2] * (X[4] * X[9] - X[5] * X[8]);
  if (determinant < 0 || X[12] != 0 || X[13] != 0 || X[14] != 0 || X[15] != 1) {
    return std::string(name) + " is no rigid transform: it mirrors, or its last row is not 0 0 0 1";
  }
  return "";
}

std::string checkRange(double value, double low, double high, const std::string& name) {
  if (value >= low && value <= high) {
    return "";
  }
  return name + " is " + number(value) + "; it must lie from " + number(low) + " to " +
         number(high);
}

std::string checkJoint(const JointLimits& l, const std::string& joint) {
  std::string wrong = checkRange(l.position_min_rad, -6.3, 6.3, joint + " position_min_rad");
  wrong = wrong.empty() ? checkRange(l.position_max_rad, -6.3, 6.3, joint + " position_max_rad")
                        : wrong;
  if (wrong.empty() && !(l.position_min_rad < l.position_max_rad)) {
    wrong = joint + " position_min_rad " + number(l.position_min_rad) +
            " is not below position_max_rad " + number(l.position_max_rad);
  }
  // Upper ends: what the controller's servoJ accepts, and for the jerk, what makes one period a
  // step of acceleration.
  wrong =
      wrong.empty() ? checkRange(l.velocity_rad_s, 0.01, 3.1416, joint + " velocity_rad_s") : wrong;
  wrong = wrong.empty() ? checkRange(l.acceleration_rad_s2, 0.1, 40, joint + " acceleration_rad_s2")
                        : wrong;
  return wrong.empty() ? checkRange(l.jerk_rad_s3, 1, 4000, joint + " jerk_rad_s3") : wrong;
}

bool isFinite(const Vector3& v) {
  return std::isfinite(v[0] + v[1] + v[2]);
}

std::string checkBody(const Body& body, const std::string& name) {
  if (body.frame < 0 || body.frame > 7) {
    return name + " rides on frame " + std::to_string(body.frame) +
           "; frames are 0 (base) to 7 (TCP)";
  }
  if (!isFinite(body.p0_m) || !isFinite(body.p1_m)) {
    return name + " has a number that is not finite";
  }
  return checkRange(body.radius_m, 0, 0.5, name + " radius_m");
}

std::string checkZone(const Zone& zone, const std::string& name) {
  if (zone.kind == Zone::Kind::kHalfSpace) {
    const Vector3& n = zone.normal_world;
    const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(std::abs(length - 1) < 1e-6)) {
      return name + " normal_world has length " + number(length) + "; it must be 1";
    }
    return checkRange(zone.offset_m, -10, 10, name + " offset_m");
  }
  for (const double size : zone.size_m) {
    const std::string wrong = checkRange(size, 1e-4, 20, name + " size_m");
    if (!wrong.empty()) {
      return wrong;
    }
  }
  return checkTransform(zone.X_world_box, (name + " X_world_box").c_str());
}

}  // namespace

std::string validate(const CoreConfig& c) {
  std::string wrong = checkTransform(c.X_world_base, "X_world_base");
  wrong = wrong.empty() ? checkTransform(c.X_flange_tcp, "X_flange_tcp") : wrong;
  for (size_t i = 0; i < kJoints && wrong.empty(); ++i) {
    const DhParameters& row = c.dh[i];
    if (!std::isfinite(row.a_m + row.d_m + row.alpha_rad + row.theta_offset_rad)) {
      return "DH row " + std::to_string(i + 1) + " has a number that is not finite";
    }
    wrong = checkJoint(c.limits[i], "joint " + std::to_string(i + 1));
  }
  if (wrong.empty() && (c.body_count < 0 || c.body_count > kMaxBodies)) {
    wrong = std::to_string(c.body_count) + " bodies; the limit is " + std::to_string(kMaxBodies);
  }
  if (wrong.empty() && (c.zone_count < 0 || c.zone_count > kMaxZones)) {
    wrong = std::to_string(c.zone_count) + " zones; the limit is " + std::to_string(kMaxZones);
  }
  for (int i = 0; i < c.body_count && wrong.empty(); ++i) {
    wrong = checkBody(c.bodies[static_cast<size_t>(i)], "body " + std::to_string(i));
  }
  for (int i = 0; i < c.zone_count && wrong.empty(); ++i) {
    wrong = checkZone(c.zones[static_cast<size_t>(i)], "zone " + std::to_string(i));
  }
  const struct {
    double value, low, high;
    const char* name;
  } ranges[] = {
      {c.contact_force_n, 1, 200, "contact_force_n"},
      {c.contact_torque_nm, 0.1, 50, "contact_torque_nm"},
      {c.wrench_filter_s, 0, 0.5, "wrench_filter_s"},
      {static_cast<double>(c.stale_cycles_stop), 1, 250, "stale_cycles_stop"},
      {c.starved_s, 0.004, 1, "starved_s"},
      {c.slider_zero_s, 0, 10, "slider_zero_s"},
      {c.start_tolerance_rad, 0, 0.1, "start_tolerance_rad"},
      {c.distance_base_rad, 0.001, 1, "distance_base_rad"},
      {c.distance_per_speed_s, 0, 2, "distance_per_speed_s"},
      {c.settle_tolerance_rad, 1e-5, 0.1, "settle_tolerance_rad"},
      {c.settle_speed_rad_s, 1e-4, 0.5, "settle_speed_rad_s"},
      {c.settle_timeout_s, 0.01, 30, "settle_timeout_s"},
      {c.lock_out_s, 5, 600, "lock_out_s"},
      {static_cast<double>(c.recovery_limit), 1, 16, "recovery_limit"},
      {c.recovery_window_s, 1, 86400, "recovery_window_s"},
  };
  for (const auto& range : ranges) {
    wrong = wrong.empty() ? checkRange(range.value, range.low, range.high, range.name) : wrong;
  }
  return wrong;
}

}  // namespace s2r::arm
