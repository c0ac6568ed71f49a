// Commands that the client repeats: 6 force, 9 and 10 speed, 11, 12 and 24 servo, 41 jog.
#include "backends/emulators/ur-controller/register_program.h"

namespace s2r::ur {

bool RegisterProgram::processStream(int command, Robot& robot) {
  const auto begin = [&](Repeating kind) {
    if (async_move_ || async_stop_ || (repeating_ != Repeating::kNone && repeating_ != kind)) {
      throw ScriptError("Another thread is already controlling the robot");
    }
    return std::exchange(repeating_, kind) != kind || robot.motion.idle();
  };
  switch (command) {
    case 6:
      robot.force_mode = true;
      return true;
    case 9:
    case 10:
      speed_->cartesian = command == 10;
      speed_->velocity = toJoints(targetIn(robot, 0));
      speed_->acceleration = doubleIn(robot, 6);
      if (begin(Repeating::kSpeed)) {
        robot.motion.speed(speed_);
      }
      return true;
    case 11:
    case 24:
      servo_->q_rad = command == 11 ? toJoints(targetIn(robot, 0))
                                    : inverse(robot, targetIn(robot, 0), robot.actual.q);
      servo_->time_s = doubleIn(robot, 8);
      servo_->lookahead_s = doubleIn(robot, 9);
      servo_->gain = doubleIn(robot, 10);
      if (begin(Repeating::kServo)) {
        robot.motion.servo(servo_);
      }
      return true;
    case 12:
      servo_c_->X_base_tcp = transformOf(targetIn(robot, 0));
      servo_c_->speed = doubleIn(robot, 6);
      servo_c_->acceleration = doubleIn(robot, 7);
      if (begin(Repeating::kServoC)) {
        robot.motion.servoC(servo_c_);
      }
      return true;
    case 66:
      *torque_ = toJoints(targetIn(robot, 0));
      torque_cycles_ = 0;
      if (begin(Repeating::kTorque)) {
        robot.motion.torque(robot.payload, torque_);
      }
      return true;
    case 41: {
      Joints twist = toJoints(targetIn(robot, 0));
      const int feature = static_cast<int>(doubleIn(robot, 6));
      if (repeating_ != Repeating::kJog) {  // the frame is taken when jogging begins
        X_base_jog_ = feature == 1   ? robot.arm.tool(robot.actual.q)
                      : feature == 2 ? transformOf(targetIn(robot, 8))
                                     : Transform::Identity();
      }
      twist.head<3>() = X_base_jog_.linear() * twist.head<3>();
      twist.tail<3>() = X_base_jog_.linear() * twist.tail<3>();
      speed_->cartesian = true;
      speed_->velocity = twist;
      speed_->acceleration = doubleIn(robot, 7);
      if (begin(Repeating::kJog)) {
        robot.motion.speed(speed_);
      }
      return true;
    }
    default:
      return false;
  }
}

}  // namespace s2r::ur
