#include "native/camera/device_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace s2r::camera {
namespace {

RawPlane stamped(double stamp_s, Domain domain = Domain::kHardwareClock) {
  RawPlane plane;
  plane.stamp_s = stamp_s;
  plane.domain = domain;
  plane.exposure_duration_s = 0.008;
  return plane;
}

TEST(DeviceClock, MapsAFastDriftingClockWithinTheTransportsJitter) {
  // Device clock: offset of an hour, 50 ppm fast. Transport: 5 ms and up to 40 ms more.
  DeviceClock clock(0.005);
  std::mt19937 random(3);
  std::exponential_distribution<double> delay(100);
  for (int i = 0; i < 30 * 120; ++i) {
    const double exposed = 1000 + i / 30.0;
    const double arrival = exposed + 0.005 + std::min(0.04, delay(random));
    const auto reading = clock.read(stamped(3600 + exposed * 1.00005), arrival, 0);
    ASSERT_TRUE(reading.ok);
    ASSERT_LE(reading.middle_time_s, arrival);
    if (i > 60) {
      ASSERT_NEAR(reading.middle_time_s, exposed, 0.0025);
      // The true begin of the exposure is never before what is said.
      ASSERT_LE(reading.earliest_time_s, exposed - 0.004 + 0.0025);
    }
  }
  EXPECT_EQ(clock.regressions(), 0u);
}

TEST(DeviceClock, NeverRunsBackwardsWhenTheOffsetGetsBetter) {
  DeviceClock clock(0);
  double last = -1;
  for (int i = 0; i < 100; ++i) {
    const double exposed = i / 90.0;
    const auto reading = clock.read(stamped(5 + exposed), exposed + (i < 50 ? 0.2 : 0.001), 0);
    ASSERT_TRUE(reading.ok);
    ASSERT_GT(reading.middle_time_s, last);
    last = reading.middle_time_s;
  }
  EXPECT_NEAR(last, 99 / 90.0 + 0.001, 1e-6);
}

TEST(DeviceClock, UnwrapsA32BitMicrosecondCounter) {
  DeviceClock clock(0);
  for (int i = 0; i < 60; ++i) {
    const double device = std::fmod(DeviceClock::kWrapS - 1 + i / 30.0, DeviceClock::kWrapS);
    const auto reading = clock.read(stamped(device), 10 + i / 30.0, 0);
    ASSERT_TRUE(reading.ok);
    ASSERT_NEAR(reading.middle_time_s, 10 + i / 30.0, 1e-6);
  }
  EXPECT_EQ(clock.wraps(), 1u);
  EXPECT_EQ(clock.regressions(), 0u);
}

TEST(DeviceClock, RefusesStampsThatStandStillAndStartsAnewAfterARestart) {
  DeviceClock clock(0);
  ASSERT_TRUE(clock.read(stamped(100), 1, 0).ok);
  EXPECT_FALSE(clock.read(stamped(100), 1.03, 0).ok);
  EXPECT_FALSE(clock.read(stamped(99), 1.06, 0).ok);
  EXPECT_TRUE(clock.read(stamped(100.1), 1.1, 0).ok);
  // The device restarted: its counter is far below.
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const auto reading = clock.read(stamped(1 + i / 30.0), 2 + i / 30.0, 0);
    refused += reading.ok ? 0 : 1;
    if (reading.ok) {
      EXPECT_NEAR(reading.middle_time_s, 2 + i / 30.0, 1e-6);
    }
  }
  EXPECT_EQ(refused, DeviceClock::kRestartAfter - 1);
}

TEST(DeviceClock, SystemTimeIsCarriedOverByTheHostsOwnClocks) {
  DeviceClock clock(0.03);
  const double wall_minus_monotonic = 1.7e9;
  const auto reading =
      clock.read(stamped(1.7e9 + 50, Domain::kSystemTime), 50.01, wall_minus_monotonic);
  ASSERT_TRUE(reading.ok);
  EXPECT_NEAR(reading.middle_time_s, 49.97, 1e-6);
  EXPECT_NEAR(reading.earliest_time_s, 49.97 - 0.004 - 0.03, 1e-6);
}

TEST(DeviceClock, AChangeOfDomainBeginsANewMap) {
  DeviceClock clock(0);
  ASSERT_TRUE(clock.read(stamped(100), 1, 0).ok);
  const auto reading = clock.read(stamped(7, Domain::kMonotonic), 7.2, 0);
  ASSERT_TRUE(reading.ok);
  EXPECT_TRUE(reading.restarted);
  EXPECT_EQ(reading.middle_time_s, 7);
  EXPECT_EQ(clock.domainChanges(), 1u);
}

TEST(DeviceClock, TheFutureIsClampedAndSaid) {
  DeviceClock clock(0);
  const auto reading = clock.read(stamped(7.04, Domain::kMonotonic), 7, 0);
  ASSERT_TRUE(reading.ok);
  EXPECT_TRUE(reading.clamped);
  EXPECT_EQ(reading.middle_time_s, 7);
}

TEST(DeviceClock, MetadataMovesTheTimeToTheMiddleOfTheExposure) {
  DeviceClock clock(0);
  RawPlane plane = stamped(100);
  plane.stamp_minus_middle_s = 0.003226;
  plane.exposure_duration_s = 0.006452;
  const auto reading = clock.read(plane, 5, 0);
  EXPECT_NEAR(reading.middle_time_s, 5 - 0.003226, 1e-9);
  EXPECT_NEAR(reading.earliest_time_s, 5 - 0.006452, 1e-9);
}

TEST(DeviceClock, RefusesAStampThatIsNoNumber) {
  DeviceClock clock(0);
  EXPECT_FALSE(clock.read(stamped(std::nan("")), 1, 0).ok);
}

TEST(FrameCounter, CountsWhatWasSkippedAndForgivesARestart) {
  FrameCounter counter;
  EXPECT_EQ(counter.next(10), 0u);
  EXPECT_EQ(counter.next(11), 0u);
  EXPECT_EQ(counter.next(15), 3u);
  EXPECT_EQ(counter.next(1), 0u);
  EXPECT_EQ(counter.next(2), 0u);
  EXPECT_EQ(counter.lost(), 3u);
}

}  // namespace
}  // namespace s2r::camera
