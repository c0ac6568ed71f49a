// The supervisor's memory and its parts. One step takes, in this order: time, sample, link,
// conditions, stops, requests; then it moves the setpoint, passes it through the gate and writes
// what came of it.
#pragma once

#include <cmath>

#include "native/arm/core/faults.h"
#include "native/arm/core/motion_parts.h"
#include "native/arm/core/stop_latch.h"
#include "native/arm/core/supervisor.h"

namespace s2r::arm {

// Slower than this a measured arm stands.
inline constexpr double kStandstill_rad_s = 0.05;
// Setpoint and measured position this far apart at standstill: the setpoint goes to the latter.
inline constexpr double kSlew_rad = 1e-3;

inline double largest(const Joints& q) {
  double most = 0;
  for (const double value : q) {
    most = std::max(most, std::abs(value));
  }
  return most;
}

inline double apart(const Joints& a, const Joints& b) {
  double most = 0;
  for (size_t i = 0; i < kJoints; ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

inline double fraction(double value) {
  return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0.0;
}

struct Supervisor::Implementation {
  explicit Implementation(const CoreConfig& given)
      : config(given),
        latch(given),
        tracker(given),
        gate(given),
        zones(given),
        chain(given),
        guard(given) {}

  // How the setpoint comes about.
  enum class Mode {
    kRebase,     // none is sent: it is the measured position
    kHold,       // it stands
    kPlay,       // along the path
    kLand,       // the last bit to rest at the path's end, then the arm's settling
    kPathStop,   // decelerates along the path
    kJointStop,  // each joint decelerates by itself
    kSlew,       // goes to a position (after a contact: the measured one)
    kSettle,     // stands after a stop until the arm stands too
  };

  const CoreConfig config;
  StopLatch latch;
  JointTracker tracker;
  SetpointGate gate;
  ZoneChecker zones;
  Chain chain;
  ContactGuard guard;
  Path path;
  TimeScale scale;

  // Per cycle.
  const CycleInput* in = nullptr;
  CycleOutput* out = nullptr;
  double now_s = 0;
  bool fresh = false;

  // Kept.
  bool first_cycle = true, was_up = false, established = false, ended = false;
  double robot_time_s = 0;
  bool has_robot_time = false;
  int fresh_count = 0, stale = 0;
  FaultCode last_condition = FaultCode::kNone;
  uint64_t stops_served = 0;
  bool lease_seen = false, parent_seen = false, shutdown_seen = false;
  double slider_zero_since_s = -1;
  State last_state = State::kDisconnected;
  CycleCounters counters;
  Joints measured_q{}, measured_qd{};
  Wrench wrench_world{};
  Transform16 X_world_tcp = kIdentity16;

  Mode mode = Mode::kRebase;
  Path::Point here;
  double path_error_rad = 0;
  Joints slew_target{};
  bool slew_again = false, at_end = false;
  int patience = 0;
  double wait_since_s = 0;
  uint32_t scanned = 0;
  int progress = 0;
  MotionReport motion;
  bool motion_active = false;
  EndReason pending_end = EndReason::kUnspecified;
  bool expected_contact = false;
  int slew_count = 0;

  // Events and stops: supervisor.cpp
  CycleEvent* event(EventKind kind) noexcept;
  void tellStopped() noexcept;
  // `seen`: the robot itself was seen in this condition; a code that was only raised is decelerated
  // for.
  void latchFault(FaultDetail detail, bool seen = false) noexcept;
  void latchFault(FaultCode code, double value = 0, double limit = 0) noexcept;
  void latchStop(StopSource source, const FixedText<96>& reason, uint64_t times = 1) noexcept;
  // Begins to decelerate, where that is not so already. The first reason counts, but a fault
  // outdoes the others.
  void stopMotion(EndReason reason) noexcept;
  void endMotion() noexcept;

  // What is measured: supervisor_watch.cpp
  Result takeTime() noexcept;
  void takeSample() noexcept;
  void takeLink() noexcept;
  // What is wrong with the robot right now, worst first.
  FaultDetail condition() const noexcept;
  void takeConditions() noexcept;

  // Requests: supervisor_requests.cpp
  void takeStops() noexcept;
  void takeLevel(bool level, bool& seen, StopSource source, const char* reason) noexcept;
  [[nodiscard]] bool endAsked() const noexcept;
  [[nodiscard]] bool isMoving() const noexcept;
  [[nodiscard]] bool atRest() const noexcept;
  void takeLoad() noexcept;
  void takeRecover() noexcept;
  void takeResume() noexcept;
  void takeStart() noexcept;
  void judgeStart(const StartRequest& request, StartAnswer& answer) noexcept;

  // Setpoints: supervisor_setpoints.cpp
  double plannedRate() const noexcept;
  void rebase() noexcept;
  void slewTo(const Joints& target, bool again) noexcept;
  // Reads some points ahead of the playhead, so that a path that leads into a zone stops well
  // before it.
  void scanAhead() noexcept;
  void watchContact() noexcept;
  // One period along the path. False: the path has no number here.
  bool followPath(double target_rate) noexcept;
  [[nodiscard]] bool isSlow() const noexcept;
  void moveSetpoint() noexcept;
  // The setpoint through the gate; what does not pass is replaced by a braking step from the last
  // one.
  void passGate(const std::array<AxisState, kJoints>& before) noexcept;
  void finishMotions() noexcept;
  void report() noexcept;
  [[nodiscard]] State state() const noexcept;
  [[nodiscard]] Action action() noexcept;
  Result step(const CycleInput& input, CycleOutput& output) noexcept;
  void write() noexcept;
};

}  // namespace s2r::arm
