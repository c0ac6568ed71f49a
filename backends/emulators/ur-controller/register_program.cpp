#include "backends/emulators/ur-controller/register_program.h"

#include <algorithm>
#include <cmath>

namespace s2r::ur {

namespace {

constexpr int kReady = 1, kDone = 2;

// Carried out every cycle, never waited for.
bool continuous(int command) {
  switch (command) {
    case 6:
    case 9:
    case 10:
    case 11:
    case 24:
    case 25:
    case 26:
    case 27:
    case 38:
    case 58:
      return true;
    default:
      return command >= 66 && command <= 71;
  }
}

}  // namespace

int RegisterProgram::intIn(const Robot& robot, int index) const {
  return robot.in.ints[static_cast<std::size_t>(int_offset_ + index)];
}

double RegisterProgram::doubleIn(const Robot& robot, int index) const {
  return robot.in.doubles[static_cast<std::size_t>(double_offset_ + index)];
}

Vec6 RegisterProgram::vectorIn(const Robot& robot, int index) const {
  Vec6 v;
  for (int i = 0; i < 6; ++i) {
    v[static_cast<std::size_t>(i)] = doubleIn(robot, index + i);
  }
  return v;
}

Vec6 RegisterProgram::targetIn(const Robot& robot, int index) const {
  const Vec6 v = vectorIn(robot, index);
  for (const double x : v) {
    if (!std::isfinite(x)) {
      throw ScriptError("the target of a motion is not a finite number");
    }
  }
  return v;
}

void RegisterProgram::intOut(Robot& robot, int index, int value) const {
  robot.out.ints[static_cast<std::size_t>(int_offset_ + index)] = value;
}

void RegisterProgram::vectorOut(Robot& robot, const Vec6& value) const {
  for (std::size_t i = 0; i < 6; ++i) {
    robot.out.doubles[static_cast<std::size_t>(double_offset_) + i] = value[i];
  }
}

void RegisterProgram::matrixOut(Robot& robot, const pose::Matrix6& value) const {
  if (double_offset_ != 0) {
    throw ScriptError("write_output_float_register: no register above 47");
  }
  for (std::size_t i = 0; i < 36; ++i) {  // column after column
    robot.out.doubles[i < 24 ? i : i + 12] = value.data()[i];
  }
}

Joints RegisterProgram::inverse(const Robot& robot, const Vec6& pose, const Joints& near) const {
  const std::optional<Joints> q = robot.arm.inverse(transformOf(pose), near);
  if (!q) {
    throw ScriptError("get_inverse_kin: no solution for the pose");
  }
  return *q;
}

bool RegisterProgram::cycle(Robot& robot) {
  if (!started_) {
    started_ = true;
    signalProgress(robot, -1);
    intOut(robot, 0, kReady);
  }
  runThreads(robot);
  if (!waits_.empty()) {
    while (!waits_.empty() && waits_.front()(robot)) {
      waits_.erase(waits_.begin());
    }
    if (!waits_.empty()) {
      return true;
    }
    if (std::exchange(finish_command_, false)) {
      intOut(robot, 0, kDone);
    }
    return true;
  }
  int command = intIn(robot, 0);
  if (command == 0) {
    command = std::exchange(internal_command_, 0);
  }
  if (continuous(command)) {
    const bool goes_on = process(command, robot);
    intOut(robot, 0, kReady);
    return goes_on;
  }
  if (command == 0) {
    executing_ = false;
    intOut(robot, 0, kReady);
    return true;
  }
  if (!executing_) {
    executing_ = true;
    if (!process(command, robot)) {
      return false;
    }
    if (waits_.empty()) {
      intOut(robot, 0, kDone);
    } else {
      finish_command_ = true;
    }
  }
  return true;
}

bool RegisterProgram::process(int command, Robot& robot) {
  if (command == 255) {
    return false;
  }
  // An unknown number is done at once, as in the script.
  static_cast<void>(processMove(command, robot) || processStream(command, robot) ||
                    processStop(command, robot) || processContact(command, robot) ||
                    processSetting(command, robot) || processQuery(command, robot) ||
                    processDynamics(command, robot));
  return true;
}

void RegisterProgram::runThreads(Robot& robot) {
  if (async_move_) {
    if (*progress_ != progress_told_ && *progress_ >= 0) {
      progress_told_ = *progress_;
      signalProgress(robot, progress_told_);
    }
    if (robot.motion.idle()) {
      async_move_ = false;
      signalProgress(robot, -1);
    }
  }
  if (async_stop_ && robot.motion.idle()) {
    async_stop_ = false;
    signalProgress(robot, -1);
  }
  // A torque holds for the cycle it was sent for; without the next one the arm is stopped.
  if (repeating_ == Repeating::kTorque && ++torque_cycles_ > 2) {
    repeating_ = Repeating::kNone;
    robot.motion.stopJoints(10);
  }
  if (contact_ != Contact::kOff) {
    contactThread(robot);
  }
}

// Bits 30-24 operation number, 22-16 count of writes, 15 running, 14-0 progress.
void RegisterProgram::signalProgress(Robot& robot, int value) {
  write_count_ = write_count_ >= 127 ? 0 : write_count_ + 1;
  if (value == 0) {
    operation_id_ = operation_id_ >= 127 ? 0 : operation_id_ + 1;
  }
  int word = (operation_id_ << 24) | (write_count_ << 16);
  if (value >= 0) {
    word |= 0x8000 | std::min(value, 0x7fff);
  }
  intOut(robot, 2, word);
}

void RegisterProgram::waitForMotion() {
  waits_.emplace_back([](Robot& robot) { return robot.motion.idle(); });
}

void RegisterProgram::refuseWhileRepeating() const {
  if (repeating_ != Repeating::kNone) {
    throw ScriptError("Another thread is already controlling the robot");
  }
}

}  // namespace s2r::ur
