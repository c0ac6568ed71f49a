// What the gripper's supervisor takes and tells. Times are CLOCK_MONOTONIC seconds.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "native/gripper/errors.h"
#include "native/gripper/frames.h"

namespace s2r::gripper {

// Bits of the device's status word.
inline constexpr uint32_t kStatusLowVoltage = 0x01;
inline constexpr uint32_t kStatusMotorHot = 0x02;
inline constexpr uint32_t kStatusOverCurrent = 0x04;
inline constexpr uint32_t kStatusDriverHot = 0x08;
inline constexpr uint32_t kStatusSensor = 0x10;
inline constexpr uint32_t kStatusDriverError = 0x20;
inline constexpr uint32_t kStatusEnabled = 0x40;
inline constexpr uint32_t kStatusHomed = 0x80;
inline constexpr uint32_t kStatusFaults = 0x3F;

struct Timing {
  double connect_s = 1.5;      // from opening the line to telemetry
  double info_period_s = 0.1;  // between requests for the version
  int info_requests = 5;
  double limit_settle_s = 0.05;  // clean telemetry after the current limit, before power is given
  double enable_s = 0.8;         // to the enabled bit
  double resend_s = 0.2;         // a command without reaction is sent once more after this
  double stale_s = 0.1;          // age of telemetry that is a fault
  double settle_s = 0.06;        // at the target, at rest
  double stall_s = 0.2;          // at rest, pressing, away from the target
  double timeout_extra_s = 1.5;  // beyond 1.5 times the time that a move should take
  double over_current_s = 0.15;
};

struct Settings {
  Dialect dialect = Dialect::kAuto;
  double current_limit_a = 1.0;
  double newton_per_amp = 10.0;  // estimate; nothing official relates current and force
  double speed_m_s = 0.08;       // of moves that do not say
  double max_speed_m_s = 0.2;
  double tolerance_m = 0.0005;
  double slip_m = 0.001;
  Timing timing;
};

struct Move {
  double opening_m = 0.0;
  std::optional<double> force_n;
  std::optional<double> speed_m_s;
  // Driver::stops() as it was before whoever asks made sure that nothing is stopped: the move is
  // refused where a stop came since. Without it, it is not looked at.
  std::optional<uint64_t> stops = std::nullopt;
};

enum class Phase : uint8_t {
  kClosed,
  kConnecting,  // waits for telemetry
  kLimiting,    // current limit sent
  kEnabling,    // power asked for
  kReady,
  kMoving,
  kReleasing,  // power taken away
  kFault,
};

enum class EventType : uint8_t { kReady, kMotionEnded, kSlipped, kFault, kDialect };
enum class EndReason : uint8_t { kCompleted, kStalled, kTimeout, kFault, kStopped };

struct Event {
  EventType type = EventType::kReady;
  double time_s = 0.0;
  uint64_t motion = 0;
  EndReason reason = EndReason::kCompleted;
  double opening_m = 0.0;
  Failure failure;  // empty code where there is none
};

struct State {
  Phase phase = Phase::kClosed;
  double time_s = std::numeric_limits<double>::quiet_NaN();     // when the newest telemetry came
  double angle_rad = std::numeric_limits<double>::quiet_NaN();  // as told, not clamped
  double opening_m = std::numeric_limits<double>::quiet_NaN();
  double target_opening_m = std::numeric_limits<double>::quiet_NaN();
  double speed_m_s = 0.0;
  double current_a = 0.0;
  double force_estimate_n = 0.0;
  double current_limit_a = 0.0;  // last one sent
  bool limit_observed = false;   // a stall pressed at about the limit, so the device heeds it
  bool moving = false;
  bool stalled = false;
  bool slipped = false;
  uint32_t status_bits = 0;
  std::optional<double> voltage_v;
  std::optional<double> driver_temperature_c;
  std::optional<double> motor_temperature_c;
  Failure fault;  // empty code where there is none
  uint64_t motion = 0;
  Dialect dialect = Dialect::kAuto;
  std::string version;  // empty where the device never told
};

}  // namespace s2r::gripper
