// A straight-line script: calls with constant arguments, one after the other.
#pragma once

#include "backends/emulators/ur-controller/robot.h"
#include "backends/emulators/ur-controller/script_call.h"

namespace s2r::ur {

class StatementProgram : public Program {
 public:
  StatementProgram(std::string name, std::vector<ScriptCall> calls)
      : name_(std::move(name)), calls_(std::move(calls)) {}
  [[nodiscard]] static bool understands(const ScriptCall& call);
  [[nodiscard]] std::string name() const override { return name_; }
  bool cycle(Robot& robot) override;

 private:
  // True when the next call may be made in the same cycle.
  bool run(const ScriptCall& call, Robot& robot);

  std::string name_;
  std::vector<ScriptCall> calls_;
  std::size_t next_ = 0;
  bool moving_ = false;
  double wait_s_ = 0;
};

}  // namespace s2r::ur
