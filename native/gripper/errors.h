// Stable codes of what can go wrong with the gripper, and what to do about each.
#pragma once

#include <string>

namespace s2r::gripper {

struct Failure {
  std::string code;     // gripper_…; stable
  std::string message;  // the value, the limit, the operator's next step
};

namespace code {
inline constexpr char kNotFound[] = "gripper_not_found";
inline constexpr char kPermission[] = "gripper_permission";
inline constexpr char kInUse[] = "gripper_in_use";
inline constexpr char kNotSerial[] = "gripper_not_serial";
inline constexpr char kWrongDevice[] = "gripper_wrong_device";
inline constexpr char kSilent[] = "gripper_silent";
inline constexpr char kStale[] = "gripper_stale";
inline constexpr char kUnplugged[] = "gripper_unplugged";
inline constexpr char kWriteBlocked[] = "gripper_write_blocked";
inline constexpr char kNotEnabled[] = "gripper_not_enabled";
inline constexpr char kDisabled[] = "gripper_disabled";
inline constexpr char kDeviceFault[] = "gripper_device_fault";
inline constexpr char kBadZero[] = "gripper_bad_zero";
inline constexpr char kIgnored[] = "gripper_ignored";
inline constexpr char kCurrentLimit[] = "gripper_current_limit";
inline constexpr char kStuck[] = "gripper_stuck";
inline constexpr char kTimeout[] = "gripper_timeout";
inline constexpr char kBusy[] = "gripper_busy";
inline constexpr char kStopped[] = "gripper_stopped";
inline constexpr char kClosed[] = "gripper_closed";
inline constexpr char kBadArgument[] = "bad_argument";
}  // namespace code

}  // namespace s2r::gripper
