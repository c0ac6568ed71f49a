// Moves written in a script.
#pragma once

#include <optional>

#include "backends/emulators/ur-controller/robot.h"
#include "backends/emulators/ur-controller/script_call.h"

namespace s2r::ur {

// A move whose target may still need the inverse kinematics of the moment it starts.
struct ScriptMove {
  bool cartesian = false;  // movel, movep
  bool pose = false;       // the target is a pose, not joints
  Vec6 target{};
  double speed = 0, acceleration = 0, blend_m = 0;
  int progress = -1;
};

// movej, movel or movep with a constant target; empty for anything else.
[[nodiscard]] std::optional<ScriptMove> moveOf(const ScriptCall& call);
// Throws ScriptError where a pose has no solution.
[[nodiscard]] std::vector<PathLeg> legsOf(const Robot& robot, const std::vector<ScriptMove>& moves);

}  // namespace s2r::ur
