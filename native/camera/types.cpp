#include "native/camera/types.h"

#include <time.h>

namespace s2r::camera {

namespace {

constexpr std::array<const char*, 6> kDistortionNames = {
    "none",   "modified_brown_conrady", "inverse_brown_conrady",
    "ftheta", "brown_conrady",          "kannala_brandt4"};

double secondsOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

const char* nameOf(Distortion model) {
  const auto index = static_cast<size_t>(model);
  return index < kDistortionNames.size() ? kDistortionNames[index] : "unknown";
}

const char* nameOf(Domain domain) {
  switch (domain) {
    case Domain::kHardwareClock:
      return "hardware_clock";
    case Domain::kSystemTime:
      return "system_time";
    case Domain::kGlobalTime:
      return "global_time";
    case Domain::kMonotonic:
      return "monotonic";
  }
  return "unknown";
}

const char* nameOf(PlaneKind kind) {
  switch (kind) {
    case PlaneKind::kColor:
      return "color";
    case PlaneKind::kDepth:
      return "depth";
    case PlaneKind::kInfraredLeft:
      return "infrared_left";
    case PlaneKind::kInfraredRight:
      return "infrared_right";
  }
  return "unknown";
}

Distortion distortionByName(const std::string& name) {
  for (size_t i = 0; i < kDistortionNames.size(); ++i) {
    if (name == kDistortionNames[i])
      return static_cast<Distortion>(i);
  }
  throw CameraError("camera_calibration", "distortion model \"" + name +
                                              "\" is none of none, brown_conrady, "
                                              "modified_brown_conrady, inverse_brown_conrady");
}

double monotonicSeconds() {
  return secondsOf(CLOCK_MONOTONIC);
}
double wallSeconds() {
  return secondsOf(CLOCK_REALTIME);
}

}  // namespace s2r::camera
