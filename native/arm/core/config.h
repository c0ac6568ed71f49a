// What the cycle knows of one arm. Filled once before the first cycle and checked by validate().
#pragma once

#include <string>

#include "native/arm/core/cycle.h"

namespace s2r::arm {

// Row-major 4 x 4; X_a_b maps coordinates of frame b to frame a.
using Transform16 = std::array<double, 16>;
inline constexpr Transform16 kIdentity16 = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

// Standard Denavit-Hartenberg: Rz(q + theta_offset) Tz(d) Tx(a) Rx(alpha).
struct DhParameters {
  double a_m = 0, d_m = 0, alpha_rad = 0, theta_offset_rad = 0;
};

// A capsule that rides on the arm. Frame 0 is the base, 1 to 6 the DH frames after each joint, 7
// the TCP.
struct Body {
  BodyKind kind = BodyKind::kWrist;
  int frame = 6;
  Vector3 p0_m{}, p1_m{};
  double radius_m = 0;
  FixedText<32> name;
};

// Where a body may not be.
struct Zone {
  enum class Kind : uint32_t {
    kHalfSpace,  // keep where normal_world . p >= offset_m
    kBox,        // keep out of it
  };
  Kind kind = Kind::kHalfSpace;
  Vector3 normal_world{0, 0, 1};  // unit length
  double offset_m = 0;
  Transform16 X_world_box = kIdentity16;  // centre and axes
  Vector3 size_m{};
  uint32_t applies_to = 0xF;  // bit of each BodyKind: 1 elbow, 2 wrist, 4 gripper, 8 load
  FixedText<48> name;
};

inline constexpr int kMaxBodies = 16, kMaxZones = 24;
inline constexpr int kLoadBody = kMaxBodies;  // FaultDetail::body of the carried load

struct JointLimits {
  double position_min_rad = -6.2832, position_max_rad = 6.2832;
  // Of the streamed setpoints. Plans should stay within 95 % of velocity, 80 % of acceleration and
  // half the jerk, so that smoothing and a stop on the way have room.
  double velocity_rad_s = 3.14, acceleration_rad_s2 = 10, jerk_rad_s3 = 160;
};

// Defaults are a UR5e's with nominal kinematics.
struct CoreConfig {
  std::array<DhParameters, kJoints> dh = {{{0, 0.1625, 1.5707963267948966, 0},
                                           {-0.425, 0, 0, 0},
                                           {-0.3922, 0, 0, 0},
                                           {0, 0.1333, 1.5707963267948966, 0},
                                           {0, 0.0997, -1.5707963267948966, 0},
                                           {0, 0.0996, 0, 0}}};
  Transform16 X_world_base = kIdentity16;
  Transform16 X_flange_tcp = kIdentity16;
  std::array<JointLimits, kJoints> limits{};

  std::array<Body, kMaxBodies> bodies{};
  int body_count = 0;
  std::array<Zone, kMaxZones> zones{};
  int zone_count = 0;

  double contact_force_n = 25, contact_torque_nm = 8;  // guard of a motion that names none
  double wrench_filter_s = 0.006;                      // first-order low-pass of what guards see

  int stale_cycles_stop = 3;          // cycles without a new RTDE timestamp that stop the arm
  double starved_s = 0.020;           // gap between cycles that stops a motion
  double slider_zero_s = 0.1;         // speed slider at 0 for so long during a motion is a fault
  double start_tolerance_rad = 0.02;  // first point to the commanded position
  // Setpoint to measured position: base, plus what the controller's own lag makes of the recent
  // speed.
  double distance_base_rad = 0.08, distance_per_speed_s = 0.25;
  double settle_tolerance_rad = 0.005, settle_speed_rad_s = 0.02, settle_timeout_s = 2.0;

  double lock_out_s = 5.0;  // a protective stop must have lasted so long before it may be unlocked
  int recovery_limit =
      3;  // protective stops recovered within recovery_window_s; then the driver must be restarted
  double recovery_window_s = 600;
  uint64_t initial_stop_epoch = 0;
};

// Empty when the configuration can be used; else what is wrong, with the value and the limit.
[[nodiscard]] std::string validate(const CoreConfig& config);

}  // namespace s2r::arm
