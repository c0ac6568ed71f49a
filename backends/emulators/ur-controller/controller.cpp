#include "backends/emulators/ur-controller/controller.h"

#include <algorithm>
#include <utility>

namespace s2r::ur {

namespace {

constexpr double kUnlockWaitS = 5;
constexpr double kStopDeceleration = 12;        // rad/s^2: program stop, pause
constexpr double kProtectiveDeceleration = 20;  // rad/s^2
constexpr double kUploadDelayS = 0.02;

}  // namespace

Controller::Controller(const ControllerOptions& options, std::unique_ptr<Plant> plant)
    : options_(options),
      robot_(options.deltas,
             options.limits,
             options.wrench_bias,
             options.wrench_noise,
             options.seed),
      plant_(std::move(plant)),
      plant_is_shared_(dynamic_cast<SharedPlant*>(plant_.get()) != nullptr),
      remote_(!options.local) {
  robot_.actual = plant_->state();
  reset_count_ = robot_.actual.reset_count;
  robot_.motion.reset(robot_.actual.q);
  if (options.powered_off) {
    mode_ = RobotMode::kPowerOff;
  }
  publish(0);
}

void Controller::cycle(double host_time_s) {
  if (frozen_) {  // the arm holds where it got to; nothing else goes on, time included
    plant_->command(robot_.motion.target().q, mode_ == RobotMode::kRunning, cycle_, host_time_s);
    return;
  }
  ++cycle_;
  robot_.time_s += kCycleS;
  readPlant();
  advancePower();
  checkWatchdog();
  runProgram();
  stepMotion();
  settleRuntime();
  plant_->command(robot_.motion.target().q, mode_ == RobotMode::kRunning, cycle_, host_time_s);
  publish(host_time_s);
}

void Controller::readPlant() {
  robot_.actual = plant_->state();
  if (robot_.actual.reset_count != reset_count_) {
    reset_count_ = robot_.actual.reset_count;
    robot_.motion.reset(robot_.actual.q);
    robot_.history.clear();
    program_.reset();
    pending_.reset();
    runtime_ = RuntimeState::kStopped;
    ignore_force_until_clear_ = true;
    robot_.watchdog.reset();
    robot_.text(TextLevel::kWarning, "the plant was reset: program dropped");
  }
  const Transform X_tool = robot_.arm.tool(robot_.actual.q);
  Vec6 wrench = robot_.actual.wrench_base;
  if (!plant_is_shared_) {
    wrench = world_.wrenchAt(X_tool.translation());
  }
  robot_.sensor.sample(wrench, X_tool.linear());
  robot_.history.add(robot_.actual.q, robot_.sensor.value());
  const bool still = robot_.motion.standing() && robot_.actual.qd.cwiseAbs().maxCoeff() < 0.01;
  robot_.still_s = still ? robot_.still_s + kCycleS : 0;
  robot_.joint_torque =
      robot_.actual.has_torque
          ? robot_.actual.torque
          : Joints(robot_.arm.gravityTorque(robot_.actual.q, robot_.payload, robot_.gravity) -
                   robot_.arm.jacobian(robot_.actual.q).transpose() * toJoints(wrench));
  if (mode_ == RobotMode::kRunning && safety_ == SafetyMode::kNormal) {
    const double force = Vec3(wrench[0], wrench[1], wrench[2]).norm();
    force_high_s_ = force > robot_.limits.force_n ? force_high_s_ + kCycleS : 0;
    if (force_high_s_ == 0) {
      ignore_force_until_clear_ = false;
    }
    if (force_high_s_ > 0.01 && !ignore_force_until_clear_) {
      protectiveStop(159, "force of " + std::to_string(force) + " N at the tool");
    }
  }
}

void Controller::advancePower() {
  if (!power_goal_) {
    return;
  }
  power_left_s_ -= kCycleS;
  if (power_left_s_ > 0) {
    return;
  }
  mode_ = *power_goal_;
  power_goal_.reset();
  if (mode_ == RobotMode::kRunning) {
    robot_.motion.reset(robot_.actual.q);
  }
}

void Controller::checkWatchdog() {
  const auto& watchdog = robot_.watchdog;
  if (watchdog && runtime_ == RuntimeState::kPlaying &&
      robot_.time_s - watchdog->fed_at_s > watchdog->timeout_s) {
    robot_.text(TextLevel::kError,
                "watchdog of the data exchange: no input in time, program "
                "stopped");
    stopProgram();
  }
}

void Controller::runProgram() {
  if (runtime_ != RuntimeState::kPlaying || !program_) {
    return;
  }
  try {
    if (!program_->cycle(robot_)) {
      stopProgram();
    }
  } catch (const ProtectiveStop& stop) {
    protectiveStop(stop.code, stop.what());
  } catch (const ScriptError& error) {
    robot_.text(TextLevel::kException, error.what());
    stopProgram();
  }
}

void Controller::stepMotion() {
  if (mode_ != RobotMode::kRunning) {
    // With the brakes on the arm is where it is; a stop under way ends by the brakes.
    robot_.motion.reset(robot_.actual.q);
    return;
  }
  const bool paused = runtime_ == RuntimeState::kPausing || runtime_ == RuntimeState::kPaused;
  robot_.motion.setRate(paused ? 0 : slider_);
  const Joints q_before = robot_.motion.target().q;
  try {
    robot_.motion.step();
  } catch (const ProtectiveStop& stop) {
    protectiveStop(stop.code, stop.what());
    robot_.motion.step();
  }
  if (safety_ == SafetyMode::kNormal) {
    checkLimits(q_before);
  }
}

void Controller::checkLimits(const Joints& q_before) {
  const RobotLimits& limits = robot_.limits;
  const TargetState& target = robot_.motion.target();
  const auto exceeds = [this](const char* what, double value, double limit, const char* unit,
                              int code) {
    if (!(value <= limit)) {
      protectiveStop(code, std::string(what) + " " + std::to_string(value) + " " + unit +
                               " exceeds " + std::to_string(limit));
      return true;
    }
    return false;
  };
  const double position = target.q.cwiseAbs().maxCoeff();
  const bool outwards = position > q_before.cwiseAbs().maxCoeff();
  if (outwards && exceeds("joint position", position, limits.joint_position_rad, "rad", 158)) {
    return;
  }
  if (exceeds("joint speed", target.qd.cwiseAbs().maxCoeff(), limits.joint_speed_rad_s, "rad/s",
              157) ||
      exceeds("sudden change in target: joint acceleration",
              robot_.motion.acceleration().cwiseAbs().maxCoeff(), limits.joint_acceleration_rad_s2,
              "rad/s^2", 204)) {
    return;
  }
  const double tool = (robot_.arm.jacobian(target.q) * target.qd).head<3>().norm();
  const double elbow = (robot_.arm.elbow(target.q) - robot_.arm.elbow(q_before)).norm() / kCycleS;
  if (exceeds("tool speed", tool, limits.tool_speed_m_s, "m/s", 156) ||
      exceeds("elbow speed", elbow, limits.elbow_speed_m_s, "m/s", 156)) {
    return;
  }
  exceeds("position deviates from path:",
          (target.q - robot_.actual.q).cwiseAbs().maxCoeff() -
              0.1 * robot_.actual.qd.cwiseAbs().maxCoeff(),
          limits.deviation_rad, "rad", 153);
}

void Controller::settleRuntime() {
  const bool stands = robot_.motion.standing();
  switch (runtime_) {
    case RuntimeState::kStopping:
      if (stands && robot_.motion.idle()) {
        endProgram();
      }
      break;
    case RuntimeState::kPausing:
      if (stands) {
        runtime_ = RuntimeState::kPaused;
      }
      break;
    case RuntimeState::kResuming:
      runtime_ = RuntimeState::kPlaying;
      robot_.motion.resume();
      if (robot_.watchdog) {
        robot_.watchdog->fed_at_s = robot_.time_s;
      }
      break;
    default:
      break;
  }
  if (emergency_pressed_ && stands && mode_ != RobotMode::kPowerOff) {
    mode_ = RobotMode::kPowerOff;
    power_goal_.reset();
  }
  if (pending_ && runtime_ == RuntimeState::kStopped) {
    pending_wait_s_ -= kCycleS;
    if (pending_wait_s_ <= 0) {
      startPending();
    }
  }
}

void Controller::endProgram() {
  runtime_ = RuntimeState::kStopped;
  program_.reset();
  robot_.watchdog.reset();
  robot_.force_mode = robot_.freedrive = robot_.teaching = false;
}

void Controller::startPending() {
  program_ = std::move(pending_);
  program_name_ = program_->name();
  runtime_ = RuntimeState::kPlaying;
  robot_.watchdog.reset();
}

void Controller::upload(RecognisedScript script) {
  const auto refuse = [this](const std::string& why) {
    robot_.text(TextLevel::kError, "script refused: " + why);
  };
  if (!remote_) {
    robot_.text(TextLevel::kError,
                "socket is read-only while the robot is in local control: script refused", 210);
    return;
  }
  if (mode_ != RobotMode::kRunning) {
    refuse("the robot is not running (power on and release the brakes)");
    return;
  }
  if (safety_ != SafetyMode::kNormal) {
    refuse("the robot is stopped by its safety system");
    return;
  }
  if (!script.program) {
    refuse(script.refusal);
    return;
  }
  pending_ = std::move(script.program);
  pending_wait_s_ = kUploadDelayS;
  if (runtime_ == RuntimeState::kPaused) {
    robot_.motion.drop(kStopDeceleration);
    endProgram();
  } else if (runtime_ != RuntimeState::kStopped) {
    runtime_ = RuntimeState::kStopping;
    robot_.motion.drop(kStopDeceleration);
  }
}

void Controller::stopProgram() {
  if (runtime_ == RuntimeState::kStopped) {
    return;
  }
  runtime_ = RuntimeState::kStopping;
  robot_.watchdog.reset();
  robot_.motion.drop(kStopDeceleration);
  if (mode_ != RobotMode::kRunning) {
    endProgram();
  }
}

bool Controller::play() {
  if (runtime_ != RuntimeState::kPaused || safety_ != SafetyMode::kNormal ||
      mode_ != RobotMode::kRunning) {
    return false;
  }
  runtime_ = RuntimeState::kResuming;
  return true;
}

bool Controller::pause() {
  if (runtime_ != RuntimeState::kPlaying) {
    return false;
  }
  runtime_ = RuntimeState::kPausing;
  robot_.motion.suspend(kStopDeceleration);
  return true;
}

void Controller::protectiveStop(int code, const std::string& why) {
  if (safety_ != SafetyMode::kNormal || mode_ != RobotMode::kRunning) {
    return;
  }
  safety_ = SafetyMode::kProtectiveStop;
  stopped_at_s_ = robot_.time_s;
  robot_.text(TextLevel::kError, "protective stop: " + why, code);
  robot_.motion.suspend(kProtectiveDeceleration);
  if (runtime_ == RuntimeState::kPlaying || runtime_ == RuntimeState::kResuming) {
    runtime_ = RuntimeState::kPausing;
  }
}

std::string Controller::unlockProtectiveStop() {
  if (safety_ != SafetyMode::kProtectiveStop) {
    return "Protective stop releasing";
  }
  if (robot_.time_s - stopped_at_s_ < kUnlockWaitS) {
    return "Cannot unlock protective stop until 5s after occurrence. Always inspect cause of "
           "protective stop before unlocking";
  }
  safety_ = SafetyMode::kNormal;
  ignore_force_until_clear_ = true;
  if (runtime_ != RuntimeState::kPausing && runtime_ != RuntimeState::kPaused) {
    robot_.motion.drop(kStopDeceleration);
  }
  return "Protective stop releasing";
}

void Controller::emergencyStop(bool pressed) {
  emergency_pressed_ = pressed;
  if (!pressed) {
    if (safety_ == SafetyMode::kRobotEmergencyStop) {
      safety_ = SafetyMode::kNormal;
    }
    return;
  }
  safety_ = SafetyMode::kRobotEmergencyStop;
  robot_.text(TextLevel::kError, "emergency stop");
  pending_.reset();
  if (runtime_ != RuntimeState::kStopped) {
    runtime_ = RuntimeState::kStopping;
  }
  robot_.motion.drop(kProtectiveDeceleration);
  power_goal_.reset();
}

void Controller::powerOn() {
  if (mode_ == RobotMode::kPowerOff && safety_ == SafetyMode::kNormal) {
    mode_ = RobotMode::kPowerOn;
    power_goal_ = RobotMode::kIdle;
    power_left_s_ = options_.power_step_s;
  }
}

void Controller::powerOff() {
  pending_.reset();
  stopProgram();
  if (runtime_ == RuntimeState::kStopping) {
    endProgram();
  }
  mode_ = RobotMode::kPowerOff;
  power_goal_.reset();
}

void Controller::brakeRelease() {
  if (safety_ != SafetyMode::kNormal || mode_ == RobotMode::kRunning) {
    return;
  }
  power_left_s_ = options_.power_step_s * (mode_ == RobotMode::kIdle ? 1 : 2);
  if (mode_ == RobotMode::kPowerOff) {  // powers on as well
    mode_ = RobotMode::kPowerOn;
  }
  power_goal_ = RobotMode::kRunning;
}

void Controller::restartSafety() {
  if (safety_ == SafetyMode::kFault) {
    safety_ = SafetyMode::kNormal;
    powerOff();
  }
}

void Controller::setRemote(bool remote) {
  remote_ = remote;
  if (!remote) {
    pending_.reset();
    stopProgram();
    robot_.text(TextLevel::kWarning, "local control: sockets are read-only", 210);
  }
}

void Controller::applySlider(double fraction) {
  slider_ = std::clamp(fraction, 0.0, 1.0);
}

void Controller::applyOutputsFromInputs(bool digital, bool analog) {
  const Inputs& in = robot_.in;
  if (digital) {
    const auto write = [this](std::uint64_t mask, std::uint64_t bits, int shift) {
      mask <<= shift;
      robot_.digital_outputs = (robot_.digital_outputs & ~mask) | ((bits << shift) & mask);
    };
    write(in.standard_digital_output_mask, in.standard_digital_output, 0);
    write(in.configurable_digital_output_mask, in.configurable_digital_output, 8);
    write(in.tool_digital_output_mask & 3u, in.tool_digital_output, 16);
  }
  if (analog) {
    const std::array<double, 2> ratios = {in.standard_analog_output_0, in.standard_analog_output_1};
    for (int i = 0; i < 2; ++i) {
      if ((in.standard_analog_output_mask >> i) & 1) {
        const bool volts = (in.standard_analog_output_type >> i) & 1;
        const double ratio = std::clamp(ratios[static_cast<std::size_t>(i)], 0.0, 1.0);
        robot_.analog_outputs[static_cast<std::size_t>(i)] =
            volts ? 10 * ratio : 0.004 + 0.016 * ratio;
        robot_.analog_output_types =
            (robot_.analog_output_types & ~(1u << i)) | (volts ? 1u << i : 0u);
      }
    }
  }
}

void Controller::feedWatchdog(int int_register) {
  if (robot_.watchdog && robot_.watchdog->register_index == int_register) {
    robot_.watchdog->fed_at_s = robot_.time_s;
  }
}

void Controller::inputsWritten(bool has_command_register, int command_register, double arrival_s) {
  if (!has_command_register) {
    return;
  }
  const int command = robot_.in.ints[static_cast<std::size_t>(command_register)];
  if (command != 11 && command != 15 && command != 16 && command != 33 && command != 34 &&
      command != 255) {
    return;
  }
  Setpoint s;
  s.arrival_s = arrival_s;
  s.cycle = cycle_;
  s.command = command;
  for (std::size_t i = 0; i < 6; ++i) {
    s.q_setpoint_rad[i] = robot_.in.doubles[static_cast<std::size_t>(command_register) + i];
  }
  s.q_target_rad = toVec6(robot_.motion.target().q);
  s.q_actual_rad = toVec6(robot_.actual.q);
  setpoints_.add(s);
}

}  // namespace s2r::ur
