#include "native/camera/capture.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace s2r::camera {

namespace {

using nlohmann::json;

constexpr double kCloseLimitS = 5;
constexpr double kResetLimitS = 10;
constexpr double kQueryLimitS = 5;
constexpr double kGraceS = 2;
constexpr double kPollS = 0.1;
constexpr double kPresencePollS = 0.25;
// Frames with unusable depth units that are waited out: devices tell 0 until they stream.
constexpr int kBadUnitsLimit = 10;

std::vector<PlaneKind> wantedOf(const CameraConfig& config) {
  std::vector<PlaneKind> out;
  if (config.color.wanted)
    out.push_back(PlaneKind::kColor);
  if (config.depth.wanted)
    out.push_back(PlaneKind::kDepth);
  if (config.infrared.wanted) {
    out.push_back(PlaneKind::kInfraredLeft);
    out.push_back(PlaneKind::kInfraredRight);
  }
  return out;
}

std::string milliseconds(double seconds) {
  return std::to_string(static_cast<int>(seconds * 1e3 + 0.5)) + " ms";
}

json toJson(const Transform& X) {
  json out = json::array();
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column)
      out.push_back(X.r[row * 3 + column]);
    out.push_back(X.t[row]);
  }
  for (const double value : {0.0, 0.0, 0.0, 1.0})
    out.push_back(value);
  return out;
}

json toJson(const PlaneHeader& plane) {
  const Intrinsics& k = plane.intrinsics;
  return {{"width", k.width},
          {"height", k.height},
          {"fx", k.fx},
          {"fy", k.fy},
          {"cx", k.cx},
          {"cy", k.cy},
          {"model", nameOf(k.model)},
          {"coeffs", k.coeffs},
          {"X_left_plane", toJson(plane.X_reference_plane)}};
}

}  // namespace

Capture::Capture(CameraConfig config, CaptureHooks hooks)
    : config_(std::move(config)),
      hooks_(std::move(hooks)),
      ladder_(config_.realsense.hardware_reset && (config_.source == SourceKind::kRealsense ||
                                                   config_.source == SourceKind::kSoftware)) {}

void Capture::enter(const char* name, double limit_s) {
  const std::lock_guard<std::mutex> lock(mutex_);
  step_ = name;
  step_until_s_ = limit_s > 0 ? monotonicSeconds() + limit_s : 0;
}

std::string Capture::overdue() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return step_until_s_ > 0 && monotonicSeconds() > step_until_s_ ? step_ : "";
}

void Capture::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void Capture::want(double not_before_s) {
  const std::lock_guard<std::mutex> lock(mutex_);
  not_before_s_ = wanted_ ? std::max(not_before_s_, not_before_s) : not_before_s;
  wanted_ = true;
  wake_.notify_all();
}

bool Capture::pause(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::duration<double>(seconds),
                         [this] { return stopping_; });
}

void Capture::tell(const char* kind, const char* code, const std::string& message) {
  hooks_.event({{"event", kind}, {"code", code}, {"message", message}});
}

double Capture::stallSeconds(const Source& source) const {
  if (config_.stall_s > 0)
    return config_.stall_s;
  if (source.onDemand())
    return config_.plant.timeout_s;
  return std::max(0.5, 15 * source.info().period_s);
}

void Capture::announce(Source& source) {
  const DeviceInfo info = source.info();
  const FrameHeader& last = publisher_->last();
  json planes = json::object();
  double units_m = 0;
  std::vector<std::string> warnings = info.warnings;
  Domain domain = Domain::kHardwareClock;
  bool metadata = true;
  const char* left = nullptr;
  for (const PlaneKind kind : {PlaneKind::kColor, PlaneKind::kInfraredLeft, PlaneKind::kDepth,
                               PlaneKind::kInfraredRight}) {
    const PlaneHeader& plane = last.planes[static_cast<int>(kind)];
    if (plane.present == 0)
      continue;
    if (left == nullptr)
      left = nameOf(kind);
    planes[nameOf(kind)] = toJson(plane);
    domain = plane.domain;
    metadata = metadata && plane.has_metadata != 0;
    if (kind == PlaneKind::kDepth)
      units_m = plane.units_m;
  }
  if (!metadata) {
    warnings.push_back(
        std::string("metadata: frames carry no metadata; exposure times come from the ") +
        nameOf(domain) + " alone. Patch the kernel's uvcvideo or use a library built for RSUSB");
  }
#ifdef NDEBUG
  const char* build = "Release";
#else
  const char* build = "Debug";
#endif
  hooks_.event({{"event", "ready"},
                {"info",
                 {{"product", info.product},
                  {"product_id", info.product_id},
                  {"serial", info.serial},
                  {"firmware", info.firmware},
                  {"usb_type", info.usb_type},
                  {"physical_port", info.physical_port},
                  {"library_version", info.library_version},
                  {"has_colour_sensor", info.has_colour_sensor},
                  {"colour_from_left_imager", info.colour_from_left_imager},
                  {"transport_s", info.transport_s},
                  {"period_s", info.period_s},
                  {"on_demand", source.onDemand()},
                  {"domain", nameOf(domain)},
                  {"units_m", units_m},
                  {"left", left},
                  {"planes", planes},
                  {"warnings", warnings},
                  {"build", build}}}});
  announced_ = true;
}

bool Capture::receive(Source& source, double timeout_s) {
  FrameSet set;
  enter("waiting for a frame", timeout_s + kGraceS);
  bool got = false;
  try {
    got = source.next(timeout_s, set);
    if (got)
      bad_units_ = 0;
  } catch (const CameraError& error) {
    if (error.code() != "camera_units" || ++bad_units_ >= kBadUnitsLimit)
      throw;
  }
  if (!got)
    return false;
  enter("publishing a frame", kGraceS);
  if (publisher_ == nullptr) {
    publisher_ = std::make_unique<FramePublisher>(wantedOf(config_), config_.slots,
                                                  source.info().transport_s, hooks_.memory);
  }
  if (publisher_->publish(set) == 0)
    return false;
  ladder_.frame();
  if (!announced_)
    announce(source);
  if (recovering_) {
    recovering_ = false;
    tell("recovery", "recovered", "frames come again");
  }
  hooks_.frame();
  return true;
}

void Capture::closeQuietly(Source& source) {
  enter("closing the streams", kCloseLimitS);
  try {
    source.close();
  } catch (const CameraError& error) {
    tell("recovery", "close_failed", error.what());
  }
}

bool Capture::waitForDevice(Source& source) {
  const double until = monotonicSeconds() + config_.realsense.reset_wait_s;
  while (monotonicSeconds() < until) {
    enter("looking for the device", kQueryLimitS);
    if (source.present())
      return true;
    enter("waiting for the device", 0);
    if (!pause(kPresencePollS))
      return false;
  }
  return false;
}

void Capture::recover(Source& source, const std::string& why) {
  recovering_ = true;
  std::string reason = why;
  for (;;) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_)
        return;
    }
    enter("looking for the device", kQueryLimitS);
    const bool present = source.present();
    bool back = true;
    switch (ladder_.next(present)) {
      case RecoveryStep::kRestart:
        tell("recovery", "restart_stream", reason + ": the streams are started again");
        closeQuietly(source);
        break;
      case RecoveryStep::kHardwareReset:
        tell("recovery", "hardware_reset", reason + ": the camera is reset");
        closeQuietly(source);
        enter("resetting the camera", kResetLimitS);
        try {
          (void)source.hardwareReset();
        } catch (const CameraError& error) {
          tell("recovery", "hardware_reset_failed", error.what());
        }
        // It is still listed for a moment after it was told to go.
        if (!pause(kPresencePollS))
          return;
        back = waitForDevice(source);
        break;
      case RecoveryStep::kWaitForDevice:
        tell("recovery", "wait_for_device",
             reason + ": camera " + source.info().serial + " is not there, it is waited for");
        closeQuietly(source);
        back = waitForDevice(source);
        break;
      case RecoveryStep::kGiveUp:
        throw CameraError(present ? "camera_stalled" : "camera_not_found",
                          reason +
                              ", and neither restarts nor a reset brought frames back: "
                              "unplug the camera, plug it in again, then open it anew");
    }
    if (!back)
      continue;
    enter("waiting", 0);
    if (!pause(ladder_.pause()))
      return;
    enter("opening the streams", config_.open_timeout_s);
    try {
      source.open();
      return;
    } catch (const CameraError& error) {
      if (error.code() == "camera_usb" || error.code() == "camera_calibration")
        throw;
      reason = error.what();
    }
  }
}

void Capture::stream(Source& source) {
  double last_s = monotonicSeconds();
  const double stall_s = stallSeconds(source);
  for (;;) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_)
        return;
    }
    std::string lost;
    try {
      if (receive(source, std::min(kPollS, stall_s)))
        last_s = monotonicSeconds();
      else if (monotonicSeconds() - last_s > stall_s)
        lost = "no frame for " + milliseconds(stall_s);
    } catch (const CameraError& error) {
      if (error.code() != "camera_library")
        throw;
      lost = error.what();
    }
    if (!lost.empty()) {
      recover(source, lost);
      last_s = monotonicSeconds();
    }
  }
}

void Capture::serve(Source& source) {
  want(0);  // the first frame tells what the camera is
  const double stall_s = stallSeconds(source);
  for (;;) {
    double not_before_s = 0;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      step_until_s_ = 0;
      wake_.wait(lock, [this] { return stopping_ || wanted_; });
      if (stopping_)
        return;
      wanted_ = false;
      not_before_s = not_before_s_;
    }
    double asked_s = monotonicSeconds();
    for (;;) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (stopping_)
          return;
        if (wanted_) {
          wanted_ = false;
          not_before_s = std::max(not_before_s, not_before_s_);
        }
      }
      source.want(not_before_s);
      std::string lost;
      try {
        if (receive(source, std::min(kPollS, stall_s))) {
          if (publisher_->last().earliest_time_s >= not_before_s)
            break;
          asked_s = monotonicSeconds();  // an answer, though to an older request
        } else if (monotonicSeconds() - asked_s > stall_s) {
          lost = "no answer for " + milliseconds(stall_s);
        }
      } catch (const CameraError& error) {
        // A bench that knew this camera says that it is gone; one that never did is told about at
        // once.
        if (error.code() != "camera_refused" || !announced_)
          throw;
        lost = error.what();
      }
      if (!lost.empty()) {
        recover(source, lost);
        asked_s = monotonicSeconds();
      }
    }
  }
}

void Capture::run(const std::function<std::unique_ptr<Source>(const CameraConfig&)>& make) {
  std::unique_ptr<Source> source;
  try {
    enter("loading the library", config_.open_timeout_s);
    source = make(config_);
    enter("opening the streams", config_.open_timeout_s);
    source->open();
    if (source->onDemand())
      serve(*source);
    else
      stream(*source);
    closeQuietly(*source);
  } catch (const CameraError& error) {
    faulted_ = true;
    tell("fault", error.code().c_str(), error.what());
  } catch (const std::exception& error) {
    faulted_ = true;
    tell("fault", "camera_failed", error.what());
  }
  enter("ending", 0);
}

}  // namespace s2r::camera
