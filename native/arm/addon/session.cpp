#include "native/arm/addon/session.h"

#include <algorithm>

#include "native/arm/addon/convert.h"

namespace s2r::arm {
namespace {

// Events that wait for a busy event loop; more are dropped and counted, progress first.
constexpr std::size_t kWaitingEvents = 256;

}  // namespace

Session::Session(Napi::Env env, ArmOptions options, const Napi::Function& listener)
    : X_world_base_(options.core.X_world_base) {
  // Its queue holds no events, only "there are some": two are enough, and a full one is no loss.
  wake_ = Napi::ThreadSafeFunction::New(env, listener, "arm events", 2, 1);
  wake_.Unref(env);
  ControlFactory factory = urRtdeControl(options.host, options.upper_registers);
  process_ = std::make_unique<ArmProcess>(std::move(options), std::move(factory),
                                          [this](const ArmEvent& event) { tell(event); });
}

Session::~Session() {
  (void)close();
  silence();
}

void Session::open() {
  process_->open();
  open_ = true;
  if (cancelled_) {
    (void)process_->close();
  }
}

bool Session::close() noexcept {
  cancelled_ = true;
  return process_->close();
}

void Session::silence() {
  const std::lock_guard lock(mutex_);
  if (can_wake_) {
    can_wake_ = false;
    wake_.Abort();
  }
}

void Session::mute() {
  const std::lock_guard lock(mutex_);
  can_wake_ = false;
}

void Session::tell(const ArmEvent& event) {
  const std::lock_guard lock(mutex_);
  if (!can_wake_) {
    return;
  }
  if (events_.size() >= kWaitingEvents) {
    const auto progress = std::find_if(events_.begin(), events_.end(), [](const ArmEvent& waiting) {
      return waiting.kind == ArmEvent::Kind::kProgress;
    });
    dropped_.fetch_add(1);
    if (progress == events_.end()) {
      return;
    }
    events_.erase(progress);
  }
  events_.push_back(event);
  (void)wake_.NonBlockingCall(
      [this](Napi::Env env, const Napi::Function& listener) { deliver(env, listener); });
}

void Session::deliver(Napi::Env env, const Napi::Function& listener) {
  for (;;) {
    ArmEvent event;
    {
      const std::lock_guard lock(mutex_);
      if (events_.empty()) {
        return;
      }
      event = std::move(events_.front());
      events_.pop_front();
    }
    listener.Call({fromEvent(env, event)});
  }
}

}  // namespace s2r::arm
