// The one table of faults: stable name, severity, what happened, what the operator does next.
#pragma once

#include <string>

#include "native/arm/core/config.h"

namespace s2r::arm {

struct FaultInfo {
  FaultCode code;
  const char* name;  // stable, snake_case; goes to events and recordings
  int severity;      // a worse fault replaces a latched one
  const char* what;
  const char* next_step;
};

inline constexpr std::array<FaultInfo, static_cast<size_t>(FaultCode::kCount)> kFaults = {{
    {FaultCode::kNone, "none", 0, "no fault", ""},
    {FaultCode::kLinkLost, "link_lost", 79,
     "the connection to the controller closed or gave no answer",
     "Check the cable and that the controller is on; the driver reconnects by itself, then run "
     "'skill2real arm recover'."},
    {FaultCode::kLinkReset, "link_reset", 80, "the controller reset the connection",
     "See that no other program talks to this robot and that the controller was not restarted, "
     "then run 'skill2real arm "
     "recover'."},
    {FaultCode::kControllerFrozen, "controller_frozen", 25,
     "the controller's clock stands still: no new state arrives",
     "Look at the pendant: if it hangs, restart the controller; if it does not, check switch and "
     "cable. Then run "
     "'skill2real arm recover'."},
    {FaultCode::kProgramStopped, "program_stopped", 44, "the control program on the robot ended",
     "Read the pendant's log for the cause (a watchdog, a limit, a button), then run 'skill2real "
     "arm recover'."},
    {FaultCode::kProgramPaused, "program_paused", 45, "the control program on the robot is paused",
     "Press stop on the pendant or clear what paused it, then run 'skill2real arm recover'."},
    {FaultCode::kLocalMode, "local_mode", 70, "the pendant is in local control",
     "Switch the pendant to remote control when the cell is clear, then run 'skill2real arm "
     "recover'."},
    {FaultCode::kSpeedSliderZero, "speed_slider_zero", 40, "the speed slider stands at 0",
     "Move the speed slider on the pendant above 0, then run 'skill2real arm recover'."},
    {FaultCode::kProtectiveStop, "protective_stop", 90, "the robot is in a protective stop",
     "Look at the arm, remove what it met, wait 5 seconds, then run 'skill2real arm recover'."},
    {FaultCode::kEmergencyStop, "emergency_stop", 100, "the emergency stop is pressed",
     "When the cell is safe, release the button, power the arm on and release the brakes on the "
     "pendant, then run "
     "'skill2real arm recover'."},
    {FaultCode::kSafeguardStop, "safeguard_stop", 85, "a safeguard input stopped the robot",
     "Close the guard or reset the scanner, then run 'skill2real arm recover'."},
    {FaultCode::kSafetyViolation, "safety_violation", 95,
     "the safety system reports a violation or a fault",
     "Read the message on the pendant; restart the safety system there, then run 'skill2real arm "
     "recover'."},
    {FaultCode::kRobotNotRunning, "robot_not_running", 65,
     "the arm is not powered with its brakes released",
     "Power the arm on and release the brakes on the pendant, then run 'skill2real arm recover'."},
    {FaultCode::kRegistersInUse, "registers_in_use", 75,
     "another client owns the controller's input registers",
     "Close the other RTDE client or disable the fieldbus that uses the same registers, or set "
     "'registers' of the rig to "
     "the other range."},
    {FaultCode::kPayloadMismatch, "payload_mismatch", 55,
     "the controller's payload is not the configured one",
     "Set payload_kg and payload_cog_m of the rig to what is mounted, or correct them on the "
     "pendant."},
    {FaultCode::kTcpMismatch, "tcp_mismatch", 56, "the controller's TCP is not the configured one",
     "Set the TCP of the rig to what is mounted, or correct it on the pendant."},
    {FaultCode::kMountingMismatch, "mounting_mismatch", 57,
     "the controller's mounting is not the configured one",
     "Set mounting_gravity of the rig to how the arm stands, or correct it on the pendant."},
    {FaultCode::kGateNotFinite, "gate_not_finite", 38, "a setpoint was not a number",
     "This is a defect in what planned the motion: keep the flight record, then run 'skill2real "
     "arm recover'."},
    {FaultCode::kGateVelocity, "gate_velocity", 35, "a setpoint was faster than the joint's limit",
     "Plan slower, or raise the joint's velocity limit of the rig, then run 'skill2real arm "
     "recover'."},
    {FaultCode::kGateAcceleration, "gate_acceleration", 34,
     "a setpoint accelerated more than the joint's limit",
     "Plan softer, or raise the joint's acceleration limit of the rig, then run 'skill2real arm "
     "recover'."},
    {FaultCode::kGateDistance, "gate_distance", 37, "the arm does not follow its setpoint",
     "See whether something blocks the arm or the payload is wrong, then run 'skill2real arm "
     "recover'."},
    {FaultCode::kGateJointLimit, "gate_joint_limit", 36, "a setpoint was outside the joint's range",
     "Choose another pose or another way to it, then run 'skill2real arm recover'."},
    {FaultCode::kGateZone, "gate_zone", 36, "a setpoint would bring a body into a forbidden zone",
     "Choose a way around the zone, or correct the zone of the rig, then run 'skill2real arm "
     "recover'."},
    {FaultCode::kCycleStarved, "cycle_starved", 30, "the real-time thread did not run in time",
     "Give the driver real-time priority (doctor --rig says how) and unload the machine, then run "
     "'skill2real arm "
     "recover'."},
    {FaultCode::kWatchdogNotArmed, "watchdog_not_armed", 60,
     "the controller's watchdog could not be armed",
     "Restart the controller and the driver; never run without the watchdog."},
    {FaultCode::kCalibrationMismatch, "calibration_mismatch", 54,
     "the arm's kinematics are not those of the plan",
     "Restart the runtime so that it reads the arm's calibration anew."},
    {FaultCode::kInternal, "internal", 20, "a defect of the driver",
     "Keep the flight record and restart the driver."},
}};

[[nodiscard]] constexpr const FaultInfo& faultInfo(FaultCode code) {
  const auto index = static_cast<size_t>(code);
  return kFaults[index < kFaults.size() ? index : static_cast<size_t>(FaultCode::kInternal)];
}
[[nodiscard]] constexpr bool tableIsOrdered() {
  for (size_t i = 0; i < kFaults.size(); ++i) {
    if (static_cast<size_t>(kFaults[i].code) != i) {
      return false;
    }
  }
  return true;
}
static_assert(tableIsOrdered(), "each fault stands at its own number");

// One sentence with the value and the limit, then the next step. Allocates: never call it in the
// cycle.
[[nodiscard]] std::string faultMessage(const FaultDetail& detail, const CoreConfig& config);

[[nodiscard]] const char* stateName(State state);
[[nodiscard]] const char* refusalName(Refusal refusal);  // snake_case, as the wrapper's error codes
[[nodiscard]] const char* endReasonName(EndReason reason);

}  // namespace s2r::arm
