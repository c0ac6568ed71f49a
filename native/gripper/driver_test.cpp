// The driver on a pseudo-terminal, against a small device that runs in a thread of the test.
#include "native/gripper/driver.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace s2r::gripper {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Answers each position command by being there; tells its state every 5 ms.
class PtyDevice {
 public:
  PtyDevice() {
    char name[128];
    if (::openpty(&master_, &slave_, name, nullptr, nullptr) != 0)
      throw std::runtime_error("openpty");
    termios line{};
    ::tcgetattr(slave_, &line);
    ::cfmakeraw(&line);
    ::tcsetattr(slave_, TCSANOW, &line);
    path_ = name;
    thread_ = std::thread([this] { run(); });
  }
  ~PtyDevice() { unplug(); }
  PtyDevice(const PtyDevice&) = delete;
  PtyDevice& operator=(const PtyDevice&) = delete;

  void unplug() {
    stop_ = true;
    if (thread_.joinable())
      thread_.join();
    if (master_ >= 0)
      ::close(master_);
    if (slave_ >= 0)
      ::close(slave_);
    master_ = slave_ = -1;
  }
  // Without an own end of the slave, the master sees the driver go.
  void letGoOfSlave() {
    ::close(slave_);
    slave_ = -1;
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool enabled() const { return enabled_; }
  std::atomic<bool> silent = false;
  // Of the way to a target, between two reports.
  std::atomic<float> most_step_rad = 0.1F;
  [[nodiscard]] float target_rad() const { return target_rad_; }

 private:
  void run() {
    std::vector<uint8_t> held;
    while (!stop_) {
      pollfd polled = {master_, POLLIN, 0};
      ::poll(&polled, 1, 5);
      uint8_t buffer[256];
      if ((polled.revents & POLLIN) != 0) {
        const ssize_t count = ::read(master_, buffer, sizeof buffer);
        if (count > 0)
          held.insert(held.end(), buffer, buffer + count);
      }
      while (held.size() >= 7) {
        const size_t size = held[0] == 'G' ? 10 : held[0] == 13 ? 11 : 7;
        if (held.size() < size)
          break;
        float value = 0.0F;
        std::memcpy(&value, &held[1], 4);
        if (held[0] == 11)
          enabled_ = true;
        if (held[0] == 10)
          enabled_ = false;
        if (held[0] == 22 && enabled_)
          target_rad_ = value;
        held.erase(held.begin(), held.begin() + static_cast<ptrdiff_t>(size));
      }
      const float step = most_step_rad;
      angle_rad_ = angle_rad_ + std::clamp(target_rad_ - angle_rad_, -step, step);
      if (silent)
        continue;
      char text[256];
      const int size = std::snprintf(
          text, sizeof text,
          "{\r\n\"motor\":{\"Speed\":0,\r\n\"Current\":0,\"Position\":%.4f,},\"motorstatus\":{"
          "\"Status\":\"%s\"}}\r\n{\"Version\":\"1.2\"}",
          static_cast<double>(angle_rad_), enabled_ ? "0x40" : "0x00");
      [[maybe_unused]] const ssize_t sent = ::write(master_, text, static_cast<size_t>(size));
    }
  }

  int master_ = -1;
  int slave_ = -1;
  std::string path_;
  std::atomic<float> angle_rad_ = 0.5F;
  std::atomic<float> target_rad_ = 0.5F;
  std::atomic<bool> enabled_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Waits for events with a generous deadline.
class Events {
 public:
  void add(const Event& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
  }
  [[nodiscard]] std::optional<Event> wait(EventType type, size_t nth = 1) {
    std::unique_lock lock(mutex_);
    std::optional<Event> found;
    changed_.wait_for(lock, seconds(10), [&] {
      size_t seen = 0;
      for (const Event& event : events_) {
        if (event.type == type && ++seen == nth)
          found = event;
      }
      return found.has_value();
    });
    return found;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
};

DriverOptions optionsFor(const std::string& path) {
  DriverOptions options;
  options.port.path = path;
  options.settings.dialect = Dialect::kSdk;
  // The machine that runs this may be busy.
  options.settings.timing.stale_s = 1.0;
  return options;
}

TEST(DriverTest, OpensMovesAndTellsItsState) {
  PtyDevice device;
  Events events;
  Driver driver(optionsFor(device.path()), [&](const Event& e) { events.add(e); });
  ASSERT_TRUE(events.wait(EventType::kReady));
  EXPECT_EQ(driver.state().version, "1.2");
  const auto reply = driver.move({0.06, {}, {}});
  ASSERT_FALSE(reply.refusal);
  const auto end = events.wait(EventType::kMotionEnded);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, EndReason::kCompleted);
  EXPECT_NEAR(end->opening_m, 0.06, 0.0006);
  EXPECT_TRUE(device.enabled());
  EXPECT_EQ(driver.resolvedPath(), device.path());
}

TEST(DriverTest, AStopOfSomebodyElseHoldsIt) {
  PtyDevice device;
  device.most_step_rad = 1e-3F;
  Events events;
  Driver driver(optionsFor(device.path()), [&](const Event& e) { events.add(e); });
  ASSERT_TRUE(events.wait(EventType::kReady));
  ASSERT_FALSE(driver.move({0.0, {}, {}}).refusal);
  const auto until = std::chrono::steady_clock::now() + seconds(10);
  while (device.target_rad() > 0.01F && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(1));
  const uint64_t one = 1;
  ASSERT_EQ(::write(driver.stopDescriptor(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  const auto end = events.wait(EventType::kMotionEnded);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, EndReason::kStopped);
  while (device.target_rad() < 0.01F && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_GT(device.target_rad(), 0.01F) << "the present opening is commanded";
  // The next move is not held by what was signalled before it.
  device.most_step_rad = 10.0F;
  ASSERT_FALSE(driver.move({0.03, {}, {}}).refusal);
  const auto next = events.wait(EventType::kMotionEnded, 2);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->reason, EndReason::kCompleted);
}

TEST(DriverTest, NoMoveStartsAfterAStopThatItsAskerHasNotSeen) {
  PtyDevice device;
  Events events;
  Driver driver(optionsFor(device.path()), [&](const Event& e) { events.add(e); });
  ASSERT_TRUE(events.wait(EventType::kReady));
  const float before_rad = device.target_rad();
  for (int i = 0; i < 50; ++i) {
    const uint64_t seen = driver.stops();
    const uint64_t one = 1;
    ASSERT_EQ(::write(driver.stopDescriptor(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    if (i % 2 == 1)
      std::this_thread::sleep_for(milliseconds(2));  // the thread has taken it, or has not
    const auto refused = driver.move({0.02, {}, {}, seen}).refusal;
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, code::kStopped);
    EXPECT_EQ(driver.stops(), seen + 1);
  }
  EXPECT_EQ(device.target_rad(), before_rad);
  ASSERT_FALSE(driver.move({0.06, {}, {}, driver.stops()}).refusal);
  const auto end = events.wait(EventType::kMotionEnded);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, EndReason::kCompleted);
}

TEST(DriverTest, TheLineIsRawFastAndExclusive) {
  PtyDevice device;
  Events events;
  Driver driver(optionsFor(device.path()), [&](const Event& e) { events.add(e); });
  ASSERT_TRUE(events.wait(EventType::kReady));
  Events others;
  Driver second(optionsFor(device.path()), [&](const Event& e) { others.add(e); });
  const auto fault = others.wait(EventType::kFault);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->failure.code, code::kInUse);
  EXPECT_TRUE(driver.state().fault.code.empty());
}

TEST(DriverTest, SetsTheLineItself) {
  PtyDevice device;
  SerialPort port;
  ASSERT_FALSE(port.open({device.path(), ""}));
  termios line{};
  ASSERT_EQ(::tcgetattr(port.fd(), &line), 0);
  EXPECT_EQ(::cfgetispeed(&line), B460800);
  EXPECT_EQ(line.c_cflag & (CSIZE | PARENB | CSTOPB | HUPCL | CRTSCTS), static_cast<tcflag_t>(CS8));
  EXPECT_NE(line.c_cflag & CLOCAL, 0U);
  EXPECT_EQ(line.c_lflag & (ICANON | ECHO | ISIG), 0U);
  int exclusive = 0;
  ASSERT_EQ(::ioctl(port.fd(), TIOCGEXCL, &exclusive), 0);
  EXPECT_NE(exclusive, 0);
}

TEST(DriverTest, WhatCannotBeOpenedSaysWhy) {
  SerialPort port;
  EXPECT_EQ(port.open({"/dev/serial/by-path/none", ""})->code, code::kNotFound);
  EXPECT_EQ(port.open({"/dev/null", ""})->code, code::kNotSerial);
  PtyDevice device;
  EXPECT_EQ(port.open({device.path(), "FT123"})->code, code::kWrongDevice);
}

TEST(DriverTest, UnpluggedThenReplacedUnderTheSameLink) {
  const auto link =
      std::filesystem::temp_directory_path() / ("s2r-gripper-test-" + std::to_string(::getpid()));
  std::filesystem::remove(link);
  auto first = std::make_unique<PtyDevice>();
  std::filesystem::create_symlink(first->path(), link);
  Events events;
  Driver driver(optionsFor(link.string()), [&](const Event& e) { events.add(e); });
  ASSERT_TRUE(events.wait(EventType::kReady));
  first->unplug();
  const auto fault = events.wait(EventType::kFault);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->failure.code, code::kUnplugged);
  std::filesystem::remove(link);
  ASSERT_FALSE(driver.move({0.03, {}, {}}).refusal);
  const auto lost = events.wait(EventType::kMotionEnded);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->failure.code, code::kNotFound);
  PtyDevice second;
  std::filesystem::create_symlink(second.path(), link);
  ASSERT_FALSE(driver.move({0.03, {}, {}}).refusal);
  const auto end = events.wait(EventType::kMotionEnded, 2);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason, EndReason::kCompleted);
  EXPECT_EQ(driver.counters().opened, 2U);
  std::filesystem::remove(link);
}

TEST(DriverTest, SilenceIsAFault) {
  PtyDevice device;
  Events events;
  Driver driver(optionsFor(device.path()), [&](const Event& e) { events.add(e); });
  ASSERT_TRUE(events.wait(EventType::kReady));
  device.silent = true;
  const auto fault = events.wait(EventType::kFault);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->failure.code, code::kStale);
}

TEST(DriverTest, ClosingHoldsOrReleases) {
  for (const bool release : {false, true}) {
    PtyDevice device;
    Events events;
    DriverOptions options = optionsFor(device.path());
    options.release_on_close = release;
    Driver driver(options, [&](const Event& e) { events.add(e); });
    ASSERT_TRUE(events.wait(EventType::kReady));
    EXPECT_EQ(driver.close(), release);
    EXPECT_EQ(device.enabled(), !release);
    EXPECT_EQ(driver.move({0.03, {}, {}}).refusal->code, code::kClosed);
  }
}

TEST(DriverTest, ClosingAtAnyTimeReturns) {
  for (int i = 0; i < 20; ++i) {
    PtyDevice device;
    Events events;
    Driver driver(optionsFor(device.path()), [&](const Event& e) { events.add(e); });
    std::this_thread::sleep_for(milliseconds(i * 3));
    driver.close();
  }
}

}  // namespace
}  // namespace s2r::gripper
