#include "native/camera/frame_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "native/camera/frame_view.h"

namespace s2r::camera {
namespace {

struct Memory {
  explicit Memory(const MemoryLayout& layout)
      : bytes(layout.total_bytes),
        data(static_cast<uint8_t*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64))) {
    std::memset(data, 0, bytes);
  }
  ~Memory() { std::free(data); }
  uint64_t bytes;
  uint8_t* data;
};

constexpr int kWidth = 64, kHeight = 48;

void writeFrame(SlotWriter& writer, uint8_t value, double earliest_s = 0) {
  std::vector<uint8_t> pixels(kWidth * kHeight * 3 + 480, value);
  RawPlane plane;
  plane.kind = PlaneKind::kColor;
  plane.format = PixelFormat::kRgb8;
  plane.width = kWidth;
  plane.height = kHeight;
  plane.stride_bytes = kWidth * 3 + 10;
  plane.data = pixels.data();
  PlaneHeader header;
  header.intrinsics.width = kWidth;
  header.intrinsics.height = kHeight;
  header.intrinsics.fx = header.intrinsics.fy = 60;
  header.frame_number = value;
  writer.begin();
  writer.addPlane(PlaneKind::kColor, header, plane);
  FrameHeader frame;
  frame.earliest_time_s = earliest_s;
  writer.publish(frame);
}

TEST(FrameSlots, TheNewestFrameIsReadWithItsRowsTight) {
  const MemoryLayout layout = layoutFor(4, {kWidth * kHeight * 3});
  Memory memory(layout);
  SlotWriter writer(memory.data, layout);
  SlotReader reader(memory.data, memory.bytes);
  FrameCopy copy;
  EXPECT_EQ(reader.copyNewest(copy), SlotReader::Result::kNone);
  for (int i = 1; i <= 11; ++i)
    writeFrame(writer, static_cast<uint8_t>(i));
  ASSERT_EQ(reader.copyNewest(copy), SlotReader::Result::kOk);
  EXPECT_EQ(copy.frame.count, 11u);
  const uint8_t* pixels = copy.plane(PlaneKind::kColor);
  ASSERT_NE(pixels, nullptr);
  for (int i = 0; i < kWidth * kHeight * 3; ++i)
    ASSERT_EQ(pixels[i], 11);
  EXPECT_EQ(copy.plane(PlaneKind::kDepth), nullptr);
}

TEST(FrameSlots, ASlotThatIsBeingWrittenIsNeverTaken) {
  const MemoryLayout layout = layoutFor(4, {kWidth * kHeight * 3});
  Memory memory(layout);
  SlotWriter writer(memory.data, layout);
  SlotReader reader(memory.data, memory.bytes);
  writeFrame(writer, 1);
  // The writer dies in the middle of the slot that the newest count names.
  auto* slot = reinterpret_cast<SlotHeader*>(memory.data + 64 + layout.slot_bytes);
  slot->seq.store(slot->seq.load() | 1);
  FrameCopy copy;
  FrameHeader header;
  EXPECT_EQ(reader.copyNewest(copy), SlotReader::Result::kTorn);
  EXPECT_EQ(reader.peek(header), SlotReader::Result::kTorn);
  EXPECT_GT(reader.torn(), 0u);
}

TEST(FrameSlots, NoMixtureOfTwoFramesIsEverRead) {
  const MemoryLayout layout = layoutFor(4, {kWidth * kHeight * 3});
  Memory memory(layout);
  SlotWriter writer(memory.data, layout);
  writeFrame(writer, 1);
  std::atomic<bool> ending{false};
  std::thread thread([&] {
    for (int i = 0; !ending; ++i)
      writeFrame(writer, static_cast<uint8_t>(i));
  });
  SlotReader reader(memory.data, memory.bytes);
  FrameCopy copy;
  int taken = 0;
  uint64_t last = 0;
  for (int i = 0; i < 3000; ++i) {
    if (reader.copyNewest(copy) != SlotReader::Result::kOk)
      continue;
    const uint8_t* pixels = copy.plane(PlaneKind::kColor);
    for (int j = 0; j < kWidth * kHeight * 3; ++j)
      ASSERT_EQ(pixels[j], copy.frame.planes[0].frame_number & 255);
    ASSERT_GE(copy.frame.count, last);
    last = copy.frame.count;
    ++taken;
  }
  ending = true;
  thread.join();
  EXPECT_GT(taken, 100);
}

TEST(FrameSlots, MemoryThatAWriterSpoiledIsRefused) {
  const MemoryLayout layout = layoutFor(4, {kWidth * kHeight * 3});
  Memory memory(layout);
  EXPECT_THROW(SlotReader(memory.data, memory.bytes), CameraError);  // nothing written yet
  SlotWriter writer(memory.data, layout);
  writeFrame(writer, 1);
  EXPECT_THROW(SlotReader(memory.data, memory.bytes / 2), CameraError);
  SlotReader reader(memory.data, memory.bytes);
  auto* slot = reinterpret_cast<SlotHeader*>(memory.data + 64 + layout.slot_bytes);
  FrameCopy copy;
  slot->frame.planes[0].bytes = 1ull << 40;
  EXPECT_EQ(reader.copyNewest(copy), SlotReader::Result::kTorn);
  slot->frame.planes[0].bytes = kWidth * kHeight * 3;
  slot->frame.planes[0].offset = ~0ull;
  EXPECT_EQ(reader.copyNewest(copy), SlotReader::Result::kTorn);
}

// Random bytes over the whole memory: whatever a writer gone mad leaves, the reader stays within
// its bounds.
TEST(FrameSlots, RandomMemoryNeverTakesTheReaderOutOfBounds) {
  const MemoryLayout layout = layoutFor(4, {kWidth * kHeight * 3});
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    Memory memory(layout);
    SlotWriter writer(memory.data, layout);
    writeFrame(writer, 1);
    SlotReader reader(memory.data, memory.bytes);
    for (int i = 0; i < 40; ++i)
      memory.data[64 + random() % (layout.slot_bytes * 2)] = static_cast<uint8_t>(random());
    FrameCopy copy;
    if (reader.copyNewest(copy) == SlotReader::Result::kOk &&
        copy.plane(PlaneKind::kColor) != nullptr) {
      const PlaneHeader& plane = copy.frame.planes[0];
      ASSERT_LE(plane.offset - sizeof(SlotHeader) + plane.bytes, copy.pixels.size());
    }
  }
}

TEST(FrameSlots, TooManySlotsOrBytesAreRefused) {
  EXPECT_THROW((void)layoutFor(3, {100}), CameraError);
  EXPECT_THROW((void)layoutFor(9, {100}), CameraError);
  EXPECT_THROW((void)layoutFor(8, {1ull << 28}), CameraError);
}

TEST(FrameView, AnOlderExposureIsNotTaken) {
  const MemoryLayout layout = layoutFor(4, {kWidth * kHeight * 3});
  Memory memory(layout);
  SlotWriter writer(memory.data, layout);
  writeFrame(writer, 9, 100.0);
  FrameView view(SlotReader(memory.data, memory.bytes));
  std::vector<uint8_t> rgb(kWidth * kHeight * 3);
  ViewBuffers to;
  to.rgb = rgb;
  View out;
  ViewOptions options;
  options.not_before_s = 100.001;
  EXPECT_EQ(view.read(options, to, out), FrameView::Result::kOlder);
  EXPECT_EQ(rgb[0], 0);
  options.not_before_s = 100.0;
  EXPECT_EQ(view.read(options, to, out), FrameView::Result::kOk);
  EXPECT_EQ(rgb[0], 9);
  std::vector<uint8_t> small(10);
  to.rgb = small;
  EXPECT_THROW((void)view.read(options, to, out), CameraError);
}

}  // namespace
}  // namespace s2r::camera
