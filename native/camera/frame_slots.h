// Newest-frame slots in shared memory: one writer (the capture process), any number of readers, no
// locks.
//
// Layout: MemoryHeader, then `slots` slots of `slot_bytes`, each a SlotHeader followed by its
// planes. A slot's seq is odd while it is written (a seqlock): a reader copies it and takes the
// copy only if seq was even and the same before and after. The newest frame has number newest_count
// and lies in slot newest_count % slots.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/camera/types.h"

namespace s2r::camera {

inline constexpr char kMemoryMagic[8] = {'S', '2', 'R', 'C', 'A', 'M', '0', '1'};
inline constexpr uint32_t kMinSlots = 4;
inline constexpr uint32_t kMaxSlots = 8;
inline constexpr uint64_t kMaxMemoryBytes = 1ull << 30;

// One plane of a published frame. Times are CLOCK_MONOTONIC.
struct PlaneHeader {
  uint32_t present = 0;
  PixelFormat format = PixelFormat::kNone;
  uint64_t offset = 0;  // from the slot's start
  uint64_t bytes = 0;
  uint64_t frame_number = 0;
  uint64_t lost = 0;  // frames of this stream skipped so far
  double stamp_s = kUnknown;
  double exposure_time_s = kUnknown;  // middle of the exposure
  double earliest_time_s = kUnknown;  // the exposure began no earlier
  double exposure_duration_s = kUnknown;
  double uncertainty_s = kUnknown;
  double units_m = 0;
  Domain domain = Domain::kHardwareClock;
  uint32_t clamped = 0;
  uint32_t has_metadata = 0;
  uint32_t reserved = 0;
  Intrinsics intrinsics;
  Transform X_reference_plane;
};

struct FrameHeader {
  uint64_t count = 0;  // 1 for the first frame
  double arrival_time_s = 0;
  double earliest_time_s = 0;  // of all planes: what not_before is compared with
  double published_time_s = 0;
  uint64_t clock_restarts = 0;
  uint64_t refused =
      0;  // sets that were not published: stamps did not advance or domains were mixed
  PlaneHeader planes[kPlanes];
};

struct alignas(64) SlotHeader {
  std::atomic<uint64_t> seq{0};
  FrameHeader frame;
};

struct alignas(64) MemoryHeader {
  char magic[8] = {};
  uint32_t slots = 0;
  uint32_t header_bytes = 0;
  uint64_t slot_bytes = 0;
  uint64_t total_bytes = 0;
  std::atomic<uint64_t> newest_count{0};
  std::atomic<uint64_t> heartbeat_ns{0};  // CLOCK_MONOTONIC, renewed by the process every 50 ms
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Where the parts of a memory with these capacities lie.
struct MemoryLayout {
  uint32_t slots = 0;
  uint64_t slot_bytes = 0;
  uint64_t total_bytes = 0;
};
[[nodiscard]] MemoryLayout layoutFor(uint32_t slots, const std::vector<uint64_t>& plane_bytes);

// Writes frames into memory that it does not own. One thread.
class SlotWriter {
 public:
  SlotWriter(void* memory, const MemoryLayout& layout);

  // Begins the next slot; then planes are added, then it is published.
  void begin();
  // Copies the rows of one plane, without gaps between them. Throws camera_stream where it does not
  // fit.
  void addPlane(PlaneKind kind, const PlaneHeader& header, const RawPlane& pixels);
  uint64_t publish(FrameHeader frame);

 private:
  [[nodiscard]] SlotHeader* slot(uint64_t count) const;

  MemoryHeader* memory_;
  MemoryLayout layout_;
  uint64_t next_ = 1;
  uint64_t used_ = 0;
  PlaneHeader planes_[kPlanes];
};

void beat(void* memory, double now_s);

// A frame copied out of a slot.
struct FrameCopy {
  FrameHeader frame;
  std::vector<uint8_t> pixels;  // planes at their offsets - sizeof(SlotHeader)

  [[nodiscard]] const uint8_t* plane(PlaneKind kind) const {
    const PlaneHeader& header = frame.planes[static_cast<int>(kind)];
    return header.present != 0 ? pixels.data() + (header.offset - sizeof(SlotHeader)) : nullptr;
  }
};

// Reads newest frames out of memory that it does not own and that its writer may change or leave
// half written.
class SlotReader {
 public:
  // Throws camera_died where the memory does not begin with a header that fits its size.
  SlotReader(const void* memory, uint64_t bytes);

  enum class Result { kOk, kNone, kTorn };

  [[nodiscard]] uint64_t newestCount() const;
  [[nodiscard]] double heartbeatSeconds() const;
  // The header of the newest frame only.
  [[nodiscard]] Result peek(FrameHeader& out) const;
  // The whole frame; tries again, up to kTries times, when the writer came around during the copy.
  [[nodiscard]] Result copyNewest(FrameCopy& out);
  [[nodiscard]] uint64_t torn() const { return torn_; }

 private:
  static constexpr int kTries = 4;
  [[nodiscard]] bool plausible(const FrameHeader& frame) const;

  const MemoryHeader* memory_;
  uint64_t slot_bytes_ = 0;
  uint32_t slots_ = 0;
  uint64_t torn_ = 0;
};

}  // namespace s2r::camera
