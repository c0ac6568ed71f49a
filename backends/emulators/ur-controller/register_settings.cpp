// Commands that set something: payload, TCP, gravity, force mode, watchdog, freedrive, sensors.
#include "backends/emulators/ur-controller/register_program.h"

namespace s2r::ur {

namespace {

void setPayload(Robot& robot, double mass_kg, const Vec3& cog_m) {
  if (!(mass_kg >= 0) || mass_kg > robot.limits.payload_kg) {
    throw ScriptError("set_payload: " + std::to_string(mass_kg) + " kg is not within 0 and " +
                      std::to_string(robot.limits.payload_kg));
  }
  robot.payload.mass_kg = mass_kg;
  if (!cog_m.isZero(0)) {
    robot.payload.cog_m = cog_m;
  }
}

}  // namespace

bool RegisterProgram::processSetting(int command, Robot& robot) {
  switch (command) {
    case 7:
      robot.force_mode = false;
      if (repeating_ == Repeating::kNone) {
        robot.motion.stopTool(10);
        waitForMotion();
      }
      return true;
    case 8:
      robot.sensor.zero();
      return true;
    case 17:
      setPayload(robot, doubleIn(robot, 0),
                 Vec3(doubleIn(robot, 1), doubleIn(robot, 2), doubleIn(robot, 3)));
      return true;
    case 18:
    case 19:
      robot.teaching = command == 18;
      return true;
    case 20:  // damping and gain of the force mode: taken, without effect here
    case 21:
      return true;
    case 29:
      robot.arm.setTcp(vectorIn(robot, 0));
      return true;
    case 31:
      throw ProtectiveStop(0, "protective stop asked for by the program");
    case 35: {
      const double frequency = doubleIn(robot, 0);
      if (!(frequency > 0)) {
        throw ScriptError("rtde_set_watchdog: frequency " + std::to_string(frequency));
      }
      robot.watchdog = Watchdog{int_offset_, 1 / frequency, robot.time_s};
      return true;
    }
    case 52:
    case 53:
      robot.freedrive = command == 52;
      return true;
    case 56:  // an external sensor in place of the built-in one: taken, without effect here
    case 57:
      return true;
    case 59:
      robot.gravity = Vec3(doubleIn(robot, 0), doubleIn(robot, 1), doubleIn(robot, 2));
      return true;
    case 65: {
      setPayload(robot, doubleIn(robot, 0),
                 Vec3(doubleIn(robot, 1), doubleIn(robot, 2), doubleIn(robot, 3)));
      robot.payload.inertia_kg_m2 = vectorIn(robot, 4);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace s2r::ur
