// Where frames come from: one interface for a live camera, a recording and the emulated bench.
#pragma once

#include <memory>
#include <string>

#include "native/camera/config.h"
#include "native/camera/types.h"

namespace s2r::camera {

// All functions are called by one thread. They throw CameraError; none waits longer than it is told
// to, as far as the library below it allows (the process watches that from another thread).
class Source {
 public:
  virtual ~Source() = default;

  // Starts the streams.
  virtual void open() = 0;
  // The next set of frames, or false where none came within timeout_s.
  [[nodiscard]] virtual bool next(double timeout_s, FrameSet& out) = 0;
  virtual void close() = 0;

  // Known once open. Planes' own calibration travels with each frame.
  [[nodiscard]] virtual DeviceInfo info() const = 0;

  // True where frames are made for a request only.
  [[nodiscard]] virtual bool onDemand() const { return false; }
  // The next frame wanted of an on-demand source was not exposed before this (CLOCK_MONOTONIC).
  virtual void want(double /*not_before_s*/) {}

  // False where this source has no such thing.
  [[nodiscard]] virtual bool hardwareReset() { return false; }
  // Whether the device is there at all.
  [[nodiscard]] virtual bool present() { return true; }
};

[[nodiscard]] std::unique_ptr<Source> makeSource(const CameraConfig& config);

}  // namespace s2r::camera
