#include "backends/emulators/ur-controller/statement_program.h"

#include <algorithm>

#include "backends/emulators/ur-controller/path_script.h"

namespace s2r::ur {

namespace {

bool numbers(const ScriptCall& call, std::size_t count) {
  if (call.arguments.size() + call.named.size() != count) {
    return false;
  }
  for (const ScriptValue& value : call.arguments) {
    if (value.kind != ScriptValue::Kind::kNumber) {
      return false;
    }
  }
  return true;
}

bool registerCall(const ScriptCall& call) {
  return numbers(call, 2) && call.number("", 0, -1) >= 0 && call.number("", 0, -1) < kRegisters;
}

}  // namespace

bool StatementProgram::understands(const ScriptCall& call) {
  const std::string& name = call.name;
  if (name == "write_output_integer_register" || name == "write_output_float_register") {
    return registerCall(call);
  }
  if (name == "stopj" || name == "stopl" || name == "sleep") {
    return numbers(call, 1);
  }
  if (name == "set_tcp") {
    return !call.arguments.empty() && call.arguments[0].kind == ScriptValue::Kind::kPose;
  }
  if (name == "set_payload") {
    return !call.arguments.empty() &&
           (call.arguments.size() < 2 || call.arguments[1].list.size() == 3);
  }
  if (name == "set_gravity") {
    return call.arguments.size() == 1 && call.arguments[0].list.size() == 3;
  }
  if (name == "set_standard_digital_out" || name == "set_digital_out") {
    return numbers(call, 2) && call.number("", 0, -1) >= 0 && call.number("", 0, -1) < 8;
  }
  return moveOf(call).has_value() || name == "textmsg" || name == "popup" ||
         ((name == "sync" || name == "halt" || name == "zero_ftsensor") && call.arguments.empty());
}

bool StatementProgram::cycle(Robot& robot) {
  if (moving_ && !robot.motion.idle()) {
    return true;
  }
  moving_ = false;
  if (wait_s_ > 0) {
    wait_s_ -= kCycleS;
    return true;
  }
  while (next_ < calls_.size()) {
    if (!run(calls_[next_++], robot)) {
      return true;
    }
  }
  return false;
}

bool StatementProgram::run(const ScriptCall& call, Robot& robot) {
  const std::string& name = call.name;
  if (const std::optional<ScriptMove> move = moveOf(call)) {
    robot.motion.path(legsOf(robot, {*move}), nullptr);
    moving_ = true;
    return false;
  }
  if (name == "write_output_integer_register") {
    robot.out.ints[static_cast<std::size_t>(call.number("", 0, 0))] =
        static_cast<std::int32_t>(call.number("", 1, 0));
  } else if (name == "write_output_float_register") {
    robot.out.doubles[static_cast<std::size_t>(call.number("", 0, 0))] = call.number("", 1, 0);
  } else if (name == "stopj" || name == "stopl") {
    name == "stopj" ? robot.motion.stopJoints(call.number("a", 0, 2))
                    : robot.motion.stopTool(call.number("a", 0, 2));
    moving_ = true;
    return false;
  } else if (name == "sleep") {
    wait_s_ = call.number("", 0, 0);
    return false;
  } else if (name == "sync") {
    return false;
  } else if (name == "halt") {
    next_ = calls_.size();
  } else if (name == "set_tcp") {
    Vec6 tcp;
    std::copy_n(call.arguments[0].list.begin(), 6, tcp.begin());
    robot.arm.setTcp(tcp);
  } else if (name == "set_payload") {
    robot.payload.mass_kg = call.arguments[0].number;
    if (call.arguments.size() > 1) {
      robot.payload.cog_m = Vec3(call.arguments[1].list.data());
    }
  } else if (name == "set_gravity") {
    robot.gravity = Vec3(call.arguments[0].list.data());
  } else if (name == "zero_ftsensor") {
    robot.sensor.zero();
  } else if (name == "set_standard_digital_out" || name == "set_digital_out") {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<int>(call.number("", 0, 0));
    robot.digital_outputs =
        call.number("", 1, 0) != 0 ? robot.digital_outputs | bit : robot.digital_outputs & ~bit;
  } else if (name == "textmsg" && !call.arguments.empty()) {
    robot.text(TextLevel::kInfo, call.arguments[0].text);
  }
  return true;
}

}  // namespace s2r::ur
