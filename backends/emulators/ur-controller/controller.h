// The controller: power, safety, the program that runs, one 2 ms cycle at a time. Not thread-safe:
// whoever calls it holds the one lock of the process.
//
// Life of a program: an upload is taken in remote mode with the arm running and nothing wrong; it
// replaces a program that runs. STOPPED -> PLAYING -> (PAUSING -> PAUSED -> RESUMING -> PLAYING) ->
// STOPPING (the arm slows down) -> STOPPED. A protective stop pauses; what was paused goes on only
// by `play`, or is replaced by a new upload. An emergency stop, power off, local mode, a watchdog
// and an error of the program stop it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/emulators/ur-controller/robot.h"
#include "backends/emulators/ur-controller/script_recogniser.h"
#include "backends/emulators/ur-controller/setpoint_log.h"

namespace s2r::ur {

struct Version {
  unsigned major = 5, minor = 17, bugfix = 3, build = 128957;
};

struct ControllerOptions {
  Version version;
  std::string serial = "20215501234";
  KinematicDeltas deltas;
  RobotLimits limits;
  Vec6 wrench_bias{};
  WrenchNoise wrench_noise;
  unsigned seed = 1;
  bool powered_off = false;
  double power_step_s = 1;  // time of powering on and of releasing the brakes
  bool local = false;
};

class Controller {
 public:
  Controller(const ControllerOptions& options, std::unique_ptr<Plant> plant);

  // One cycle; `host_time_s` is CLOCK_MONOTONIC.
  void cycle(double host_time_s);
  [[nodiscard]] const StateFrame& frame() const { return frame_; }

  // Client inputs: the variables were written into inputs() and are applied here.
  [[nodiscard]] Inputs& inputs() { return robot_.in; }
  void inputsWritten(bool has_command_register, int command_register, double arrival_s);
  void applyOutputsFromInputs(bool digital, bool analog);
  void applySlider(double fraction);
  void feedWatchdog(int int_register);

  void upload(RecognisedScript script);
  // Requests of operator and dashboard; text ones say why not (empty: done).
  void powerOn();
  void powerOff();
  void brakeRelease();
  [[nodiscard]] std::string unlockProtectiveStop();
  void restartSafety();
  [[nodiscard]] bool play();
  [[nodiscard]] bool pause();
  void stopProgram();
  void setRemote(bool remote);
  void protectiveStop(int code, const std::string& why);
  void emergencyStop(bool pressed);
  void setFrozen(bool frozen) { frozen_ = frozen; }

  [[nodiscard]] bool remote() const { return remote_; }
  [[nodiscard]] bool frozen() const { return frozen_; }
  [[nodiscard]] RobotMode robotMode() const { return mode_; }
  [[nodiscard]] SafetyMode safetyMode() const { return safety_; }
  [[nodiscard]] RuntimeState runtimeState() const { return runtime_; }
  [[nodiscard]] const std::string& programName() const { return program_name_; }
  [[nodiscard]] const ControllerOptions& options() const { return options_; }
  [[nodiscard]] Robot& robot() { return robot_; }
  [[nodiscard]] SmallWorld& world() { return world_; }
  [[nodiscard]] SetpointLog& setpoints() { return setpoints_; }
  [[nodiscard]] bool hasPlant() const { return plant_is_shared_; }

 private:
  void readPlant();
  void advancePower();
  void checkWatchdog();
  void runProgram();
  void stepMotion();
  void checkLimits(const Joints& q_before);
  void settleRuntime();
  void endProgram();
  void startPending();
  void publish(double host_time_s);

  ControllerOptions options_;
  Robot robot_;
  std::unique_ptr<Plant> plant_;
  bool plant_is_shared_ = false;
  SmallWorld world_;
  SetpointLog setpoints_;
  StateFrame frame_;

  RobotMode mode_ = RobotMode::kRunning;
  SafetyMode safety_ = SafetyMode::kNormal;
  RuntimeState runtime_ = RuntimeState::kStopped;
  bool remote_ = true, frozen_ = false, emergency_pressed_ = false;
  double slider_ = 1;
  std::optional<RobotMode> power_goal_;
  double power_left_s_ = 0;
  double stopped_at_s_ = 0;  // of the protective stop
  double force_high_s_ = 0;
  bool ignore_force_until_clear_ = false;
  std::unique_ptr<Program> program_, pending_;
  double pending_wait_s_ = 0;
  std::string program_name_;
  double reset_count_ = 0;
  std::uint64_t cycle_ = 0;
};

}  // namespace s2r::ur
