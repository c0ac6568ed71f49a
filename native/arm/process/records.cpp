#include "native/arm/process/records.h"

#include <cstring>

namespace s2r::arm {

FaultDetail faultOf(const Snapshot& snapshot) {
  FaultDetail fault;
  fault.code = static_cast<FaultCode>(snapshot.word[kFieldFaultCode]);
  fault.joint = static_cast<std::int32_t>(snapshot.word[kFieldFaultJoint]);
  fault.zone = static_cast<std::int32_t>(snapshot.word[kFieldFaultZone]);
  fault.body = static_cast<std::int32_t>(snapshot.word[kFieldFaultBody]);
  fault.value = snapshot.word[kFieldFaultValue];
  fault.limit = snapshot.word[kFieldFaultLimit];
  fault.time_s = snapshot.word[kFieldFaultTime];
  std::memcpy(fault.text.bytes, &snapshot.word[kFieldFaultText], sizeof(fault.text.bytes));
  fault.text.bytes[sizeof(fault.text.bytes) - 1] = '\0';
  return fault;
}

bool snapshotsAround(const SnapshotRing& ring, double time_s, Snapshot& before, Snapshot& after) {
  const std::uint64_t count = ring.written();
  if (count < 2) {
    return false;
  }
  std::uint64_t high = count - 1;
  std::uint64_t low = count > kKeptSnapshots - 2 ? count - (kKeptSnapshots - 2) : 0;
  // The oldest may be overwritten while we look.
  while (!ring.at(low, before)) {
    if (++low >= high) {
      return false;
    }
  }
  if (!ring.at(high, after) || !(time_s >= timeOf(before)) || !(time_s <= timeOf(after))) {
    return false;
  }
  Snapshot middle;
  while (high - low > 1) {
    const std::uint64_t index = low + (high - low) / 2;
    if (!ring.at(index, middle)) {
      return false;
    }
    if (timeOf(middle) <= time_s) {
      low = index;
      before = middle;
    } else {
      high = index;
      after = middle;
    }
  }
  return true;
}

}  // namespace s2r::arm
