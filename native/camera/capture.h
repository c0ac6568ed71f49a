// The life of one camera: opens its source, publishes frames, climbs the recovery ladder when they
// stop. Runs in one thread; another one watches how long its current step takes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "native/camera/config.h"
#include "native/camera/frame_publisher.h"
#include "native/camera/recovery_ladder.h"
#include "native/camera/source.h"

namespace s2r::camera {

// What the capture tells its owner. All calls come from the capture's thread.
struct CaptureHooks {
  std::function<void*(const MemoryLayout&)> memory;
  std::function<void(const nlohmann::json&)> event;  // ready, recovery, fault
  std::function<void()> frame;                       // a frame was published
};

class Capture {
 public:
  Capture(CameraConfig config, CaptureHooks hooks);

  // Runs until stop() or a fault, which is told as an event. `make` is called in here: loading a
  // library may hang.
  void run(const std::function<std::unique_ptr<Source>(const CameraConfig&)>& make);

  // From any thread.
  void stop();
  void want(double not_before_s);
  // The step that takes longer than it may, or an empty text.
  [[nodiscard]] std::string overdue() const;
  [[nodiscard]] bool faulted() const { return faulted_; }

 private:
  // Says what the thread is doing, and how long it may take.
  class Step;
  void enter(const char* name, double limit_s);

  void stream(Source& source);
  void serve(Source& source);
  [[nodiscard]] bool receive(Source& source, double timeout_s);
  void recover(Source& source, const std::string& why);
  [[nodiscard]] bool waitForDevice(Source& source);
  void closeQuietly(Source& source);
  void announce(Source& source);
  [[nodiscard]] bool pause(double seconds);
  [[nodiscard]] double stallSeconds(const Source& source) const;
  void tell(const char* kind, const char* code, const std::string& message);

  const CameraConfig config_;
  const CaptureHooks hooks_;
  std::unique_ptr<FramePublisher> publisher_;
  RecoveryLadder ladder_;
  bool announced_ = false;
  bool recovering_ = false;
  int bad_units_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool wanted_ = false;
  double not_before_s_ = 0;
  std::string step_;
  double step_until_s_ = 0;
  std::atomic<bool> faulted_{false};
};

}  // namespace s2r::camera
