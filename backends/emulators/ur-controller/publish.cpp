// The state that clients see, from the state of the controller.
#include <algorithm>
#include <cmath>

#include "backends/emulators/ur-controller/controller.h"

namespace s2r::ur {

namespace {

constexpr std::int32_t kJointRunning = 253, kJointIdle = 255, kJointPowerOff = 239;
// Motor constants of the three sizes of joints, Nm/A referred to the output.
constexpr std::array<double, 6> kTorquePerAmpere = {12.0, 12.0, 12.0, 9.2, 9.2, 9.2};

std::array<double, 3> toArray(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

}  // namespace

void Controller::publish(double host_time_s) {
  StateFrame& f = frame_;
  const TargetState& target = robot_.motion.target();
  const Joints &q = robot_.actual.q, &qd = robot_.actual.qd;
  f.cycle = cycle_;
  f.host_time_s = host_time_s;
  f.timestamp = robot_.time_s;
  f.target_q = toVec6(target.q);
  f.target_qd = toVec6(target.qd);
  f.target_qdd = toVec6(robot_.motion.acceleration());
  f.actual_q = toVec6(q);
  f.actual_qd = toVec6(qd);
  const bool powered = mode_ == RobotMode::kRunning;
  const Joints moment =
      robot_.arm.gravityTorque(target.q, robot_.payload, robot_.gravity) +
      robot_.arm.massMatrix(target.q, robot_.payload) * robot_.motion.acceleration();
  for (std::size_t i = 0; i < 6; ++i) {
    const auto j = static_cast<Eigen::Index>(i);
    f.target_moment[i] = moment[j];
    f.target_current[i] = powered ? moment[j] / kTorquePerAmpere[i] : 0;
    f.actual_current_as_torque[i] = powered ? robot_.joint_torque[j] : 0;
    f.actual_current[i] = f.actual_current_as_torque[i] / kTorquePerAmpere[i];
    f.joint_control_output[i] = f.target_current[i];
    f.joint_temperatures[i] = 30;
    f.actual_joint_voltage[i] = mode_ == RobotMode::kPowerOff ? 0 : 48;
    f.joint_mode[i] = powered                         ? kJointRunning
                      : mode_ == RobotMode::kPowerOff ? kJointPowerOff
                                                      : kJointIdle;
  }
  f.actual_TCP_pose = poseOf(robot_.arm.tool(q));
  f.target_TCP_pose = poseOf(robot_.arm.tool(target.q));
  const Joints twist = robot_.arm.jacobian(q) * qd;
  f.actual_TCP_speed = toVec6(twist);
  f.target_TCP_speed = toVec6(robot_.arm.jacobian(target.q) * target.qd);
  f.actual_TCP_force = robot_.sensor.value();
  f.ft_raw_wrench = robot_.sensor.raw();
  f.tcp_force_scalar =
      std::hypot(f.actual_TCP_force[0], f.actual_TCP_force[1], f.actual_TCP_force[2]);
  f.actual_momentum = (8 + robot_.payload.mass_kg) * twist.head<3>().norm();
  f.elbow_position = toArray(robot_.arm.elbow(q));
  f.elbow_velocity = toArray((robot_.arm.elbow(q + qd * 1e-4) - robot_.arm.elbow(q)) / 1e-4);
  f.actual_tool_accelerometer = toArray(robot_.arm.flange(q).linear().transpose() * robot_.gravity);
  f.actual_digital_output_bits = robot_.digital_outputs;
  f.standard_analog_output0 = robot_.analog_outputs[0];
  f.standard_analog_output1 = robot_.analog_outputs[1];
  f.analog_io_types = robot_.analog_output_types << 2;
  f.robot_mode = static_cast<std::int32_t>(mode_);
  f.safety_mode = static_cast<std::int32_t>(safety_);
  f.safety_status = static_cast<std::uint32_t>(safety_);
  f.runtime_state = static_cast<std::uint32_t>(runtime_);
  const bool playing = runtime_ == RuntimeState::kPlaying || runtime_ == RuntimeState::kResuming;
  f.robot_status_bits = (mode_ != RobotMode::kPowerOff ? 1u : 0u) | (playing ? 2u : 0u) |
                        (robot_.teaching || robot_.freedrive ? 4u : 0u);
  switch (safety_) {
    case SafetyMode::kNormal:
      f.safety_status_bits = 1u << 0;
      break;
    case SafetyMode::kReduced:
      f.safety_status_bits = 1u << 1;
      break;
    case SafetyMode::kProtectiveStop:
      f.safety_status_bits = 1u << 2 | 1u << 10;
      break;
    case SafetyMode::kRobotEmergencyStop:
      f.safety_status_bits = 1u << 6 | 1u << 7 | 1u << 10;
      break;
    case SafetyMode::kFault:
      f.safety_status_bits = 1u << 9 | 1u << 10;
      break;
  }
  f.target_speed_fraction = slider_;
  // What the trajectory limiter adds to the slider: the product of both is the true rate.
  f.speed_scaling = slider_ > 1e-6 ? std::min(1.0, robot_.motion.rate() / slider_) : 1;
  f.actual_execution_time = 0.3;
  f.actual_main_voltage = 48;
  f.actual_robot_voltage = mode_ == RobotMode::kPowerOff ? 0 : 48;
  f.actual_robot_current = powered ? 0.6 : 0;
  f.tool_temperature = 30;
  f.tcp_offset = robot_.arm.tcp();
  f.payload = robot_.payload.mass_kg;
  f.payload_cog = toArray(robot_.payload.cog_m);
  f.payload_inertia = robot_.payload.inertia_kg_m2;
  f.out = robot_.out;
  f.in = robot_.in;
}

}  // namespace s2r::ur
