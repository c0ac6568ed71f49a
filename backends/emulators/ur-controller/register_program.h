// The control script that takes commands from input registers (offset 0 or 24).
//
// In: int 0 command, int 1.. and double 0.. arguments. Out: int 0 state (1 ready, 2 done), int 1
// integer result, int 2 progress of an asynchronous motion, double 0..5 vector results (matrices:
// doubles 0..23 and 36..47). Every 2 ms the script looks at the command. Commands of the continuous
// kind are carried out every time and leave the state at ready. Any other is carried out once, sets
// the state to done, and is ready again after the command went back to 0. 255 ends the script.
// Behaviour follows the script as published with its client library, with its peculiarities: a
// synchronous stop is a stopj until the first asynchronous one has been made, then a stopl; a
// contact direction counts as null when the sum of its elements is not positive; a pose without
// inverse kinematics ends the script.
#pragma once

#include <functional>
#include <utility>

#include "backends/emulators/ur-controller/path_script.h"

namespace s2r::ur {

class RegisterProgram : public Program {
 public:
  RegisterProgram(int int_offset, int double_offset, std::vector<ScriptMove> path)
      : int_offset_(int_offset), double_offset_(double_offset), path_(std::move(path)) {}
  [[nodiscard]] std::string name() const override { return "rtde_control"; }
  bool cycle(Robot& robot) override;

 private:
  // What the main thread waits for, in order; each returns whether it is over.
  using Wait = std::function<bool(Robot&)>;
  enum class Repeating { kNone, kServo, kServoC, kSpeed, kJog, kTorque };

  // Arguments and results.
  [[nodiscard]] int intIn(const Robot& robot, int index) const;
  [[nodiscard]] double doubleIn(const Robot& robot, int index) const;
  [[nodiscard]] Vec6 vectorIn(const Robot& robot, int index) const;
  // As vectorIn, for a motion: throws ScriptError where it holds no finite numbers.
  [[nodiscard]] Vec6 targetIn(const Robot& robot, int index) const;
  void intOut(Robot& robot, int index, int value) const;
  void vectorOut(Robot& robot, const Vec6& value) const;
  void matrixOut(Robot& robot, const pose::Matrix6& value) const;

  // Command families; false: not one of its numbers.
  bool process(int command, Robot& robot);  // false: the script ends
  bool processMove(int command, Robot& robot);
  bool processStream(int command, Robot& robot);
  bool processStop(int command, Robot& robot);
  bool processContact(int command, Robot& robot);
  bool processSetting(int command, Robot& robot);
  bool processQuery(int command, Robot& robot);
  bool processDynamics(int command, Robot& robot);

  // Threads of the script.
  void startMove(Robot& robot, std::vector<ScriptMove> moves);
  void stopAsyncMove(Robot& robot);
  void stopMove(Robot& robot, bool asynchronous);
  void runThreads(Robot& robot);
  void contactThread(Robot& robot);
  void returnToContact(Robot& robot, int steps);
  void refuseWhileRepeating() const;
  void waitForMotion();
  void signalProgress(Robot& robot, int value);
  [[nodiscard]] Joints inverse(const Robot& robot, const Vec6& pose, const Joints& near) const;

  int int_offset_, double_offset_;
  std::vector<ScriptMove> path_;
  bool started_ = false;
  bool executing_ = false;
  int internal_command_ = 0;
  std::vector<Wait> waits_;
  bool finish_command_ = false;  // done is signalled when the waits are over

  Repeating repeating_ = Repeating::kNone;
  Shared<ServoTarget> servo_ = std::make_shared<ServoTarget>();
  Shared<ServoCTarget> servo_c_ = std::make_shared<ServoCTarget>();
  Shared<SpeedTarget> speed_ = std::make_shared<SpeedTarget>();
  Shared<Joints> torque_ = std::make_shared<Joints>(Joints::Zero());
  int torque_cycles_ = 0;  // since the last command
  Transform X_base_jog_ = Transform::Identity();

  bool async_move_ = false, async_stop_ = false;
  bool stop_is_linear_ = false;
  Shared<int> progress_ = std::make_shared<int>(-1);
  int progress_told_ = -1, write_count_ = 0, operation_id_ = 0;

  enum class Contact { kOff, kClear, kWatch } contact_ = Contact::kOff;
  Vec6 contact_direction_{};
  int contact_steps_ = 0;
};

}  // namespace s2r::ur
