// What the emulated controller publishes each cycle, and the inputs it takes. Plain data; field
// names follow the variables of the real-time data exchange. SI units; poses are x y z and a
// rotation vector, in the base frame.
#pragma once

#include <array>
#include <cstdint>

#include "native/pose/model.h"

namespace s2r::ur {

using Vec6 = std::array<double, 6>;
using pose::Joints;
using pose::Transform;
using pose::Vec3;

inline constexpr double kCycleS = 0.002;
inline constexpr int kRegisters = 48;

enum class RobotMode : std::int32_t {
  kPowerOff = 3,
  kPowerOn = 4,
  kIdle = 5,
  kRunning = 7,
};

enum class SafetyMode : std::int32_t {
  kNormal = 1,
  kReduced = 2,
  kProtectiveStop = 3,
  kRobotEmergencyStop = 7,
  kFault = 9,
};

enum class RuntimeState : std::uint32_t {
  kStopping = 0,
  kStopped = 1,
  kPlaying = 2,
  kPausing = 3,
  kPaused = 4,
  kResuming = 5,
};

// Variables that clients write; each keeps its last value.
struct Inputs {
  std::uint32_t speed_slider_mask = 0;
  double speed_slider_fraction = 0;
  std::uint8_t standard_digital_output_mask = 0, standard_digital_output = 0;
  std::uint8_t configurable_digital_output_mask = 0, configurable_digital_output = 0;
  std::uint8_t tool_digital_output_mask = 0, tool_digital_output = 0;
  std::uint8_t standard_analog_output_mask = 0, standard_analog_output_type = 0;
  double standard_analog_output_0 = 0, standard_analog_output_1 = 0;
  std::uint32_t bits_0_to_31 = 0, bits_32_to_63 = 0;
  std::array<std::uint8_t, 64> bits_64_to_127{};
  std::array<std::int32_t, kRegisters> ints{};
  std::array<double, kRegisters> doubles{};
  Vec6 external_force_torque{};
};

struct OutputRegisters {
  std::uint32_t bits_0_to_31 = 0, bits_32_to_63 = 0;
  std::array<std::uint8_t, 64> bits_64_to_127{};
  std::array<std::int32_t, kRegisters> ints{};
  std::array<double, kRegisters> doubles{};
};

struct StateFrame {
  double timestamp = 0;
  Vec6 target_q{}, target_qd{}, target_qdd{}, target_current{}, target_moment{};
  Vec6 actual_q{}, actual_qd{}, actual_current{}, actual_current_as_torque{},
      joint_control_output{};
  Vec6 actual_TCP_pose{}, actual_TCP_speed{}, actual_TCP_force{}, target_TCP_pose{},
      target_TCP_speed{};
  std::uint64_t actual_digital_input_bits = 0, actual_digital_output_bits = 0;
  Vec6 joint_temperatures{};
  double actual_execution_time = 0;
  std::int32_t robot_mode = 0, safety_mode = 0;
  std::array<std::int32_t, 6> joint_mode{};
  std::uint32_t safety_status = 0;
  std::array<double, 3> actual_tool_accelerometer{};
  double speed_scaling = 0, target_speed_fraction = 0, actual_momentum = 0;
  double actual_main_voltage = 0, actual_robot_voltage = 0, actual_robot_current = 0;
  Vec6 actual_joint_voltage{};
  std::uint32_t runtime_state = 0, robot_status_bits = 0, safety_status_bits = 0;
  std::array<double, 3> elbow_position{}, elbow_velocity{};
  double standard_analog_input0 = 0, standard_analog_input1 = 0;
  double standard_analog_output0 = 0, standard_analog_output1 = 0;
  std::uint32_t analog_io_types = 0, tool_mode = 0, tool_analog_input_types = 0;
  double io_current = 0, tool_analog_input0 = 0, tool_analog_input1 = 0;
  std::int32_t tool_output_voltage = 0;
  double tool_output_current = 0, tool_temperature = 0, tcp_force_scalar = 0;
  Vec6 ft_raw_wrench{}, tcp_offset{};
  double payload = 0;
  std::array<double, 3> payload_cog{};
  Vec6 payload_inertia{};
  std::uint32_t script_control_line = 0;
  OutputRegisters out;
  Inputs in;
  // Not a variable of the exchange: the cycle's number and the newest instant it was computed at.
  std::uint64_t cycle = 0;
  double host_time_s = 0;
};

[[nodiscard]] inline Vec6 toVec6(const Joints& q) {
  return {q[0], q[1], q[2], q[3], q[4], q[5]};
}
[[nodiscard]] inline Joints toJoints(const Vec6& v) {
  return (Joints() << v[0], v[1], v[2], v[3], v[4], v[5]).finished();
}

}  // namespace s2r::ur
