#include "native/arm/core/snapshot.h"

#include <atomic>
#include <stdexcept>

namespace s2r::arm {

const std::array<SnapshotFieldInfo, kSnapshotFieldCount> kSnapshotFields = {{
    {"time_s", kFieldTime, 1, false},
    {"robot_time_s", kFieldRobotTime, 1, false},
    {"state", kFieldState, 1, false},
    {"fault_code", kFieldFaultCode, 1, false},
    {"stop_latched", kFieldStopLatched, 1, false},
    {"stop_epoch", kFieldStopEpoch, 1, false},
    {"stop_source", kFieldStopSource, 1, false},
    {"stops_served", kFieldStopsServed, 1, false},
    {"action", kFieldAction, 1, false},
    {"robot_ready", kFieldRobotReady, 1, false},
    {"remote_control", kFieldRemoteControl, 1, false},
    {"program_running", kFieldProgramRunning, 1, false},
    {"runtime_state", kFieldRuntimeState, 1, false},
    {"robot_mode", kFieldRobotMode, 1, false},
    {"safety_bits", kFieldSafetyBits, 1, false},
    {"speed_scaling", kFieldSpeedScaling, 1, false},
    {"target_speed_fraction", kFieldTargetSpeedFraction, 1, false},
    {"stale_cycles", kFieldStaleCycles, 1, false},
    {"fault_value", kFieldFaultValue, 1, false},
    {"fault_limit", kFieldFaultLimit, 1, false},
    {"fault_joint", kFieldFaultJoint, 1, false},
    {"fault_zone", kFieldFaultZone, 1, false},
    {"fault_body", kFieldFaultBody, 1, false},
    {"fault_time_s", kFieldFaultTime, 1, false},
    {"q_rad", kFieldQ, 6, false},
    {"qd_rad_s", kFieldQd, 6, false},
    {"robot_target_q_rad", kFieldRobotTargetQ, 6, false},
    {"setpoint_rad", kFieldSetpoint, 6, false},
    {"setpoint_vel_rad_s", kFieldSetpointVelocity, 6, false},
    {"tcp_pose_base", kFieldTcpPoseBase, 6, false},
    {"tcp_wrench_world", kFieldWrenchWorld, 6, false},
    {"X_world_tcp", kFieldXWorldTcp, 16, false},
    {"group", kFieldGroup, 1, false},
    {"motion_active", kFieldMotionActive, 1, false},
    {"end_reason", kFieldEndReason, 1, false},
    {"fraction_done", kFieldFractionDone, 1, false},
    {"reached_point", kFieldReachedPoint, 1, false},
    {"mean_force_n", kFieldMeanForce, 1, false},
    {"path_time_s", kFieldPathTime, 1, false},
    {"path_duration_s", kFieldPathDuration, 1, false},
    {"time_scale", kFieldTimeScale, 1, false},
    {"path_error_rad", kFieldPathError, 1, false},
    {"contact_force_world_n", kFieldContactForce, 3, false},
    {"has_contact_force", kFieldHasContactForce, 1, false},
    {"cycles", kFieldCycles, 1, false},
    {"missed_cycles", kFieldMissedCycles, 1, false},
    {"late_cycles", kFieldLateCycles, 1, false},
    {"stale_cycles_total", kFieldStaleTotal, 1, false},
    {"robot_gaps", kFieldRobotGaps, 1, false},
    {"tracker_fallbacks", kFieldTrackerFallbacks, 1, false},
    {"lateness_max_s", kFieldLatenessMax, 1, false},
    {"link_phase", kFieldLinkPhase, 1, false},
    {"lateness_histogram", kFieldLatenessHistogram, 13, false},
    {"scheduled_s", kFieldScheduledTime, 1, false},
    {"setpoint_acc_rad_s2", kFieldSetpointAcceleration, 6, false},
    {"stop_reason", kFieldStopReason, 12, true},
    {"fault_text", kFieldFaultText, 20, true},
    {"end", kSnapshotWords, 0, false},
}};

void fillSnapshot(const CycleInput& in, const CycleOutput& out, Snapshot& snapshot) noexcept {
  auto& w = snapshot.word;
  const auto set = [&w](SnapshotField field, auto value) {
    w[static_cast<size_t>(field)] = static_cast<double>(value);
  };
  const auto copy = [&w](SnapshotField field, const auto& values) {
    std::copy(values.begin(), values.end(), w.begin() + field);
  };
  set(kFieldTime, in.now_s);
  set(kFieldRobotTime, in.sample.robot_time_s);
  set(kFieldState, out.state);
  set(kFieldFaultCode, out.fault.code);
  set(kFieldStopLatched, out.stop_latched);
  set(kFieldStopEpoch, out.stop_epoch);
  set(kFieldStopSource, out.stop_source);
  set(kFieldStopsServed, out.stops_served);
  set(kFieldAction, out.action);
  set(kFieldRobotReady, out.robot_ready);
  set(kFieldRemoteControl, in.sample.remote_control);
  set(kFieldProgramRunning, in.sample.program_running);
  set(kFieldRuntimeState, in.sample.runtime_state);
  set(kFieldRobotMode, in.sample.robot_mode);
  set(kFieldSafetyBits, in.sample.safety_bits);
  set(kFieldSpeedScaling, in.sample.speed_scaling);
  set(kFieldTargetSpeedFraction, in.sample.target_speed_fraction);
  set(kFieldStaleCycles, out.stale_cycles);
  set(kFieldFaultValue, out.fault.value);
  set(kFieldFaultLimit, out.fault.limit);
  set(kFieldFaultJoint, out.fault.joint);
  set(kFieldFaultZone, out.fault.zone);
  set(kFieldFaultBody, out.fault.body);
  set(kFieldFaultTime, out.fault.time_s);
  copy(kFieldQ, in.sample.q_rad);
  copy(kFieldQd, in.sample.qd_rad_s);
  copy(kFieldRobotTargetQ, in.sample.q_target_rad);
  copy(kFieldSetpoint, out.setpoint_rad);
  copy(kFieldSetpointVelocity, out.setpoint_vel_rad_s);
  copy(kFieldSetpointAcceleration, out.setpoint_acc_rad_s2);
  copy(kFieldTcpPoseBase, in.sample.tcp_pose_base);
  copy(kFieldWrenchWorld, out.tcp_wrench_world);
  copy(kFieldXWorldTcp, out.X_world_tcp);
  set(kFieldGroup, out.motion.group);
  set(kFieldMotionActive, out.motion_active);
  set(kFieldEndReason, out.motion.end_reason);
  set(kFieldFractionDone, out.motion.fraction_done);
  set(kFieldReachedPoint, out.motion.reached_point);
  set(kFieldMeanForce, out.motion.mean_force_n);
  set(kFieldPathTime, out.path_time_s);
  set(kFieldPathDuration, out.path_duration_s);
  set(kFieldTimeScale, out.time_scale);
  set(kFieldPathError, out.path_error_rad);
  copy(kFieldContactForce, out.motion.contact_force_world_n);
  set(kFieldHasContactForce, out.motion.has_contact_force);
  const CycleCounters& c = out.counters;
  set(kFieldCycles, c.cycles);
  set(kFieldMissedCycles, c.missed_cycles);
  set(kFieldLateCycles, c.late_cycles);
  set(kFieldStaleTotal, c.stale_cycles);
  set(kFieldRobotGaps, c.robot_gaps);
  set(kFieldTrackerFallbacks, c.tracker_fallbacks);
  set(kFieldLatenessMax, c.lateness_max_s);
  set(kFieldLinkPhase, in.link);
  copy(kFieldLatenessHistogram, c.lateness_histogram);
  set(kFieldScheduledTime, in.scheduled_s);
  std::memcpy(&w[kFieldStopReason], out.stop_reason.bytes, sizeof out.stop_reason.bytes);
  std::memcpy(&w[kFieldFaultText], out.fault.text.bytes, sizeof out.fault.text.bytes);
}

namespace {

using Word = std::atomic_ref<uint64_t>;
static_assert(Word::is_always_lock_free);
constexpr int kTries = 4;

uint64_t* wordAt(char* memory, size_t byte) {
  return reinterpret_cast<uint64_t*>(memory + byte);
}

}  // namespace

SnapshotRing::SnapshotRing(void* memory, uint32_t slots)
    : memory_(static_cast<char*>(memory)), slots_(slots) {
  if (slots < 2 || reinterpret_cast<uintptr_t>(memory) % 8 != 0) {
    throw std::invalid_argument(
        "a snapshot ring needs at least 2 slots and memory aligned to 8 bytes");
  }
  std::memset(memory_, 0, bytesFor(slots));
  const uint32_t header[4] = {kMagic, kVersion, static_cast<uint32_t>(kSlotBytes), slots};
  std::memcpy(memory_, header, sizeof header);
}

uint64_t* SnapshotRing::slot(uint64_t number) const noexcept {
  return wordAt(memory_, kHeaderBytes + static_cast<size_t>(number % slots_) * kSlotBytes);
}

// Every store releases what came before it and every load acquires, so that no fence is needed: a
// reader that sees a word of the new snapshot also sees the odd sequence.
void SnapshotRing::write(const Snapshot& snapshot) noexcept {
  Word count(*wordAt(memory_, 16));
  const uint64_t number = count.load(std::memory_order_relaxed);
  uint64_t* words = slot(number);
  Word(words[0]).store(2 * number + 1, std::memory_order_relaxed);
  for (size_t i = 0; i < kSnapshotWords; ++i) {
    uint64_t bits;
    std::memcpy(&bits, &snapshot.word[i], sizeof bits);
    Word(words[i + 1]).store(bits, std::memory_order_release);
  }
  Word(words[0]).store(2 * number + 2, std::memory_order_release);
  count.store(number + 1, std::memory_order_release);
}

uint64_t SnapshotRing::written() const noexcept {
  return Word(*wordAt(memory_, 16)).load(std::memory_order_acquire);
}

bool SnapshotRing::at(uint64_t number, Snapshot& snapshot) const noexcept {
  uint64_t* words = slot(number);
  const uint64_t complete = 2 * number + 2;
  if (Word(words[0]).load(std::memory_order_acquire) != complete) {
    return false;
  }
  for (size_t i = 0; i < kSnapshotWords; ++i) {
    const uint64_t bits = Word(words[i + 1]).load(std::memory_order_acquire);
    std::memcpy(&snapshot.word[i], &bits, sizeof bits);
  }
  return Word(words[0]).load(std::memory_order_relaxed) == complete;
}

bool SnapshotRing::newest(Snapshot& snapshot) const noexcept {
  for (int i = 0; i < kTries; ++i) {
    const uint64_t count = written();
    if (count == 0) {
      return false;
    }
    if (at(count - 1, snapshot)) {
      return true;
    }
  }
  return false;
}

}  // namespace s2r::arm
