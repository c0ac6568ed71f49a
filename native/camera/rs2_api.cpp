#include "native/camera/rs2_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

namespace s2r::camera::rs2 {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw CameraError("camera_library", message);
}

// Left open for the process's life: the library starts threads that outlive any handle.
void* openLibrary(const std::string& path, int flags, const char* what) {
  void* handle = dlopen(path.c_str(), flags);
  if (handle == nullptr) {
    const char* why = dlerror();
    refuse(std::string(what) + " cannot be loaded: " + (why == nullptr ? path : why) +
           ". Set `library` to librealsense2.so (2.x) of this machine");
  }
  return handle;
}

template <class Pointer>
void bind(void* library, const char* name, Pointer& pointer, const std::string& path) {
  void* found = dlsym(library, name);
  if (found == nullptr)
    refuse(path + " has no function " + name + ": librealsense 2.54 or later is needed");
  pointer = reinterpret_cast<Pointer>(found);
}

}  // namespace

Api::Api(const std::string& library, const std::string& preload) {
  if (!preload.empty())
    openLibrary(preload, RTLD_LAZY | RTLD_GLOBAL, "the library to load first");
  void* handle = openLibrary(library, RTLD_LAZY | RTLD_LOCAL, "librealsense");
#define S2R_RS2_BIND(name, result, ...) bind(handle, #name, name, library);
  S2R_RS2_FUNCTIONS(S2R_RS2_BIND)
#undef S2R_RS2_BIND
  version_ = call(rs2_get_api_version);
  if (version_ / 10000 != 2)
    refuse(library + " has API version " + versionText() + "; major version 2 is needed");
  checkNumbers();
}

std::string Api::versionText() const {
  return std::to_string(version_ / 10000) + "." + std::to_string(version_ / 100 % 100) + "." +
         std::to_string(version_ % 100);
}

void Api::checkNumbers() const {
  struct Check {
    const char* (*name_of)(int);
    int value;
    const char* name;
  };
  const Check checks[] = {
      {rs2_stream_to_string, kStreamDepth, "Depth"},
      {rs2_stream_to_string, kStreamColor, "Color"},
      {rs2_stream_to_string, kStreamInfrared, "Infrared"},
      {rs2_format_to_string, kFormatZ16, "Z16"},
      {rs2_format_to_string, kFormatYuyv, "YUYV"},
      {rs2_format_to_string, kFormatRgb8, "RGB8"},
      {rs2_format_to_string, kFormatBgr8, "BGR8"},
      {rs2_format_to_string, kFormatRgba8, "RGBA8"},
      {rs2_format_to_string, kFormatBgra8, "BGRA8"},
      {rs2_format_to_string, kFormatY8, "Y8"},
      {rs2_camera_info_to_string, kInfoName, "Name"},
      {rs2_camera_info_to_string, kInfoSerial, "Serial Number"},
      {rs2_camera_info_to_string, kInfoFirmware, "Firmware Version"},
      {rs2_camera_info_to_string, kInfoPort, "Physical Port"},
      {rs2_camera_info_to_string, kInfoProductId, "Product Id"},
      {rs2_camera_info_to_string, kInfoUsbType, "Usb Type Descriptor"},
      {rs2_option_to_string, kOptionExposure, "Exposure"},
      {rs2_option_to_string, kOptionAutoExposure, "Enable Auto Exposure"},
      {rs2_option_to_string, kOptionEmitter, "Emitter Enabled"},
      {rs2_option_to_string, kOptionDepthUnits, "Depth Units"},
      {rs2_option_to_string, kOptionGlobalTime, "Global Time Enabled"},
      {rs2_frame_metadata_to_string, kMetaCounter, "Frame Counter"},
      {rs2_frame_metadata_to_string, kMetaFrameStamp, "Frame Timestamp"},
      {rs2_frame_metadata_to_string, kMetaSensorStamp, "Sensor Timestamp"},
      {rs2_frame_metadata_to_string, kMetaExposure, "Actual Exposure"},
      {rs2_distortion_to_string, static_cast<int>(Distortion::kNone), "None"},
      {rs2_distortion_to_string, static_cast<int>(Distortion::kModifiedBrownConrady),
       "Modified Brown Conrady"},
      {rs2_distortion_to_string, static_cast<int>(Distortion::kInverseBrownConrady),
       "Inverse Brown Conrady"},
      {rs2_distortion_to_string, static_cast<int>(Distortion::kFtheta), "Ftheta"},
      {rs2_distortion_to_string, static_cast<int>(Distortion::kBrownConrady), "Brown Conrady"},
      {rs2_distortion_to_string, static_cast<int>(Distortion::kKannalaBrandt4), "Kannala Brandt4"},
      {rs2_timestamp_domain_to_string, static_cast<int>(Domain::kHardwareClock), "Hardware Clock"},
      {rs2_timestamp_domain_to_string, static_cast<int>(Domain::kSystemTime), "System Time"},
      {rs2_timestamp_domain_to_string, static_cast<int>(Domain::kGlobalTime), "Global Time"},
      {rs2_playback_status_to_string, kStatusStopped, "Stopped"},
      {rs2_extension_to_string, kExtensionComposite, "Composite Frame"},
  };
  for (const Check& check : checks) {
    const char* name = check.name_of(check.value);
    if (name == nullptr || std::string(name) != check.name) {
      refuse("librealsense " + versionText() + " calls number " + std::to_string(check.value) +
             " \"" + (name == nullptr ? "" : name) + "\" where \"" + check.name +
             "\" is expected: this release numbers things otherwise and cannot be used");
    }
  }
}

void Api::raise(Error* error) const {
  const std::string where = rs2_get_failed_function(error);
  const std::string what = rs2_get_error_message(error);
  rs2_free_error(error);
  throw CameraError("camera_library", "librealsense " + where + ": " + what);
}

Intrinsics intrinsicsOf(const CIntrinsics& from) {
  Intrinsics out;
  out.width = from.width;
  out.height = from.height;
  out.fx = static_cast<double>(from.fx);
  out.fy = static_cast<double>(from.fy);
  out.cx = static_cast<double>(from.ppx);
  out.cy = static_cast<double>(from.ppy);
  out.model = static_cast<Distortion>(from.model);
  std::copy(std::begin(from.coeffs), std::end(from.coeffs), std::begin(out.coeffs));
  return out;
}

Transform transformOf(const CExtrinsics& from) {
  Transform out;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column)
      out.r[row * 3 + column] = static_cast<double>(from.rotation[column * 3 + row]);
    out.t[row] = static_cast<double>(from.translation[row]);
  }
  return out;
}

}  // namespace s2r::camera::rs2
