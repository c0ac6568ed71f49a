#include "native/gripper/frames.h"

#include <gtest/gtest.h>

namespace s2r::gripper {
namespace {

TEST(Frames, BytesOfTheDocumentedExamples) {
  Bytes out;
  appendFrame(out, Command::kEnable);
  EXPECT_EQ(out, (Bytes{0x0B, 0, 0, 0, 0, 0x0D, 0x0A}));
  out.clear();
  appendFrame(out, Command::kPosition, 1.0F);
  EXPECT_EQ(out, (Bytes{0x16, 0x00, 0x00, 0x80, 0x3F, 0x0D, 0x0A}));
  out.clear();
  appendFrame(out, Command::kCurrent, 1.0F);
  EXPECT_EQ(out, (Bytes{0x0F, 0x00, 0x00, 0x80, 0x3F, 0x0D, 0x0A}));
  out.clear();
  appendFrame(out, Command::kVelocityPair, 1.0F, -2.0F);
  EXPECT_EQ(out, (Bytes{0x0D, 0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0, 0x0D, 0x0A}));
}

TEST(Frames, EachDialectHasItsCodes) {
  Bytes sdk;
  appendCurrentLimit(sdk, Dialect::kSdk, 1.0);
  appendVelocity(sdk, Dialect::kSdk, 1.0);
  EXPECT_EQ(sdk.size(), 21U);
  EXPECT_EQ(sdk[0], 20);
  EXPECT_EQ(sdk[7], 15);
  EXPECT_EQ(sdk[14], 21);
  Bytes ros;
  appendCurrentLimit(ros, Dialect::kRos, 1.0);
  appendVelocity(ros, Dialect::kRos, 1.0);
  EXPECT_EQ(ros.size(), 18U);
  EXPECT_EQ(ros[0], 15);
  EXPECT_EQ(ros[7], 13);
  EXPECT_EQ(positionCommand(Dialect::kSdk), Command::kPosition);
  EXPECT_EQ(positionCommand(Dialect::kRos), Command::kPositionSpeed);
}

TEST(Frames, AnUnknownDialectNeverGetsElevenBytes) {
  Bytes out;
  appendCurrentLimit(out, Dialect::kAuto, 1.0);
  appendVelocity(out, Dialect::kAuto, 1.0);
  ASSERT_EQ(out.size() % 7, 0U);
  for (size_t i = 0; i < out.size(); i += 7)
    EXPECT_NE(out[i], 13);
}

}  // namespace
}  // namespace s2r::gripper
