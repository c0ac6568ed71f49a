// One arm as JavaScript holds it: the process behind it, its events, and its end in every way that
// an environment ends.
#pragma once

#include <napi.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "native/arm/process/arm_process.h"

namespace s2r::arm {

// Shared by the JavaScript object, the threads that open, recover and close, and the environment's
// clean-up. Whoever ends first, the arm is brought to rest once.
class Session {
 public:
  // `listener` is called with one event, on the event loop; it must not hold the JavaScript object.
  Session(Napi::Env env, ArmOptions options, const Napi::Function& listener);
  ~Session();

  [[nodiscard]] ArmProcess& process() { return *process_; }
  [[nodiscard]] const Transform16& X_world_base() const { return X_world_base_; }
  [[nodiscard]] bool isOpen() const { return open_; }
  [[nodiscard]] std::uint64_t eventsDropped() const { return dropped_; }

  // Blocking; on a thread of its own. An environment that ended meanwhile ends what was opened.
  void open();
  bool close() noexcept;
  // What is still being opened is closed as soon as it is open.
  void cancel() { cancelled_ = true; }
  // The environment ends: nothing calls into JavaScript from now on.
  void silence();
  // The same where the whole process ends and no call into the environment is allowed any more.
  void mute();

 private:
  void tell(const ArmEvent& event);
  void deliver(Napi::Env env, const Napi::Function& listener);

  const Transform16 X_world_base_;
  std::unique_ptr<ArmProcess> process_;
  std::atomic<bool> open_{false};
  std::atomic<bool> cancelled_{false};

  std::mutex mutex_;  // guards what follows
  Napi::ThreadSafeFunction wake_;
  bool can_wake_ = true;
  std::deque<ArmEvent> events_;
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace s2r::arm
