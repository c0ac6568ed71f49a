#include "backends/emulators/ur-controller/path_script.h"

#include <algorithm>

namespace s2r::ur {

std::optional<ScriptMove> moveOf(const ScriptCall& call) {
  const bool joints = call.name == "movej";
  if (!joints && call.name != "movel" && call.name != "movep") {
    return std::nullopt;
  }
  if (call.arguments.empty() || call.arguments[0].list.size() != 6) {
    return std::nullopt;
  }
  ScriptMove move;
  move.cartesian = !joints;
  move.pose = call.arguments[0].kind == ScriptValue::Kind::kPose;
  std::copy_n(call.arguments[0].list.begin(), 6, move.target.begin());
  move.acceleration = call.number("a", 1, joints ? 1.4 : 1.2);
  move.speed = call.number("v", 2, joints ? 1.05 : 0.25);
  move.blend_m = call.number("r", call.name == "movep" ? 3 : 4, 0);
  return move;
}

std::vector<PathLeg> legsOf(const Robot& robot, const std::vector<ScriptMove>& moves) {
  std::vector<PathLeg> legs;
  Joints q_near = robot.motion.target().q;
  for (const ScriptMove& move : moves) {
    PathLeg leg;
    leg.cartesian = move.cartesian;
    leg.speed = move.speed;
    leg.acceleration = move.acceleration;
    leg.blend_m = move.blend_m;
    leg.progress = move.progress;
    if (move.pose) {
      leg.X_base_tcp = transformOf(move.target);
      const std::optional<Joints> q = robot.arm.inverse(leg.X_base_tcp, q_near);
      if (!q) {
        throw ScriptError("get_inverse_kin: no solution for the pose of a move");
      }
      leg.q_rad = *q;
    } else {
      leg.q_rad = toJoints(move.target);
      leg.X_base_tcp = robot.arm.tool(leg.q_rad);
    }
    q_near = leg.q_rad;
    legs.push_back(leg);
  }
  return legs;
}

}  // namespace s2r::ur
