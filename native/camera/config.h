// Configuration of the capture process: one JSON object on the first line of its standard input.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "native/camera/types.h"

namespace s2r::camera {

struct StreamRequest {
  bool wanted = false;
  int width = 640;
  int height = 480;
  int fps = 30;
};

// What the library's software device plays when it stands in for a camera, and how it misbehaves.
struct SoftwareOptions {
  std::string product = "Intel RealSense D435";
  std::string product_id = "0B07";
  std::string usb_type = "3.2";
  double units_m = 0.001;
  double depth_m = 0.5;  // of the plane it shows
  double first_stamp_ms = 1000;
  bool metadata = true;
  int exposure_us = 8000;
  Distortion model = Distortion::kBrownConrady;
  double coeffs[5] = {0, 0, 0, 0, 0};
  double X_color_depth_t_m[3] = {0, 0, 0};
  int skip_at = 0;              // the frame of this number and the next two are left out
  int domain_at = 0;            // from this frame on the stamps are wall time
  int stall_at = 0;             // from this frame on nothing comes, until
  std::string heals = "never";  // restart | reset | reconnect | never
  int hang_at = 0;              // at this frame the library's thread blocks for ever
};

struct RealsenseOptions {
  std::string library;
  std::string preload;
  std::string serial;
  bool global_time = false;
  int emitter = -1;     // -1: as the device has it
  int exposure_us = 0;  // 0: automatic
  bool require_usb3 = false;
  bool hardware_reset = true;
  double reset_wait_s = 15;
};

struct RecordingOptions {
  std::string file;
  bool loop = true;
  double max_skew_s = 0;  // 0: one period of the slowest stream
};

struct PlantOptions {
  std::string address;
  std::string camera;
  double timeout_s = 2;
};

enum class SourceKind { kRealsense, kRecording, kPlant, kSoftware };

struct CameraConfig {
  std::string name;
  SourceKind source = SourceKind::kRealsense;
  RealsenseOptions realsense;
  RecordingOptions recording;
  PlantOptions plant;
  SoftwareOptions software;
  StreamRequest color, depth, infrared;
  uint32_t slots = 6;
  double stall_s = 0;  // 0: fifteen periods of the stream, at least 0.5 s
  double open_timeout_s = 15;
};

// Throws camera_config with the key, the value and what is allowed; unknown keys are refused.
[[nodiscard]] CameraConfig parseConfig(std::string_view json);

}  // namespace s2r::camera
