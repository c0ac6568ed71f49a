// What other threads read of the loop.
#pragma once

#include <cstdint>

#include "native/arm/core/cycle.h"
#include "native/arm/core/snapshot.h"

namespace s2r::arm {

// Of the newest step. Stored last in a cycle, so that whoever sees a stop served also sees its
// snapshot.
struct StopState {
  std::uint64_t served = 0;
  std::uint64_t stop_epoch = 0;
  double time_s = 0;  // when the newest stop was latched
  bool latched = false;
  StopSource source = StopSource::kRequest;
  FixedText<96> reason;
};

// Snapshots that the ring keeps: 8 s.
inline constexpr std::uint32_t kKeptSnapshots = 4096;

[[nodiscard]] inline double timeOf(const Snapshot& snapshot) {
  return snapshot.word[kFieldTime];
}

[[nodiscard]] inline State stateOf(const Snapshot& snapshot) {
  return static_cast<State>(snapshot.word[kFieldState]);
}

// The latched fault, as it was in this cycle.
[[nodiscard]] FaultDetail faultOf(const Snapshot& snapshot);

// The snapshots around a time, before <= time_s <= after; false where they are not kept (any more).
[[nodiscard]] bool snapshotsAround(const SnapshotRing& ring,
                                   double time_s,
                                   Snapshot& before,
                                   Snapshot& after);

}  // namespace s2r::arm
