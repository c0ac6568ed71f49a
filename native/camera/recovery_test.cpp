// The ladder's order, and the capture loop over a source that misbehaves.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "native/camera/capture.h"

namespace s2r::camera {
namespace {

TEST(RecoveryLadder, RestartsThenResetsThenGivesUp) {
  RecoveryLadder ladder(true);
  EXPECT_EQ(ladder.next(true), RecoveryStep::kRestart);
  EXPECT_EQ(ladder.next(true), RecoveryStep::kRestart);
  EXPECT_EQ(ladder.next(true), RecoveryStep::kHardwareReset);
  EXPECT_EQ(ladder.next(true), RecoveryStep::kGiveUp);
}

TEST(RecoveryLadder, WithoutAResetItGivesUpEarlier) {
  RecoveryLadder ladder(false);
  (void)ladder.next(true);
  (void)ladder.next(true);
  EXPECT_EQ(ladder.next(true), RecoveryStep::kGiveUp);
}

TEST(RecoveryLadder, ADeviceThatIsAwayIsWaitedForTwice) {
  RecoveryLadder ladder(true);
  EXPECT_EQ(ladder.next(false), RecoveryStep::kWaitForDevice);
  EXPECT_EQ(ladder.next(false), RecoveryStep::kWaitForDevice);
  EXPECT_EQ(ladder.next(false), RecoveryStep::kGiveUp);
}

TEST(RecoveryLadder, OnlySteadyFramesForgetWhatWasTried) {
  RecoveryLadder ladder(true);
  (void)ladder.next(true);
  (void)ladder.next(true);
  for (int i = 0; i < RecoveryLadder::kSteadyFrames - 1; ++i)
    ladder.frame();
  EXPECT_EQ(ladder.next(true), RecoveryStep::kHardwareReset);
  for (int i = 0; i < RecoveryLadder::kSteadyFrames; ++i)
    ladder.frame();
  EXPECT_EQ(ladder.next(true), RecoveryStep::kRestart);
}

// Gives frames until it stalls; what heals it is up to the test.
struct Script {
  int opens = 0, closes = 0, resets = 0;
  int stall_after = 5;
  int heal_at_open = 0;   // this open ends the stall
  int heal_at_reset = 0;  // this reset does
  bool bad_units = false;
  bool away = false;
  bool open_fails = false;
  std::chrono::milliseconds hang{0};
};

class ScriptedSource : public Source {
 public:
  explicit ScriptedSource(Script& script) : script_(script) {}
  void open() override {
    ++script_.opens;
    if (script_.open_fails)
      throw CameraError("camera_library", "cannot open");
    if (script_.opens == script_.heal_at_open)
      healed_ = true;
  }
  bool next(double timeout_s, FrameSet& out) override {
    if (script_.hang.count() > 0)
      std::this_thread::sleep_for(script_.hang);
    if (script_.bad_units)
      throw CameraError("camera_units", "0 m");
    if (!healed_ && number_ >= script_.stall_after) {
      std::this_thread::sleep_for(std::chrono::duration<double>(timeout_s));
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    RawPlane plane;
    plane.kind = PlaneKind::kColor;
    plane.format = PixelFormat::kRgb8;
    plane.width = plane.height = 16;
    plane.stride_bytes = 48;
    plane.data = pixels_;
    plane.frame_number = static_cast<uint64_t>(++number_);
    plane.stamp_s = monotonicSeconds();
    plane.domain = Domain::kMonotonic;
    plane.intrinsics = {16, 16, 20, 20, 7.5, 7.5, Distortion::kNone, 0, {}};
    out.planes = {plane};
    out.arrival_time_s = monotonicSeconds();
    return true;
  }
  void close() override { ++script_.closes; }
  [[nodiscard]] DeviceInfo info() const override { return {}; }
  bool hardwareReset() override {
    if (++script_.resets == script_.heal_at_reset)
      healed_ = true;
    return true;
  }
  bool present() override { return !script_.away; }

 private:
  Script& script_;
  bool healed_ = false;
  int number_ = 0;
  uint8_t pixels_[768] = {};
};

class CaptureTest : public ::testing::Test {
 protected:
  // Runs until so many frames came or it ended by itself.
  void run(int frames, double limit_s = 20) {
    CameraConfig config;
    config.name = "t";
    config.source = SourceKind::kRealsense;
    config.realsense.reset_wait_s = 0.3;
    config.color.wanted = true;
    config.stall_s = 0.05;
    CaptureHooks hooks;
    hooks.memory = [this](const MemoryLayout& layout) {
      memory_.resize(layout.total_bytes / 64 + 1);
      return static_cast<void*>(memory_.data());
    };
    hooks.event = [this](const nlohmann::json& event) {
      events_.push_back(event.at("event") == "ready" ? "ready"
                                                     : event.at("code").get<std::string>());
    };
    int seen = 0;
    Capture* running = nullptr;
    hooks.frame = [&] {
      if (++seen >= frames)
        running->stop();
    };
    Capture counted(config, hooks);
    running = &counted;
    std::thread limit([&] {
      for (double t = 0; t < limit_s && !ended_; t += 0.01)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      counted.stop();
    });
    counted.run([this](const CameraConfig&) { return std::make_unique<ScriptedSource>(script_); });
    ended_ = true;
    limit.join();
    frames_ = seen;
    faulted_ = counted.faulted();
  }

  struct alignas(64) Block {
    uint8_t bytes[64];
  };
  Script script_;
  std::vector<Block> memory_;
  std::vector<std::string> events_;
  std::atomic<bool> ended_{false};
  int frames_ = 0;
  bool faulted_ = false;
};

using Events = std::vector<std::string>;

TEST_F(CaptureTest, ARestartBringsFramesBack) {
  script_.heal_at_open = 2;
  run(10);
  EXPECT_EQ(events_, (Events{"ready", "restart_stream", "recovered"}));
  EXPECT_EQ(frames_, 10);
  EXPECT_FALSE(faulted_);
}

TEST_F(CaptureTest, AResetComesAfterTwoRestarts) {
  script_.heal_at_reset = 1;
  run(10);
  EXPECT_EQ(events_,
            (Events{"ready", "restart_stream", "restart_stream", "hardware_reset", "recovered"}));
}

TEST_F(CaptureTest, NothingHelpsIsAFaultWithItsCode) {
  run(10);
  EXPECT_EQ(events_, (Events{"ready", "restart_stream", "restart_stream", "hardware_reset",
                             "camera_stalled"}));
  EXPECT_TRUE(faulted_);
  EXPECT_EQ(frames_, 5);
}

TEST_F(CaptureTest, ADeviceThatStaysAwayIsNotFound) {
  script_.away = true;
  run(10);
  EXPECT_EQ(events_, (Events{"ready", "wait_for_device", "wait_for_device", "camera_not_found"}));
  EXPECT_EQ(script_.opens, 1);
}

TEST_F(CaptureTest, AFailedOpenAtTheStartIsToldAtOnce) {
  script_.open_fails = true;
  run(10);
  EXPECT_EQ(events_, (Events{"camera_library"}));
}

TEST_F(CaptureTest, DepthUnitsOfZeroAreWaitedOutThenRefused) {
  script_.bad_units = true;
  run(10);
  EXPECT_EQ(events_, (Events{"camera_units"}));
}

TEST_F(CaptureTest, ACallThatDoesNotReturnIsOverdue) {
  script_.hang = std::chrono::milliseconds(2600);
  CameraConfig config;
  config.name = "t";
  config.color.wanted = true;
  CaptureHooks hooks;
  hooks.memory = [](const MemoryLayout&) { return nullptr; };
  hooks.event = [](const nlohmann::json&) {};
  hooks.frame = [] {};
  script_.stall_after = 0;
  Capture capture(config, hooks);
  std::thread worker([&] {
    capture.run([this](const CameraConfig&) { return std::make_unique<ScriptedSource>(script_); });
  });
  std::string overdue;
  for (int i = 0; i < 500 && overdue.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    overdue = capture.overdue();
  }
  EXPECT_EQ(overdue, "waiting for a frame");
  capture.stop();
  worker.join();
}

}  // namespace
}  // namespace s2r::camera
