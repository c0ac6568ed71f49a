#include "native/camera/config.h"

#include <gtest/gtest.h>

namespace s2r::camera {
namespace {

std::string refusal(std::string_view text) {
  try {
    (void)parseConfig(text);
  } catch (const CameraError& error) {
    EXPECT_EQ(error.code(), "camera_config");
    return error.what();
  }
  return "accepted";
}

TEST(Config, ReadsALiveCamera) {
  const CameraConfig config = parseConfig(
      R"({"name":"wrist","source":{"kind":"realsense","library":"x.so","serial":"1","emitter":false,"exposure_us":900},)"
      R"("streams":{"color":{"width":848,"height":480,"fps":60},"depth":{}},"slots":8})");
  EXPECT_EQ(config.source, SourceKind::kRealsense);
  EXPECT_EQ(config.realsense.emitter, 0);
  EXPECT_EQ(config.realsense.exposure_us, 900);
  EXPECT_EQ(config.color.width, 848);
  EXPECT_EQ(config.depth.fps, 30);
  EXPECT_FALSE(config.infrared.wanted);
  EXPECT_EQ(config.slots, 8u);
}

TEST(Config, RefusesWhatItDoesNotKnow) {
  const std::string unknown = refusal(
      R"({"name":"a","source":{"kind":"plant","address":"x","camera":"y","seriall":1},"streams":{"color":{}}})");
  EXPECT_NE(unknown.find("unknown key \"seriall\""), std::string::npos) << unknown;
  EXPECT_NE(refusal("{").find("not JSON"), std::string::npos);
  EXPECT_NE(
      refusal(R"({"name":"a","source":{"kind":"usb"},"streams":{"color":{}}})").find("library"),
      std::string::npos);
  EXPECT_NE(
      refusal(R"({"name":"a","source":{"kind":"plant","address":"x","camera":"y"},"streams":{}})")
          .find("names none"),
      std::string::npos);
  EXPECT_NE(
      refusal(
          R"({"name":"a","source":{"kind":"plant","address":"x","camera":"y"},"streams":{"color":{"fps":0}}})")
          .find("from 1.0 to 300.0"),
      std::string::npos);
  EXPECT_NE(
      refusal(
          R"({"name":"a","source":{"kind":"plant","address":"x","camera":"y"},"streams":{"color":{}},"slots":5.5})")
          .find("whole number"),
      std::string::npos);
}

}  // namespace
}  // namespace s2r::camera
