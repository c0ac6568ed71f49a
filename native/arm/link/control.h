// What the arm asks of the controller's control program, behind one interface: ur_rtde in use, a
// fake in tests. Calls may block for long or for ever: only the threads of ControlThread make them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "native/arm/core/cycle.h"

namespace s2r::arm {

struct ServoSettings {
  double period_s = 0.002;
  double lookahead_s = 0.03;
  double gain = 2000;
};

class Control {
 public:
  virtual ~Control() = default;
  // Uploads the control program; it starts by itself. Does not wait for the start.
  virtual void upload() = 0;
  // The program runs, as far as this connection has heard: its view may be some cycles old.
  virtual bool running() = 0;
  // One setpoint; false where it was not sent.
  virtual bool servo(const Joints& q_rad, const ServoSettings& settings) = 0;
  // The controller ends the program when no command has come for 1 / min_hz seconds.
  virtual bool armWatchdog(double min_hz) = 0;
  virtual bool kickWatchdog() = 0;
  // Leaves servo mode, decelerating.
  virtual bool stopServo(double deceleration_m_s2) = 0;
  // Ends the control program.
  virtual void endProgram() = 0;
  virtual bool setPayload(double mass_kg, const std::array<double, 3>& cog_m) = 0;
  // x y z and a rotation vector, of the TCP in the flange.
  virtual bool setTcp(const Joints& X_flange_tcp) = 0;
  virtual Joints tcp() = 0;
  // Acceleration of a body at rest against gravity, in base axes: 0 0 9.82 upright on a table.
  virtual bool setGravity(const std::array<double, 3>& direction_m_s2) = 0;
};

// Makes a Control; blocks while it connects and throws ArmError or std::exception.
using ControlFactory = std::function<std::unique_ptr<Control>()>;

// RTDEControlInterface of ur_rtde 1.6.5: registers 24 to 47 (upper) or 0 to 23, without the input
// of an external force sensor. The program is uploaded only by upload(): where ur_rtde reconnects
// by itself after a lost link, it cannot start one on its own.
[[nodiscard]] ControlFactory urRtdeControl(const std::string& host, bool upper_registers);

}  // namespace s2r::arm
