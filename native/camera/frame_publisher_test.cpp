#include "native/camera/frame_publisher.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace s2r::camera {
namespace {

class FramePublisherTest : public ::testing::Test {
 protected:
  static constexpr int kWidth = 32, kHeight = 24;

  FramePublisherTest()
      : publisher_({PlaneKind::kColor, PlaneKind::kDepth},
                   4,
                   0,
                   [this](const MemoryLayout& layout) {
                     bytes_ = (layout.total_bytes + 63) / 64 * 64;
                     memory_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, bytes_)));
                     std::memset(memory_.get(), 0, bytes_);
                     return memory_.get();
                   }) {}

  RawPlane plane(PlaneKind kind,
                 uint64_t number,
                 double stamp_s,
                 Domain domain = Domain::kHardwareClock) {
    RawPlane out;
    out.kind = kind;
    out.format = kind == PlaneKind::kColor ? PixelFormat::kRgb8 : PixelFormat::kZ16;
    out.width = kWidth;
    out.height = kHeight;
    out.stride_bytes = kWidth * bytesPerPixel(out.format);
    out.data = pixels_;
    out.frame_number = number;
    out.stamp_s = stamp_s;
    out.domain = domain;
    out.exposure_duration_s = 0.004;
    out.units_m = kind == PlaneKind::kDepth ? 0.0001 : 0;
    out.intrinsics = {kWidth, kHeight, 30, 30, 15.5, 11.5, Distortion::kNone, 0, {}};
    return out;
  }
  FrameSet set(std::vector<RawPlane> planes, double arrival_s) {
    FrameSet out;
    out.planes = std::move(planes);
    out.arrival_time_s = arrival_s;
    return out;
  }
  FrameCopy newest() {
    SlotReader reader(memory_.get(), bytes_);
    FrameCopy copy;
    EXPECT_EQ(reader.copyNewest(copy), SlotReader::Result::kOk);
    return copy;
  }

  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  uint8_t pixels_[kWidth * kHeight * 3] = {};
  std::unique_ptr<uint8_t, Free> memory_;
  uint64_t bytes_ = 0;
  FramePublisher publisher_;
};

TEST_F(FramePublisherTest, GapsOfEachStreamAreCounted) {
  EXPECT_EQ(
      publisher_.publish(set({plane(PlaneKind::kColor, 1, 1), plane(PlaneKind::kDepth, 7, 1)}, 10)),
      1u);
  EXPECT_EQ(publisher_.publish(
                set({plane(PlaneKind::kColor, 2, 1.1), plane(PlaneKind::kDepth, 10, 1.1)}, 10.1)),
            2u);
  const FrameCopy copy = newest();
  EXPECT_EQ(copy.frame.planes[0].lost, 0u);
  EXPECT_EQ(copy.frame.planes[1].lost, 2u);
  EXPECT_EQ(copy.frame.planes[1].units_m, 0.0001);
}

TEST_F(FramePublisherTest, TheEarliestExposureOfAllPlanesIsTheFrames) {
  (void)publisher_.publish(
      set({plane(PlaneKind::kColor, 1, 1.0), plane(PlaneKind::kDepth, 1, 1.0)}, 10));
  (void)publisher_.publish(
      set({plane(PlaneKind::kColor, 2, 1.05), plane(PlaneKind::kDepth, 2, 1.1)}, 10.1));
  const FrameCopy copy = newest();
  EXPECT_NEAR(copy.frame.planes[0].exposure_time_s, 10.05, 1e-9);
  EXPECT_NEAR(copy.frame.planes[1].exposure_time_s, 10.1, 1e-9);
  EXPECT_NEAR(copy.frame.earliest_time_s, 10.048, 1e-9);
}

TEST_F(FramePublisherTest, ASlowStreamsFrameMayComeAgainAndKeepsItsTime) {
  (void)publisher_.publish(
      set({plane(PlaneKind::kColor, 1, 1.0), plane(PlaneKind::kDepth, 1, 1.0)}, 10));
  EXPECT_EQ(publisher_.publish(
                set({plane(PlaneKind::kColor, 1, 1.0), plane(PlaneKind::kDepth, 2, 1.1)}, 10.1)),
            2u);
  EXPECT_NEAR(newest().frame.earliest_time_s, 9.998, 1e-9);  // the old colour's
}

TEST_F(FramePublisherTest, IncompleteAndMixedSetsAreRefusedAndCounted) {
  (void)publisher_.publish(
      set({plane(PlaneKind::kColor, 1, 1.0), plane(PlaneKind::kDepth, 1, 1.0)}, 10));
  EXPECT_EQ(publisher_.publish(set({plane(PlaneKind::kDepth, 2, 1.1)}, 10.1)), 0u);
  EXPECT_EQ(publisher_.publish(set({plane(PlaneKind::kColor, 3, 1.2),
                                    plane(PlaneKind::kDepth, 3, 1.7e9, Domain::kSystemTime)},
                                   10.2)),
            0u);
  EXPECT_EQ(publisher_.refused(), 2u);
}

TEST_F(FramePublisherTest, ClocksThatStayMixedAreAFault) {
  int sets = 0;
  try {
    for (; sets < 100; ++sets)
      (void)publisher_.publish(set({plane(PlaneKind::kColor, static_cast<uint64_t>(sets), sets),
                                    plane(PlaneKind::kDepth, static_cast<uint64_t>(sets),
                                          1.7e9 + sets, Domain::kSystemTime)},
                                   sets));
    FAIL();
  } catch (const CameraError& error) {
    EXPECT_EQ(error.code(), "camera_clock");
    EXPECT_EQ(sets, FramePublisher::kMixedLimit - 1);
  }
}

TEST_F(FramePublisherTest, ARecordingsNextRoundIsARestartNotALoss) {
  (void)publisher_.publish(
      set({plane(PlaneKind::kColor, 50, 5.0), plane(PlaneKind::kDepth, 50, 5.0)}, 10));
  FrameSet again = set({plane(PlaneKind::kColor, 1, 1.0), plane(PlaneKind::kDepth, 1, 1.0)}, 11);
  again.clock_restarted = true;
  EXPECT_EQ(publisher_.publish(again), 2u);
  const FrameCopy copy = newest();
  EXPECT_EQ(copy.frame.planes[0].lost, 0u);
  EXPECT_EQ(copy.frame.clock_restarts, 1u);
  EXPECT_NEAR(copy.frame.planes[0].exposure_time_s, 11, 1e-9);
}

TEST_F(FramePublisherTest, ImagesThatGrowDoNotLeaveTheirSlot) {
  (void)publisher_.publish(
      set({plane(PlaneKind::kColor, 1, 1.0), plane(PlaneKind::kDepth, 1, 1.0)}, 10));
  std::vector<uint8_t> large(640 * 480 * 3);
  RawPlane color = plane(PlaneKind::kColor, 2, 1.1);
  color.width = 640;
  color.height = 480;
  color.stride_bytes = 640 * 3;
  color.data = large.data();
  EXPECT_THROW((void)publisher_.publish(set({color, plane(PlaneKind::kDepth, 2, 1.1)}, 10.1)),
               CameraError);
  // The slot that was begun does not count; the next good frame does.
  EXPECT_EQ(publisher_.publish(
                set({plane(PlaneKind::kColor, 3, 1.2), plane(PlaneKind::kDepth, 3, 1.2)}, 10.2)),
            2u);
  EXPECT_EQ(newest().frame.planes[0].frame_number, 3u);
}

}  // namespace
}  // namespace s2r::camera
