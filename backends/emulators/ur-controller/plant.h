// The arm itself: either a first-order follower of the joint target, or the shared memory of a
// plant that simulates arm and world.
//
// Shared memory, little-endian, mapped by the plant, this controller and the gripper: magic
// "S2RPLT01", u32 size 2048; then blocks that start with a u64 sequence counter, odd while their
// one writer is at work: arm command at 64 (writer: this), arm state at 256, rig truth at 896.
#pragma once

#include <memory>
#include <string>

#include "backends/emulators/ur-controller/arm.h"

namespace s2r::ur {

struct PlantState {
  Joints q = Joints::Zero(), qd = Joints::Zero();
  Joints torque = Joints::Zero();
  bool has_torque = false;
  Vec6 wrench_base{};  // what the world exerts on the TCP, base axes
  double reset_count = 0;
};

class Plant {
 public:
  virtual ~Plant() = default;
  // `driven`: the brakes are open and the target is followed.
  virtual void command(const Joints& q_target_rad,
                       bool driven,
                       std::uint64_t cycle,
                       double host_time_s) = 0;
  [[nodiscard]] virtual PlantState state() = 0;
};

class FirstOrderPlant : public Plant {
 public:
  explicit FirstOrderPlant(const Joints& q_rad) { state_.q = q_rad; }
  void command(const Joints& q_target_rad,
               bool driven,
               std::uint64_t cycle,
               double host_time_s) override;
  [[nodiscard]] PlantState state() override { return state_; }

 private:
  PlantState state_;
};

// Maps the memory and waits until its magic and a first arm state are there; throws
// std::runtime_error with the path and the reason.
class SharedPlant : public Plant {
 public:
  SharedPlant(const std::string& path, double wait_s);
  ~SharedPlant() override;
  SharedPlant(const SharedPlant&) = delete;
  SharedPlant& operator=(const SharedPlant&) = delete;
  void command(const Joints& q_target_rad,
               bool driven,
               std::uint64_t cycle,
               double host_time_s) override;
  [[nodiscard]] PlantState state() override;
  [[nodiscard]] KinematicDeltas deltas();

 private:
  unsigned char* memory_ = nullptr;
  PlantState last_;
};

}  // namespace s2r::ur
