// What moves the arm's joint target: one Mover at a time, stepped once a cycle.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/emulators/ur-controller/arm.h"

namespace s2r::ur {

// A running program met something that ends it (as a runtime exception on the controller does).
class ScriptError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A motion that the controller answers with a protective stop.
class ProtectiveStop : public std::runtime_error {
 public:
  ProtectiveStop(int number, const std::string& what) : std::runtime_error(what), code(number) {}
  int code;
};

struct TargetState {
  Joints q = Joints::Zero(), qd = Joints::Zero();  // rad, rad/s of real time
};

class Mover {
 public:
  virtual ~Mover() = default;
  // Advances the target by one cycle at `rate` (1: full speed, 0: held by the slider or a pause)
  // and returns whether the motion has ended.
  virtual bool step(TargetState& target, double rate) = 0;
  // The arm was stopped from outside and goes on from where it stands.
  virtual void resumeFrom(const TargetState& target) = 0;
  // Where the tool is going, when that is a pose.
  [[nodiscard]] virtual std::optional<Transform> waypoint() const { return std::nullopt; }
};

// A leg of a path. Cartesian legs go along a straight line of the TCP.
struct PathLeg {
  bool cartesian = false;
  Joints q_rad = Joints::Zero();
  Transform X_base_tcp = Transform::Identity();
  double speed = 0, acceleration = 0;  // rad/s, rad/s^2 of the leading joint or m/s, m/s^2
  double blend_m = 0;
  int progress = -1;  // told when the leg starts; -1: nothing
};

struct ServoTarget {
  Joints q_rad = Joints::Zero();
  double time_s = kCycleS, lookahead_s = 0.1, gain = 300;
};

struct ServoCTarget {
  Transform X_base_tcp = Transform::Identity();
  double speed = 0.25, acceleration = 1.2;
};

struct SpeedTarget {
  bool cartesian = false;
  Joints velocity = Joints::Zero();
  double acceleration = 0.5;
};

// Holds a target that the program may replace while the motion runs.
template <typename T>
using Shared = std::shared_ptr<T>;

[[nodiscard]] std::unique_ptr<Mover> pathMover(const Arm& arm,
                                               const TargetState& start,
                                               std::vector<PathLeg> legs,
                                               Shared<int> progress);
[[nodiscard]] std::unique_ptr<Mover> servoMover(const TargetState& start,
                                                double rate,
                                                Shared<const ServoTarget> target);
[[nodiscard]] std::unique_ptr<Mover> servoCMover(const Arm& arm,
                                                 const TargetState& start,
                                                 Shared<const ServoCTarget> target);
[[nodiscard]] std::unique_ptr<Mover> speedMover(const Arm& arm,
                                                const TargetState& start,
                                                double rate,
                                                Shared<const SpeedTarget> target);
// Joint torques beside gravity, Nm.
[[nodiscard]] std::unique_ptr<Mover> torqueMover(const Arm& arm,
                                                 const Payload& payload,
                                                 Shared<const Joints> torque);
// Slows down along the present direction: leading joint at `deceleration` rad/s^2.
[[nodiscard]] std::unique_ptr<Mover> stopJointsMover(double deceleration);
// As above with the tool at `deceleration` m/s^2.
[[nodiscard]] std::unique_ptr<Mover> stopToolMover(const Arm& arm, double deceleration);

}  // namespace s2r::ur
