// What a running program sees of the robot: the arm, its target and sensors, registers, outputs.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "backends/emulators/ur-controller/history.h"
#include "backends/emulators/ur-controller/motion.h"
#include "backends/emulators/ur-controller/plant.h"
#include "backends/emulators/ur-controller/wrench_sensor.h"

namespace s2r::ur {

// Levels of the exchange's text messages.
enum class TextLevel : std::uint8_t { kException = 0, kError = 1, kWarning = 2, kInfo = 3 };

struct Text {
  TextLevel level = TextLevel::kInfo;
  int code = 0;  // the controller's C number; 0: none
  std::string message;
};

struct RobotLimits {
  double joint_position_rad = 363 * pose::kPi / 180;
  double joint_speed_rad_s = 191 * pose::kPi / 180;
  double joint_acceleration_rad_s2 = 80;  // of the target: more is a sudden change
  double tool_speed_m_s = 1.5, elbow_speed_m_s = 1.5;
  double force_n = 150;
  double deviation_rad = 0.15;
  double payload_kg = 5;
};

struct Watchdog {
  int register_index = 0;
  double timeout_s = 0, fed_at_s = 0;
};

struct Robot {
  Robot(const KinematicDeltas& deltas,
        const RobotLimits& robot_limits,
        const Vec6& wrench_bias,
        WrenchNoise noise,
        unsigned seed)
      : arm(deltas), motion(arm), sensor(wrench_bias, noise, seed), limits(robot_limits) {}

  Arm arm;
  Motion motion;
  WrenchSensor sensor;
  RobotLimits limits;
  History history;
  PlantState actual;
  Joints joint_torque = Joints::Zero();
  Payload payload;
  Vec3 gravity = Vec3(0, 0, 9.82);  // upwards, as the controller's set_gravity takes it
  Inputs in;
  OutputRegisters out;
  std::uint64_t digital_outputs = 0;
  std::array<double, 2> analog_outputs{};
  std::uint32_t analog_output_types = 0;  // bit n: output n is a voltage
  bool teaching = false;
  bool freedrive = false;
  bool force_mode = false;
  double time_s = 100;  // since the controller's start
  double still_s = 0;   // for how long the arm has stood still
  std::optional<Watchdog> watchdog;
  std::deque<Text> texts;  // to be sent to clients

  void text(TextLevel level, std::string message, int code = 0) {
    texts.push_back({level, code, std::move(message)});
  }
};

// A program that the controller runs: one call a cycle while it plays.
class Program {
 public:
  virtual ~Program() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  // False when the program has come to its end. Throws ScriptError, ProtectiveStop.
  virtual bool cycle(Robot& robot) = 0;
};

}  // namespace s2r::ur
