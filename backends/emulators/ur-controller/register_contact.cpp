// Commands 25 tool contact, 51 move until contact, 62..64 contact detection, 254 contact reached.
#include "backends/emulators/ur-controller/register_program.h"

namespace s2r::ur {

namespace {

Vec3 head(const Vec6& v) {
  return Vec3(v[0], v[1], v[2]);
}

}  // namespace

bool RegisterProgram::processContact(int command, Robot& robot) {
  switch (command) {
    case 25:
      intOut(robot, 1, robot.history.contactSteps(head(vectorIn(robot, 0))));
      return true;
    case 51: {
      stopAsyncMove(robot);
      refuseWhileRepeating();
      speed_->cartesian = true;
      speed_->velocity = toJoints(targetIn(robot, 0));
      speed_->acceleration = doubleIn(robot, 12);
      robot.motion.speed(speed_);
      const Vec3 direction = head(vectorIn(robot, 6));
      waits_.emplace_back([this, direction](Robot& r) {
        const int steps = r.history.contactSteps(direction);
        if (steps > 0) {
          returnToContact(r, steps);
        }
        return steps > 0;
      });
      return true;
    }
    case 62:
      contact_direction_ = vectorIn(robot, 0);
      contact_steps_ = 0;
      contact_ = Contact::kClear;
      return true;
    case 63:
      contact_ = Contact::kOff;
      [[fallthrough]];
    case 64:
      intOut(robot, 1, contact_steps_);
      return true;
    case 254:
      stopAsyncMove(robot);
      refuseWhileRepeating();
      returnToContact(robot, contact_steps_);
      return true;
    default:
      return false;
  }
}

void RegisterProgram::contactThread(Robot& robot) {
  double sum = 0;
  for (const double x : contact_direction_) {
    sum += x;
  }
  Vec3 direction = head(contact_direction_);
  if (sum < 1e-10) {
    direction = (robot.arm.jacobian(robot.motion.target().q) * robot.motion.target().qd).head<3>();
  }
  const int steps = robot.history.contactSteps(direction);
  if (contact_ == Contact::kClear) {
    contact_ = steps > 0 ? Contact::kClear : Contact::kWatch;
    return;
  }
  if (steps > 0) {
    contact_ = Contact::kOff;
    contact_steps_ = steps;
    internal_command_ = 254;
  }
}

void RegisterProgram::returnToContact(Robot& robot, int steps) {
  const Joints q_contact = robot.history.q(static_cast<std::size_t>(steps));
  robot.motion.stopTool(3);
  waits_.emplace_back([q_contact](Robot& r) {
    if (!r.motion.idle()) {
      return false;
    }
    PathLeg leg;
    leg.cartesian = true;
    leg.q_rad = q_contact;
    leg.X_base_tcp = r.arm.tool(q_contact);
    leg.speed = 0.25;
    leg.acceleration = 1.2;
    r.motion.path({leg}, nullptr);
    return true;
  });
  waitForMotion();
}

}  // namespace s2r::ur
