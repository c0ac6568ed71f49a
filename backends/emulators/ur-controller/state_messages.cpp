#include "backends/emulators/ur-controller/state_messages.h"

#include <cstring>

#include "backends/emulators/ur-controller/wire.h"

namespace s2r::ur {

namespace {

constexpr std::uint8_t kRobotState = 16, kRobotMessage = 20;
constexpr std::uint8_t kTextKind = 0, kVersionKind = 3, kErrorKind = 6;

void byte(std::string& out, unsigned value) {
  out.push_back(static_cast<char>(value));
}

template <std::size_t N>
void doubles(std::string& out, const std::array<double, N>& values) {
  for (const double value : values) {
    put(out, value);
  }
}

// Length and type in front of a body; the length counts itself.
std::string framed(unsigned type, const std::string& body) {
  std::string out;
  put(out, static_cast<std::int32_t>(body.size() + 5));
  byte(out, type);
  return out + body;
}

std::string message(unsigned kind, double time_s, const std::string& rest) {
  std::string body;
  put(body, static_cast<std::uint64_t>(time_s * 1e6));
  byte(body, 0xfe);  // source: the controller
  byte(body, kind);
  return framed(kRobotMessage, body + rest);
}

std::string robotModeData(const StateFrame& f) {
  std::string out;
  const bool powered = f.robot_mode == static_cast<std::int32_t>(RobotMode::kRunning);
  const auto runtime = static_cast<RuntimeState>(f.runtime_state);
  const auto safety = static_cast<SafetyMode>(f.safety_mode);
  put(out, static_cast<std::uint64_t>(f.timestamp * 1e6));
  byte(out, 1);  // connected to a real robot
  byte(out, 1);
  byte(out, powered);
  byte(out, safety == SafetyMode::kRobotEmergencyStop);
  byte(out, safety == SafetyMode::kProtectiveStop);
  byte(out, runtime == RuntimeState::kPlaying || runtime == RuntimeState::kResuming);
  byte(out, runtime == RuntimeState::kPaused || runtime == RuntimeState::kPausing);
  byte(out, static_cast<unsigned>(f.robot_mode));
  byte(out, 0);  // position control
  put(out, f.target_speed_fraction);
  put(out, f.speed_scaling);
  put(out, 1.0);  // limit of the target speed fraction
  byte(out, 0);
  return framed(0, out);
}

std::string jointData(const StateFrame& f) {
  std::string out;
  for (std::size_t i = 0; i < 6; ++i) {
    put(out, f.actual_q[i]);
    put(out, f.target_q[i]);
    put(out, f.actual_qd[i]);
    put(out, static_cast<float>(f.actual_current[i]));
    put(out, static_cast<float>(f.actual_joint_voltage[i]));
    put(out, static_cast<float>(f.joint_temperatures[i]));
    put(out, 0.0f);
    byte(out, static_cast<unsigned>(f.joint_mode[i]));
  }
  return framed(1, out);
}

std::string toolData(const StateFrame& f) {
  std::string out;
  byte(out, 0);
  byte(out, 0);
  put(out, f.tool_analog_input0);
  put(out, f.tool_analog_input1);
  put(out, 0.0f);
  byte(out, 0);
  put(out, 0.0f);
  put(out, static_cast<float>(f.tool_temperature));
  byte(out, 253);
  return framed(2, out);
}

std::string masterboardData(const StateFrame& f) {
  std::string out;
  put(out, static_cast<std::int32_t>(f.actual_digital_input_bits));
  put(out, static_cast<std::int32_t>(f.actual_digital_output_bits));
  byte(out, 0);
  byte(out, 0);
  put(out, f.standard_analog_input0);
  put(out, f.standard_analog_input1);
  byte(out, (f.analog_io_types >> 2) & 1);
  byte(out, (f.analog_io_types >> 3) & 1);
  put(out, f.standard_analog_output0);
  put(out, f.standard_analog_output1);
  put(out, 30.0f);
  put(out, static_cast<float>(f.actual_robot_voltage));
  put(out, static_cast<float>(f.actual_robot_current));
  put(out, 0.0f);
  byte(out, static_cast<unsigned>(f.safety_mode));
  byte(out, 0);  // not in reduced mode
  byte(out, 0);  // no Euromap 67
  put(out, std::uint32_t{0});
  byte(out, 0);
  byte(out, 0);
  byte(out, 0);
  return framed(3, out);
}

std::string cartesianInfo(const StateFrame& f) {
  std::string out;
  doubles(out, f.actual_TCP_pose);
  doubles(out, f.tcp_offset);
  return framed(4, out);
}

template <typename Get>
void column(std::string& out, const std::array<pose::DhRow, 6>& dh, Get get) {
  for (const pose::DhRow& row : dh) {
    put(out, static_cast<double>(get(row)));
  }
}

std::string kinematicsInfo(const Arm& arm) {
  const std::array<pose::DhRow, 6> dh = arm.dh();
  std::string out;
  for (const pose::DhRow& row : dh) {
    put(out, kinematicsChecksum(row));
  }
  column(out, dh, [](const pose::DhRow& r) { return r.theta_offset_rad; });
  column(out, dh, [](const pose::DhRow& r) { return r.a_m; });
  column(out, dh, [](const pose::DhRow& r) { return r.d_m; });
  column(out, dh, [](const pose::DhRow& r) { return r.alpha_rad; });
  put(out, std::uint32_t{0});  // calibration is good
  return framed(5, out);
}

std::string configurationData(const RobotLimits& limits) {
  const std::array<pose::DhRow, 6>& dh = Arm::nominalDh();
  std::string out;
  for (int i = 0; i < 6; ++i) {
    put(out, -limits.joint_position_rad);
    put(out, limits.joint_position_rad);
  }
  for (int i = 0; i < 6; ++i) {
    put(out, limits.joint_speed_rad_s);
    put(out, limits.joint_acceleration_rad_s2);
  }
  for (const double x : {1.05, 1.4, 0.25, 1.2, 0.25}) {  // defaults of moves, equivalent radius
    put(out, x);
  }
  column(out, dh, [](const pose::DhRow& r) { return r.a_m; });
  column(out, dh, [](const pose::DhRow& r) { return r.d_m; });
  column(out, dh, [](const pose::DhRow& r) { return r.alpha_rad; });
  column(out, dh, [](const pose::DhRow& r) { return r.theta_offset_rad; });
  put(out, std::int32_t{3});  // masterboard
  put(out, std::int32_t{4});  // e-Series controller box
  put(out, std::int32_t{2});  // UR5
  put(out, std::int32_t{1});
  return framed(6, out);
}

std::string additionalInfo() {
  std::string out;
  byte(out, 0);
  byte(out, 1);
  byte(out, 0);
  byte(out, 0);
  return framed(8, out);
}

}  // namespace

std::uint32_t kinematicsChecksum(const pose::DhRow& row) {
  std::uint32_t hash = 2166136261u;  // FNV-1a over the bytes of the row
  for (const double value : {row.theta_offset_rad, row.a_m, row.d_m, row.alpha_rad}) {
    unsigned char bytes[sizeof(double)];
    std::memcpy(bytes, &value, sizeof(double));
    for (const unsigned char b : bytes) {
      hash = (hash ^ b) * 16777619u;
    }
  }
  return hash;
}

std::string versionMessage(const Version& version) {
  const std::string project = "URControl", date = "14-03-2024, 12:00:00";
  std::string rest;
  byte(rest, static_cast<unsigned>(project.size()));
  rest += project;
  byte(rest, version.major);
  byte(rest, version.minor);
  put(rest, static_cast<std::int32_t>(version.bugfix));
  put(rest, static_cast<std::int32_t>(version.build));
  return message(kVersionKind, 0, rest + date);
}

std::string textMessage(const Text& text, double time_s) {
  if (text.code == 0) {
    return message(kTextKind, time_s, text.message);
  }
  std::string rest;
  put(rest, static_cast<std::int32_t>(text.code));
  put(rest, std::int32_t{0});
  put(rest, static_cast<std::int32_t>(text.level));
  put(rest, std::uint32_t{0});
  put(rest, std::uint32_t{0});
  return message(kErrorKind, time_s, rest + text.message);
}

std::string robotState(const StateFrame& frame,
                       const Arm& arm,
                       const RobotLimits& limits,
                       bool with_kinematics) {
  std::string body = robotModeData(frame) + jointData(frame) + toolData(frame) +
                     masterboardData(frame) + cartesianInfo(frame);
  if (with_kinematics) {
    body += kinematicsInfo(arm) + configurationData(limits);
  }
  return framed(kRobotState, body + additionalInfo());
}

std::string realtimeState(const StateFrame& f) {
  std::string out;
  out.reserve(1220);
  put(out, std::int32_t{1220});
  const auto number = [&out](double value) { put(out, value); };
  const auto nothing = [&](int count) {
    for (int i = 0; i < count; ++i) {
      number(0);
    }
  };
  number(f.timestamp);
  for (const Vec6* v :
       {&f.target_q, &f.target_qd, &f.target_qdd, &f.target_current, &f.target_moment, &f.actual_q,
        &f.actual_qd, &f.actual_current, &f.joint_control_output, &f.actual_TCP_pose,
        &f.actual_TCP_speed, &f.actual_TCP_force, &f.target_TCP_pose, &f.target_TCP_speed}) {
    doubles(out, *v);
  }
  number(static_cast<double>(f.actual_digital_input_bits));
  doubles(out, f.joint_temperatures);
  number(f.actual_execution_time);
  nothing(1);
  number(f.robot_mode);
  for (const std::int32_t mode : f.joint_mode) {
    number(mode);
  }
  number(f.safety_mode);
  nothing(6);
  doubles(out, f.actual_tool_accelerometer);
  nothing(6);
  number(f.speed_scaling);
  number(f.actual_momentum);
  nothing(2);
  number(f.actual_main_voltage);
  number(f.actual_robot_voltage);
  number(f.actual_robot_current);
  doubles(out, f.actual_joint_voltage);
  number(static_cast<double>(f.actual_digital_output_bits));
  number(f.runtime_state);
  doubles(out, f.elbow_position);
  doubles(out, f.elbow_velocity);
  number(f.safety_status);
  nothing(3);
  number(f.payload);
  doubles(out, f.payload_cog);
  doubles(out, f.payload_inertia);
  return out;
}

}  // namespace s2r::ur
