// Commands 1..4 and 45 (moves), 15, 16, 33, 34 (stops).
#include "backends/emulators/ur-controller/register_program.h"

namespace s2r::ur {

bool RegisterProgram::processMove(int command, Robot& robot) {
  if (command == 45) {
    startMove(robot, path_);
    return true;
  }
  if (command < 1 || command > 4) {
    return false;
  }
  ScriptMove move;
  move.cartesian = command >= 3;
  move.pose = command == 2 || command == 3;
  move.target = targetIn(robot, 0);
  move.speed = doubleIn(robot, 6);
  move.acceleration = doubleIn(robot, 7);
  startMove(robot, {move});
  return true;
}

void RegisterProgram::startMove(Robot& robot, std::vector<ScriptMove> moves) {
  const bool asynchronous = intIn(robot, 1) == 1;
  std::vector<PathLeg> legs = legsOf(robot, moves);
  stopAsyncMove(robot);
  refuseWhileRepeating();
  if (asynchronous) {
    signalProgress(robot, 0);
    progress_ = std::make_shared<int>(-1);
    progress_told_ = 0;
    async_move_ = true;
  }
  robot.motion.path(std::move(legs), asynchronous ? progress_ : nullptr);
  if (!asynchronous) {
    waitForMotion();
  }
}

void RegisterProgram::stopAsyncMove(Robot& robot) {
  if (std::exchange(async_move_, false)) {
    signalProgress(robot, -1);
  }
}

bool RegisterProgram::processStop(int command, Robot& robot) {
  switch (command) {
    case 15: {  // speed_stop
      const bool linear = speed_->cartesian;
      if (repeating_ == Repeating::kSpeed) {
        repeating_ = Repeating::kNone;
      }
      refuseWhileRepeating();
      linear ? robot.motion.stopTool(doubleIn(robot, 0))
             : robot.motion.stopJoints(doubleIn(robot, 0));
      waitForMotion();
      return true;
    }
    case 16:  // servo_stop
      if (repeating_ == Repeating::kServo || repeating_ == Repeating::kServoC) {
        repeating_ = Repeating::kNone;
      }
      refuseWhileRepeating();
      robot.motion.stopTool(doubleIn(robot, 0));
      waitForMotion();
      return true;
    case 33:  // stopl
    case 34:  // stopj
      stopMove(robot, intIn(robot, 1) == 1);
      return true;
    case 42:  // stop_jog
      if (repeating_ == Repeating::kJog) {
        repeating_ = Repeating::kNone;
      }
      refuseWhileRepeating();
      robot.motion.stopTool(1.2);
      waitForMotion();
      return true;
    default:
      return false;
  }
}

// The kind of stop is not taken from the command: see the header.
void RegisterProgram::stopMove(Robot& robot, bool asynchronous) {
  if (std::exchange(async_stop_, false)) {
    signalProgress(robot, -1);
  } else {
    stopAsyncMove(robot);
  }
  refuseWhileRepeating();
  if (asynchronous) {
    stop_is_linear_ = true;
    signalProgress(robot, 0);
    async_stop_ = true;
  }
  const double deceleration = doubleIn(robot, 0);
  stop_is_linear_ ? robot.motion.stopTool(deceleration) : robot.motion.stopJoints(deceleration);
  if (!asynchronous) {
    waitForMotion();
  }
}

}  // namespace s2r::ur
