#include "native/camera/frame_slots.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

namespace s2r::camera {

namespace {

constexpr uint64_t kAlign = 64;

constexpr uint64_t aligned(uint64_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

const SlotHeader* slotAt(const MemoryHeader* memory,
                         uint32_t slots,
                         uint64_t slot_bytes,
                         uint64_t count) {
  const auto* base = reinterpret_cast<const uint8_t*>(memory) + aligned(sizeof(MemoryHeader));
  return reinterpret_cast<const SlotHeader*>(base + (count % slots) * slot_bytes);
}

}  // namespace

MemoryLayout layoutFor(uint32_t slots, const std::vector<uint64_t>& plane_bytes) {
  if (slots < kMinSlots || slots > kMaxSlots) {
    throw CameraError("camera_config", std::to_string(slots) + " slots; " +
                                           std::to_string(kMinSlots) + " to " +
                                           std::to_string(kMaxSlots) + " are possible");
  }
  MemoryLayout out;
  out.slots = slots;
  out.slot_bytes = aligned(sizeof(SlotHeader));
  for (const uint64_t bytes : plane_bytes)
    out.slot_bytes += aligned(bytes);
  out.total_bytes = aligned(sizeof(MemoryHeader)) + out.slot_bytes * slots;
  if (out.total_bytes > kMaxMemoryBytes) {
    throw CameraError("camera_config", "the frames need " + std::to_string(out.total_bytes) +
                                           " bytes of shared memory, more than " +
                                           std::to_string(kMaxMemoryBytes) +
                                           ": ask for smaller images or fewer slots");
  }
  return out;
}

SlotWriter::SlotWriter(void* memory, const MemoryLayout& layout)
    : memory_(new (memory) MemoryHeader), layout_(layout) {
  memory_->slots = layout.slots;
  memory_->header_bytes = sizeof(MemoryHeader);
  memory_->slot_bytes = layout.slot_bytes;
  memory_->total_bytes = layout.total_bytes;
  for (uint32_t i = 0; i < layout.slots; ++i)
    new (slot(i)) SlotHeader;
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(memory_->magic, kMemoryMagic, sizeof(kMemoryMagic));
}

SlotHeader* SlotWriter::slot(uint64_t count) const {
  return const_cast<SlotHeader*>(slotAt(memory_, layout_.slots, layout_.slot_bytes, count));
}

void SlotWriter::begin() {
  SlotHeader* header = slot(next_);
  // A slot that was begun and not published stays odd; it is begun again.
  const uint64_t seq = header->seq.load(std::memory_order_relaxed);
  header->seq.store(seq | 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  used_ = aligned(sizeof(SlotHeader));
  std::fill(std::begin(planes_), std::end(planes_), PlaneHeader{});
}

void SlotWriter::addPlane(PlaneKind kind, const PlaneHeader& header, const RawPlane& pixels) {
  const size_t row =
      static_cast<size_t>(pixels.width) * static_cast<size_t>(bytesPerPixel(pixels.format));
  const uint64_t bytes = row * static_cast<size_t>(pixels.height);
  if (used_ + aligned(bytes) > layout_.slot_bytes) {
    throw CameraError("camera_stream", std::string(nameOf(kind)) + " of " +
                                           std::to_string(pixels.width) + " x " +
                                           std::to_string(pixels.height) +
                                           " pixels is larger than when the camera was opened");
  }
  uint8_t* to = reinterpret_cast<uint8_t*>(slot(next_)) + used_;
  for (int y = 0; y < pixels.height; ++y) {
    std::memcpy(to + static_cast<size_t>(y) * row,
                pixels.data + static_cast<size_t>(y) * static_cast<size_t>(pixels.stride_bytes),
                row);
  }
  PlaneHeader& out = planes_[static_cast<int>(kind)];
  out = header;
  out.present = 1;
  out.format = pixels.format;
  out.offset = used_;
  out.bytes = bytes;
  used_ += aligned(bytes);
}

uint64_t SlotWriter::publish(FrameHeader frame) {
  SlotHeader* header = slot(next_);
  frame.count = next_;
  std::copy(std::begin(planes_), std::end(planes_), std::begin(frame.planes));
  header->frame = frame;
  header->seq.store((header->seq.load(std::memory_order_relaxed) | 1) + 1,
                    std::memory_order_release);
  memory_->newest_count.store(next_, std::memory_order_release);
  return next_++;
}

void beat(void* memory, double now_s) {
  static_cast<MemoryHeader*>(memory)->heartbeat_ns.store(static_cast<uint64_t>(now_s * 1e9),
                                                         std::memory_order_relaxed);
}

SlotReader::SlotReader(const void* memory, uint64_t bytes)
    : memory_(static_cast<const MemoryHeader*>(memory)) {
  const bool header_fits = bytes >= aligned(sizeof(MemoryHeader)) &&
                           std::memcmp(memory_->magic, kMemoryMagic, sizeof(kMemoryMagic)) == 0 &&
                           memory_->header_bytes == sizeof(MemoryHeader);
  // Read once: later changes by the writer cannot move what is read.
  slots_ = header_fits ? memory_->slots : 0;
  slot_bytes_ = header_fits ? memory_->slot_bytes : 0;
  if (slots_ < kMinSlots || slots_ > kMaxSlots || slot_bytes_ < sizeof(SlotHeader) ||
      slot_bytes_ > kMaxMemoryBytes || slot_bytes_ % kAlign != 0 ||
      aligned(sizeof(MemoryHeader)) + slots_ * slot_bytes_ > bytes) {
    throw CameraError("camera_died", "the capture process left no usable frame memory of " +
                                         std::to_string(bytes) + " bytes");
  }
}

uint64_t SlotReader::newestCount() const {
  return memory_->newest_count.load(std::memory_order_acquire);
}

double SlotReader::heartbeatSeconds() const {
  return static_cast<double>(memory_->heartbeat_ns.load(std::memory_order_relaxed)) * 1e-9;
}

bool SlotReader::plausible(const FrameHeader& frame) const {
  constexpr PixelFormat kFormats[kPlanes] = {PixelFormat::kRgb8, PixelFormat::kZ16,
                                             PixelFormat::kY8, PixelFormat::kY8};
  for (int i = 0; i < kPlanes; ++i) {
    const PlaneHeader& plane = frame.planes[i];
    if (plane.present == 0)
      continue;
    const Intrinsics& k = plane.intrinsics;
    if (plane.format != kFormats[i] || plane.offset < sizeof(SlotHeader) ||
        plane.offset > slot_bytes_ || plane.offset % kAlign != 0 ||
        plane.bytes > slot_bytes_ - plane.offset || k.width < 1 || k.height < 1 || k.width > 8192 ||
        k.height > 8192 ||
        plane.bytes != static_cast<uint64_t>(k.width) * static_cast<uint64_t>(k.height) *
                           static_cast<uint64_t>(bytesPerPixel(plane.format))) {
      return false;
    }
  }
  return true;
}

SlotReader::Result SlotReader::peek(FrameHeader& out) const {
  for (int i = 0; i < kTries; ++i) {
    const uint64_t count = newestCount();
    if (count == 0)
      return Result::kNone;
    const SlotHeader* slot = slotAt(memory_, slots_, slot_bytes_, count);
    const uint64_t before = slot->seq.load(std::memory_order_acquire);
    if ((before & 1) != 0)
      continue;
    out = slot->frame;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot->seq.load(std::memory_order_relaxed) == before && plausible(out))
      return Result::kOk;
  }
  return Result::kTorn;
}

SlotReader::Result SlotReader::copyNewest(FrameCopy& out) {
  for (int i = 0; i < kTries; ++i) {
    const uint64_t count = newestCount();
    if (count == 0)
      return Result::kNone;
    const SlotHeader* slot = slotAt(memory_, slots_, slot_bytes_, count);
    const uint64_t before = slot->seq.load(std::memory_order_acquire);
    if ((before & 1) == 0) {
      out.frame = slot->frame;
      out.pixels.resize(slot_bytes_ - sizeof(SlotHeader));
      std::memcpy(out.pixels.data(), reinterpret_cast<const uint8_t*>(slot) + sizeof(SlotHeader),
                  out.pixels.size());
      std::atomic_thread_fence(std::memory_order_acquire);
      if (slot->seq.load(std::memory_order_relaxed) == before && plausible(out.frame))
        return Result::kOk;
    }
    ++torn_;
  }
  return Result::kTorn;
}

}  // namespace s2r::camera
