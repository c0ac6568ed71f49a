// The seam of the 500 Hz cycle: everything that goes into one step of the supervisor and all that
// comes out of it. Plain fixed-size types; nothing here allocates, locks or throws. Units: metres,
// radians, seconds, newtons. "base" is the controller's base frame, "world" is gravity-aligned with
// z up. All times but the robot's own are CLOCK_MONOTONIC seconds.
//
// States (State) and what leads from one to the next:
//
// clang-format off
//   disconnected --link starts--> connecting --link up, program runs, 5 fresh samples--> idle
//   idle --start accepted--> moving --path done and arm settled, or its time is over--> idle
//   moving --stop, lease, parent, fault--> stopping --standstill--> held (ordinary stop) or fault
//   moving --contact--> stopping --setpoint is the actual position--> idle
//   held --resume(epoch)--> idle          fault --resume(epoch, token), cause gone--> idle
//   any --controller switched to local (a fault)--> local mode --remote again--> fault
//   any --fault--> stopping or fault      any --link closed by us, no fault latched--> disconnected
// clang-format on
//
// A stop, ordinary or by a fault, latches and begins a new stop epoch. A start that carries another
// epoch is refused for ever. See supervisor.h for the class, faults.h for the table of codes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace s2r::arm {

inline constexpr int kJoints = 6;
inline constexpr double kPeriod_s = 0.002;
inline constexpr int kNoIndex = -1;

using Joints = std::array<double, kJoints>;
using Wrench = std::array<double, 6>;  // force x y z [N], torque x y z [Nm]
using Vector3 = std::array<double, 3>;

// Text of at most N - 1 bytes that lives in place; longer text is cut at a byte.
template <size_t N>
struct FixedText {
  char bytes[N] = {};
  FixedText() = default;
  explicit FixedText(std::string_view text) { assign(text); }
  void assign(std::string_view text) noexcept {
    const size_t length = std::min(text.size(), N - 1);
    std::memcpy(bytes, text.data(), length);
    std::memset(bytes + length, 0, N - length);
  }
  [[nodiscard]] std::string_view view() const noexcept { return {bytes, strnlen(bytes, N)}; }
};

enum class State : uint32_t {
  kDisconnected,  // no link
  kConnecting,    // link being made, program not running yet
  kIdle,          // holds the setpoint, may start
  kMoving,        // plays a trajectory
  kStopping,      // decelerates within the limits
  kHeld,          // an ordinary stop is latched, at standstill
  kFault,         // a fault is latched, at standstill or stopped by the controller
  kLocalMode,     // the pendant has the robot
};

// Stable numbers: they go into recordings. Names, severities and what the operator does next:
// faults.h.
enum class FaultCode : uint32_t {
  kNone = 0,
  kLinkLost = 1,          // connection closed, or no answer
  kLinkReset = 2,         // connection reset by the peer
  kControllerFrozen = 3,  // the RTDE timestamp stands still
  kProgramStopped = 4,    // the control program is no longer running
  kProgramPaused = 5,     // paused from the pendant or by a safeguard
  kLocalMode = 6,         // the pendant was switched to local control
  kSpeedSliderZero = 7,   // the speed slider stands at 0
  kProtectiveStop = 8,
  kEmergencyStop = 9,
  kSafeguardStop = 10,
  kSafetyViolation = 11,   // the safety system reports a violation or fault
  kRobotNotRunning = 12,   // power off, brakes on, booting
  kRegistersInUse = 13,    // another client owns the input registers (raised by the link)
  kPayloadMismatch = 14,   // read-back differs from the configuration (raised by the link)
  kTcpMismatch = 15,       // read-back differs from the configuration (raised by the link)
  kMountingMismatch = 16,  // read-back differs from the configuration (raised by the link)
  kGateNotFinite = 17,
  kGateVelocity = 18,
  kGateAcceleration = 19,
  kGateDistance = 20,  // setpoint too far from the measured position
  kGateJointLimit = 21,
  kGateZone = 22,
  kCycleStarved = 23,      // the real-time thread did not run for too long
  kWatchdogNotArmed = 24,  // the controller's watchdog could not be armed (raised by the link)
  kCalibrationMismatch =
      25,          // kinematics differ from what the motion was planned with (raised by the link)
  kInternal = 26,  // a defect of this driver
  kCount
};

enum class BodyKind : uint32_t { kElbow, kWrist, kGripper, kLoad };

// What a fault is about. The text for people is made outside the cycle: faultMessage() in faults.h.
struct FaultDetail {
  FaultCode code = FaultCode::kNone;
  int32_t joint = kNoIndex;  // 0 to 5
  int32_t zone = kNoIndex;   // index in CoreConfig::zones
  int32_t body = kNoIndex;   // index in CoreConfig::bodies; kLoadBody for the carried load
  double value = 0;          // measured or asked for
  double limit = 0;
  double time_s = 0;    // when it was noticed
  FixedText<160> text;  // raised by the link: its own words
};

// ------------------------------------------------------------------------------------------------
// input

// One RTDE package. Copy the newest one in each cycle, whether it is new or not: freshness is
// judged here.
struct RobotSample {
  double robot_time_s = 0;  // RTDE "timestamp"
  Joints q_rad{};
  Joints qd_rad_s{};
  Joints q_target_rad{};
  Wrench tcp_pose_base{};    // x y z [m], rotation vector [rad]
  Wrench tcp_wrench_base{};  // that the world exerts on the TCP, gravity compensated, base axes
  double speed_scaling = 1;  // RTDE speed_scaling, 0 to 1
  double target_speed_fraction = 1;  // the slider, 0 to 1
  int32_t runtime_state = 0;         // 0 stopping 1 stopped 2 playing 3 pausing 4 paused 5 resuming
  int32_t robot_mode = 0;            // 7 running, 5 idle (brakes on), 3 power off, ...
  uint32_t safety_bits = 1;          // RTDE safety_status_bits
  bool remote_control = true;        // last answer of the dashboard
  bool program_running = false;      // robot_status_bits, bit 1
};

enum class LinkPhase : uint32_t {
  kDown,        // closed; with `loss` when that was not asked for
  kConnecting,  // opening, uploading the program, re-arming the watchdog
  kUp,          // the program was seen running; samples flow
};
enum class LinkLoss : uint32_t { kNone, kClosed, kReset, kTimeout };

// Contact guard of one motion, relative to the wrench at its start; fields as in the device
// protocol.
struct Guard {
  double force_n = 0;    // 0: CoreConfig::contact_force_n
  double torque_nm = 0;  // 0: CoreConfig::contact_torque_nm
  bool has_direction =
      false;  // true: only force that the world exerts against direction_world counts
  Vector3 direction_world{};
  bool contact_expected = false;
};

// The arrays belong to the caller and must stay as they are until CycleOutput::released_group names
// the group. Check them with checkTrajectory() (trajectory.h) on the caller's thread first: the
// cycle itself trusts nothing, but notices most defects only as the playhead nears them, and then
// with a fault.
struct StartRequest {
  bool present = false;
  uint64_t group = 0;  // not 0
  uint64_t stop_epoch = 0;
  const double* time_s = nullptr;  // count rising times, first 0
  const double* q_rad = nullptr;   // count x 6, row by row
  uint32_t count = 0;
  Guard guard;
};

enum class StopSource : uint32_t { kRequest, kLease, kParent, kShutdown, kFault };

struct ResumeRequest {
  bool present = false;
  uint64_t stop_epoch = 0;
  uint64_t token = 0;  // 0: none
};

// Asked for by a person. The link draws `token` (random, not 0); it becomes valid with
// RecoverAnswer::kIssued.
struct RecoverRequest {
  bool present = false;
  uint64_t token = 0;
};

// What the gripper carries, as a capsule in the TCP frame, for the zones. Applied in the cycle it
// comes in.
struct LoadUpdate {
  bool present = false;
  bool carried = false;
  Vector3 p0_tcp_m{}, p1_tcp_m{};
  double radius_m = 0;
};

struct CycleInput {
  double now_s = 0;        // CLOCK_MONOTONIC, read at the start of the cycle
  double scheduled_s = 0;  // when the cycle should have started
  RobotSample sample;
  LinkPhase link = LinkPhase::kDown;
  LinkLoss loss = LinkLoss::kNone;
  bool write_failed =
      false;  // the last setpoint could not be handed to the connection: counts as a lost link

  // Found outside the cycle (registers in use, read-back differs): latched when it is not kNone.
  // Give it for one cycle.
  FaultCode raised_fault = FaultCode::kNone;
  FixedText<160> raised_text;

  // Stops asked for since the process began, by anyone, as one counter that only rises; each begins
  // a new epoch.
  uint64_t stops_requested = 0;
  FixedText<96> stop_reason;  // of the newest
  bool lease_lapsed = false;  // level: latches a stop when it becomes true
  bool parent_gone = false;   // level: ramps down, holds, then ends the program
  bool shutdown = false;      // level: as parent_gone, reason "shutdown"

  StartRequest start;
  ResumeRequest resume;
  RecoverRequest recover;
  LoadUpdate load;
};

// -----------------------------------------------------------------------------------------------
// output

enum class Action : uint32_t {
  kNone,        // send nothing: no watchdog kick either
  kServo,       // servoJ to setpoint_rad
  kStopRamp,    // servoJ to setpoint_rad, which decelerates
  kEndProgram,  // standstill and asked to end: stop the servo, end the control program
};

enum class Refusal : uint32_t {
  kNone,
  kNotStart,       // first point more than 0.02 rad from the commanded position
  kStopEpoch,      // another epoch, or a stop is latched
  kBusy,           // a motion runs, or the arm is not at rest yet
  kFault,          // a fault is latched
  kBadArgument,    // empty, or a guard that is no number
  kNotReady,       // no link, local mode, speed slider 0, program not running
  kToken,          // resume after a fault: no token, a used one, or one of an earlier epoch
  kCauseRemains,   // resume: what caused the fault is still there
  kLockOut,        // recover: a protective stop must have lasted 5 s
  kRecoveryLimit,  // recover: too many protective stops in a row; the driver must be started anew
  kNothingToRecover,
};

struct StartAnswer {
  bool present = false;
  uint64_t group = 0;
  Refusal refusal = Refusal::kNone;
  FaultCode cause = FaultCode::kNone;  // kNotReady, kFault: why
  int32_t joint = kNoIndex;            // kNotStart
  double value = 0, limit = 0;
  double start_time_s = 0, expected_end_time_s = 0;
};
struct ResumeAnswer {
  bool present = false;
  Refusal refusal = Refusal::kNone;
  FaultCode cause = FaultCode::kNone;  // kCauseRemains, kNotReady
  uint64_t stop_epoch = 0;
};
struct RecoverAnswer {
  bool present = false;
  Refusal refusal = Refusal::kNone;
  double wait_s = 0;        // kLockOut: how long still
  uint64_t stop_epoch = 0;  // the token is good for this epoch, once
  uint32_t recoveries = 0;  // of protective stops, since the driver started
};

// Numbers of the device protocol's EndReason.
enum class EndReason : uint32_t {
  kUnspecified = 0,
  kCompleted = 1,
  kContact = 2,
  kUnexpectedContact = 3,
  kStopped = 5,
  kProtectiveStop = 6,
  kFault = 7,
  kTimeout = 9,
};

struct MotionReport {
  uint64_t group = 0;
  EndReason end_reason = EndReason::kUnspecified;  // unspecified while active
  double end_time_s = 0;
  double fraction_done = 0;
  uint32_t reached_point = 0;
  double mean_force_n = 0;
  bool has_contact_force = false;
  Vector3 contact_force_world_n{};
};

enum class EventKind : uint32_t {
  kGroupStarted,
  kGroupProgress,  // at most 10 a second
  kMotionEnded,    // the arm is at rest (or the controller stopped it)
  kStopped,        // a stop was latched; time_s: the first decelerating setpoint left in this cycle
  kFault,          // latched, or grown worse; followed by kStopped
  kResumed,
  kStateChanged,
};
struct CycleEvent {
  EventKind kind = EventKind::kStateChanged;
  double time_s = 0;
  State state = State::kDisconnected;
  uint64_t stop_epoch = 0;
  StopSource stop_source = StopSource::kRequest;
  FixedText<96> reason;  // kStopped
  FaultDetail fault;     // kFault
  MotionReport motion;   // group events
};
inline constexpr int kMaxEvents = 10;

// Upper edges of the lateness histogram [s]; the last bucket takes what is later.
inline constexpr std::array<double, 12> kLatenessEdges_s = {
    20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 100e-3};
struct CycleCounters {
  uint64_t cycles = 0;
  uint64_t missed_cycles = 0;  // whole periods that a cycle came late
  uint64_t late_cycles = 0;    // more than half a period late
  uint64_t stale_cycles = 0;   // without a new RTDE timestamp
  uint64_t robot_gaps = 0;     // packages that the controller or the way skipped
  uint64_t tracker_fallbacks =
      0;  // joint steps that neither law could make: braked by the plain rule (expected: 0)
  double lateness_max_s = 0;
  std::array<uint64_t, kLatenessEdges_s.size() + 1> lateness_histogram{};
};

struct CycleOutput {
  Action action = Action::kNone;
  Joints setpoint_rad{};  // commanded position; always finite, also with Action::kNone
  Joints setpoint_vel_rad_s{};
  Joints setpoint_acc_rad_s2{};
  bool unlock_protective_stop =
      false;  // for this cycle: a person asked, the lock-out is over; link: unlock, re-upload

  State state = State::kDisconnected;
  FaultDetail fault;  // latched; code kNone: none
  bool stop_latched = false;
  uint64_t stop_epoch = 0;
  StopSource stop_source = StopSource::kRequest;
  FixedText<96> stop_reason;
  uint64_t stops_served = 0;  // has reached CycleInput::stops_requested of this cycle

  MotionReport motion;  // of the active group, or the last one; group 0: none yet
  bool motion_active = false;
  double path_time_s = 0, path_duration_s = 0, time_scale = 0;
  double path_error_rad = 0;    // largest joint distance of setpoint and path
  uint64_t released_group = 0;  // not 0: this group's arrays are no longer read

  Wrench tcp_wrench_world{};  // measured, turned to world axes, unfiltered
  std::array<double, 16>
      X_world_tcp{};         // of the measured joints, by the configured kinematics; row-major
  int32_t stale_cycles = 0;  // in a row
  bool robot_ready = false;  // link up, remote, program running, no safety stop
  CycleCounters counters;

  StartAnswer start;
  ResumeAnswer resume;
  RecoverAnswer recover;
  std::array<CycleEvent, kMaxEvents> events;
  int32_t event_count = 0;
  uint32_t events_dropped = 0;  // of this cycle; 0 unless there is a defect
};

enum class Result : uint32_t {
  kOk,
  kLate,     // the cycle started more than half a period late
  kStarved,  // so long after the last one that a motion was stopped
  kBadTime,  // now_s is no number or does not rise: treated as the last time plus one period
};

}  // namespace s2r::arm
