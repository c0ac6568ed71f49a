#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "native/arm/link/control_thread.h"

namespace s2r::arm {
namespace {

// What the fake did, and a gate that holds it up.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  bool blocked = false;
  bool fails = false;
  std::vector<double> sent;
  int kicks = 0;
  int destroyed = 0;

  void pass() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !blocked; });
  }
  void block(bool on) {
    const std::lock_guard lock(mutex);
    blocked = on;
    changed.notify_all();
  }
  std::size_t sentCount() {
    const std::lock_guard lock(mutex);
    return sent.size();
  }
};

class FakeControl : public Control {
 public:
  explicit FakeControl(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~FakeControl() override {
    const std::lock_guard lock(script_->mutex);
    ++script_->destroyed;
  }
  void upload() override { script_->pass(); }
  bool running() override { return true; }
  bool servo(const Joints& q_rad, const ServoSettings&) override {
    script_->pass();
    const std::lock_guard lock(script_->mutex);
    if (script_->fails) {
      throw std::runtime_error("write: Broken pipe");
    }
    script_->sent.push_back(q_rad[0]);
    return true;
  }
  bool armWatchdog(double) override { return true; }
  bool kickWatchdog() override {
    const std::lock_guard lock(script_->mutex);
    ++script_->kicks;
    return true;
  }
  bool stopServo(double) override { return true; }
  void endProgram() override {}
  bool setPayload(double, const std::array<double, 3>&) override { return true; }
  bool setTcp(const Joints&) override { return true; }
  Joints tcp() override { return {}; }
  bool setGravity(const std::array<double, 3>&) override { return true; }

 private:
  std::shared_ptr<Script> script_;
};

ControlFactory factoryOf(const std::shared_ptr<Script>& script) {
  return [script] {
    script->pass();
    return std::make_unique<FakeControl>(script);
  };
}

template <typename Condition>
bool eventually(Condition condition) {
  const Deadline deadline = Deadline::in(5);
  while (!condition()) {
    if (deadline.passed()) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

TEST(ControlThread, AConstructorThatNeverReturnsIsAbandoned) {
  auto script = std::make_shared<Script>();
  script->block(true);
  try {
    (void)ControlThread::open(factoryOf(script), 0.1, 0);
    FAIL() << "opened";
  } catch (const ArmError& error) {
    EXPECT_EQ(error.code(), "arm_stuck");
  }
  // It comes back after all: nobody waits for it, and it lets go of what it made.
  script->block(false);
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(script->mutex);
    return script->destroyed == 1;
  }));
}

TEST(ControlThread, WhatTheConstructorThrowsIsThrown) {
  EXPECT_THROW((void)ControlThread::open(
                   []() -> std::unique_ptr<Control> { throw std::logic_error("IN_USE"); }, 1, 0),
               std::logic_error);
}

TEST(ControlThread, ACallThatHangsIsGivenUp) {
  auto script = std::make_shared<Script>();
  auto thread = ControlThread::open(factoryOf(script), 1, 0);
  script->block(true);
  EXPECT_THROW(thread->call("upload", 0.1, [](Control& control) { control.upload(); }), ArmError);
  EXPECT_TRUE(thread->stuckFor(0.05));
  EXPECT_FALSE(thread->close(0.1)) << "left behind";
  script->block(false);
}

TEST(ControlThread, WhatACallThrowsIsThrownAndTheThreadGoesOn) {
  auto thread = ControlThread::open(factoryOf(std::make_shared<Script>()), 1, 0);
  EXPECT_THROW(thread->call("x", 1, [](Control&) { throw std::range_error("no"); }),
               std::range_error);
  bool ran = false;
  thread->call("y", 1, [&](Control&) { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_TRUE(thread->close(1));
}

TEST(ControlThread, SetpointsGoOutInOrder) {
  auto script = std::make_shared<Script>();
  auto thread = ControlThread::open(factoryOf(script), 1, 0);
  for (int i = 1; i <= 20; ++i) {
    thread->postSetpoint({static_cast<double>(i)}, monotonicNs());
    ASSERT_TRUE(eventually([&] { return script->sentCount() == static_cast<std::size_t>(i); }));
  }
  EXPECT_EQ(script->sent.back(), 20);
  EXPECT_EQ(thread->health().replaced, 0u);
  EXPECT_EQ(thread->health().oldest_unsent_ns, 0);
}

TEST(ControlThread, WhileAWriteHangsTheNewestWins) {
  auto script = std::make_shared<Script>();
  auto thread = ControlThread::open(factoryOf(script), 1, 0);
  script->block(true);
  thread->postSetpoint({1}, monotonicNs());
  ASSERT_TRUE(eventually([&] { return thread->health().busy_since_ns != 0; }));
  const std::int64_t oldest = monotonicNs();
  for (int i = 2; i <= 9; ++i) {
    thread->postSetpoint({static_cast<double>(i)}, oldest + i);
  }
  EXPECT_EQ(thread->health().oldest_unsent_ns, oldest + 2) << "the loop sees how long it waits";
  script->block(false);
  ASSERT_TRUE(eventually([&] { return script->sentCount() == 2; }));
  EXPECT_EQ(script->sent, (std::vector<double>{1, 9}));
  EXPECT_EQ(thread->health().replaced, 7u);
}

TEST(ControlThread, AFailingWriteIsCountedNotThrown) {
  auto script = std::make_shared<Script>();
  auto thread = ControlThread::open(factoryOf(script), 1, 0);
  script->fails = true;
  thread->postSetpoint({1}, monotonicNs());
  EXPECT_TRUE(eventually([&] { return thread->health().refused == 1; }));
  thread->postKick(monotonicNs());
  EXPECT_TRUE(eventually([&] { return thread->health().sent == 1; }));
}

}  // namespace
}  // namespace s2r::arm
