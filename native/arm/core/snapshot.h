// One cycle as a row of numbers, and the ring through which other threads (and JavaScript) read the
// newest one.
//
// Ring memory, little-endian, 8-byte aligned, one writer and any number of readers that never wait
// and are never waited for:
//   byte 0   u32 magic 0x41523253 ("S2RA")     byte 4   u32 version 1
//   byte 8   u32 bytes of a slot (1280)        byte 12  u32 number of slots
//   byte 16  u64 how many snapshots were written (the newest is number count - 1, in slot (count -
//   1) % slots) byte 64  slots. Each: u64 sequence, then kSnapshotWords f64.
// The sequence of snapshot n is 2 n + 1 while it is written and 2 n + 2 when it is complete. A
// reader takes the low 32 bits of the sequence before and after copying (Atomics.load on an
// Int32Array) and tries again where they differ or are odd. All fields are f64 but the two texts,
// which are UTF-8 bytes padded with zeros. Offsets: SnapshotField, in words.
#pragma once

#include <string>

#include "native/arm/core/config.h"

namespace s2r::arm {

enum SnapshotField : int {
  kFieldTime = 0,         // CLOCK_MONOTONIC [s]
  kFieldRobotTime = 1,    // RTDE timestamp [s]
  kFieldState = 2,        // State
  kFieldFaultCode = 3,    // FaultCode
  kFieldStopLatched = 4,  // 0 or 1
  kFieldStopEpoch = 5,
  kFieldStopSource = 6,
  kFieldStopsServed = 7,
  kFieldAction = 8,
  kFieldRobotReady = 9,
  kFieldRemoteControl = 10,
  kFieldProgramRunning = 11,
  kFieldRuntimeState = 12,
  kFieldRobotMode = 13,
  kFieldSafetyBits = 14,
  kFieldSpeedScaling = 15,
  kFieldTargetSpeedFraction = 16,
  kFieldStaleCycles = 17,
  kFieldFaultValue = 18,
  kFieldFaultLimit = 19,
  kFieldFaultJoint = 20,
  kFieldFaultZone = 21,
  kFieldFaultBody = 22,
  kFieldFaultTime = 23,
  kFieldQ = 24,                 // 6, measured
  kFieldQd = 30,                // 6
  kFieldRobotTargetQ = 36,      // 6, the controller's own target
  kFieldSetpoint = 42,          // 6
  kFieldSetpointVelocity = 48,  // 6
  kFieldTcpPoseBase = 54,       // 6, as the controller says
  kFieldWrenchWorld = 60,       // 6
  kFieldXWorldTcp = 66,         // 16, by the configured kinematics
  kFieldGroup = 82,
  kFieldMotionActive = 83,
  kFieldEndReason = 84,
  kFieldFractionDone = 85,
  kFieldReachedPoint = 86,
  kFieldMeanForce = 87,
  kFieldPathTime = 88,
  kFieldPathDuration = 89,
  kFieldTimeScale = 90,
  kFieldPathError = 91,
  kFieldContactForce = 92,  // 3
  kFieldHasContactForce = 95,
  kFieldCycles = 96,
  kFieldMissedCycles = 97,
  kFieldLateCycles = 98,
  kFieldStaleTotal = 99,
  kFieldRobotGaps = 100,
  kFieldTrackerFallbacks = 101,
  kFieldLatenessMax = 102,
  kFieldLinkPhase = 103,
  kFieldLatenessHistogram = 104,  // 13
  kFieldScheduledTime = 117,
  kFieldSetpointAcceleration = 118,  // 6
  kFieldStopReason = 124,            // text, 96 bytes
  kFieldFaultText = 136,             // text, 160 bytes
  kSnapshotWords = 156,
};

struct SnapshotFieldInfo {
  const char* name;
  int word, words;
  bool text;
};
inline constexpr int kSnapshotFieldCount = 58;
extern const std::array<SnapshotFieldInfo, kSnapshotFieldCount>
    kSnapshotFields;  // in order, without gaps

struct Snapshot {
  std::array<double, kSnapshotWords> word{};
};

void fillSnapshot(const CycleInput& input, const CycleOutput& output, Snapshot& snapshot) noexcept;

class SnapshotRing {
 public:
  static constexpr uint32_t kMagic = 0x41523253, kVersion = 1;
  static constexpr size_t kHeaderBytes = 64, kSlotBytes = 1280;
  static_assert(kSlotBytes >= 8 + 8 * kSnapshotWords);

  [[nodiscard]] static constexpr size_t bytesFor(uint32_t slots) {
    return kHeaderBytes + slots * kSlotBytes;
  }
  // `memory` (8-byte aligned, bytesFor(slots) bytes, zeroed here) must outlive the ring. At least 2
  // slots.
  SnapshotRing(void* memory, uint32_t slots);

  void write(const Snapshot& snapshot) noexcept;  // by the one writer
  [[nodiscard]] uint64_t written() const noexcept;
  // False: none was written yet, or the writer overran the reader each time.
  bool newest(Snapshot& snapshot) const noexcept;
  // Snapshot number n; false where it is not in the ring (any more).
  bool at(uint64_t number, Snapshot& snapshot) const noexcept;

 private:
  [[nodiscard]] uint64_t* slot(uint64_t number) const noexcept;
  char* memory_;
  uint32_t slots_;
};

}  // namespace s2r::arm
