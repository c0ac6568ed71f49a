// Commands that answer something.
#include "backends/emulators/ur-controller/register_program.h"

#include <algorithm>

namespace s2r::ur {

namespace {

bool withinLimits(const Robot& robot, const Joints& q) {
  return q.allFinite() && q.cwiseAbs().maxCoeff() <= robot.limits.joint_position_rad;
}

}  // namespace

bool RegisterProgram::processQuery(int command, Robot& robot) {
  const Vec6 first = vectorIn(robot, 0);
  switch (command) {
    case 26:
      robot.out.doubles[static_cast<std::size_t>(double_offset_)] = kCycleS;
      return true;
    case 27:
      vectorOut(robot,
                toVec6(robot.history.q(static_cast<std::size_t>(std::max(0, intIn(robot, 1))))));
      return true;
    case 28:
      vectorOut(robot, poseOf(robot.motion.waypoint()));
      return true;
    case 30:
      vectorOut(robot, toVec6(inverse(robot, first, toJoints(vectorIn(robot, 6)))));
      return true;
    case 46:
      vectorOut(robot, toVec6(inverse(robot, first, robot.actual.q)));
      return true;
    case 36: {
      const std::optional<Joints> q = robot.arm.inverse(transformOf(first), robot.actual.q);
      intOut(robot, 1, q && withinLimits(robot, *q));
      return true;
    }
    case 37:
      intOut(robot, 1, withinLimits(robot, toJoints(first)));
      return true;
    case 38:
      vectorOut(robot, toVec6(robot.joint_torque));
      return true;
    case 39:
      vectorOut(robot, poseOf(transformOf(first) * transformOf(vectorIn(robot, 6))));
      return true;
    case 40:
      vectorOut(robot, robot.arm.tcp());
      return true;
    case 43:
      vectorOut(robot, poseOf(robot.arm.tool(robot.actual.q)));
      return true;
    case 44:
      vectorOut(robot, poseOf(robot.arm.flange(toJoints(first)) * transformOf(vectorIn(robot, 6))));
      return true;
    case 47:
      intOut(robot, 1, robot.still_s >= 0.5);
      return true;
    case 54:
      intOut(robot, 1, 0);  // no joint near a limit or a singular pose while hand-guided
      return true;
    case 58:
      vectorOut(robot, poseOf(robot.arm.flange(robot.actual.q)));
      return true;
    case 60:
      intOut(robot, 1, robot.arm.inverse(transformOf(first), robot.actual.q).has_value());
      return true;
    case 61:
      intOut(robot, 1,
             robot.arm.inverse(transformOf(first), toJoints(vectorIn(robot, 6))).has_value());
      return true;
    default:
      return false;
  }
}

bool RegisterProgram::processDynamics(int command, Robot& robot) {
  const Joints &q = robot.motion.target().q, &qd = robot.motion.target().qd;
  switch (command) {
    case 67:
      matrixOut(robot, robot.arm.massMatrix(q, robot.payload));
      return true;
    case 68:
      vectorOut(robot, toVec6(robot.arm.coriolisTorque(q, qd, robot.payload)));
      return true;
    case 69:
      vectorOut(robot, toVec6(robot.motion.acceleration()));
      return true;
    case 70:
      matrixOut(robot, robot.arm.jacobian(q));
      return true;
    case 71:
      matrixOut(robot, robot.arm.jacobianDerivative(q, qd));
      return true;
    default:
      return false;
  }
}

}  // namespace s2r::ur
