// librealsense 2.x through its C API, loaded at run time: the prototypes and numbers that this
// package uses are declared here, so no header or link to the library is needed. The numbers are
// compared with the names that the library itself gives them when it is loaded.
#pragma once

#include <memory>
#include <string>

#include "native/camera/types.h"

namespace s2r::camera::rs2 {

struct Error;
struct Context;
struct DeviceList;
struct Device;
struct SensorList;
struct Sensor;
struct ProfileList;
struct Profile;
struct Config;
struct Pipeline;
struct PipelineProfile;
struct Frame;
struct Queue;
struct Block;

// As the library lays them out.
struct CIntrinsics {
  int width, height;
  float ppx, ppy, fx, fy;
  int model;
  float coeffs[5];
};
struct CExtrinsics {
  float rotation[9];  // column-major
  float translation[3];
};
struct CVideoStream {
  int type, index, uid, width, height, fps, bpp, format;
  CIntrinsics intrinsics;
};
struct CSoftwareFrame {
  void* pixels;
  void (*deleter)(void*);
  int stride, bpp;
  double timestamp_ms;
  int domain, frame_number;
  const Profile* profile;
  float depth_units;
};

inline constexpr int kStreamDepth = 1, kStreamColor = 2, kStreamInfrared = 3;
inline constexpr int kFormatZ16 = 1, kFormatYuyv = 4, kFormatRgb8 = 5, kFormatBgr8 = 6;
inline constexpr int kFormatRgba8 = 7, kFormatBgra8 = 8, kFormatY8 = 9;
inline constexpr int kInfoName = 0, kInfoSerial = 1, kInfoFirmware = 2, kInfoPort = 4;
inline constexpr int kInfoProductId = 7, kInfoUsbType = 9;
inline constexpr int kOptionExposure = 3, kOptionAutoExposure = 10;
inline constexpr int kOptionEmitter = 18, kOptionDepthUnits = 28, kOptionGlobalTime = 53;
inline constexpr int kMetaCounter = 0, kMetaFrameStamp = 1, kMetaSensorStamp = 2, kMetaExposure = 3;
inline constexpr int kStatusStopped = 3;
inline constexpr int kExtensionComposite = 10;
inline constexpr int kMatcherDefault = 6;

// name, result, arguments
#define S2R_RS2_FUNCTIONS(X)                                                                  \
  X(rs2_get_api_version, int, Error**)                                                        \
  X(rs2_get_error_message, const char*, const Error*)                                         \
  X(rs2_get_failed_function, const char*, const Error*)                                       \
  X(rs2_free_error, void, Error*)                                                             \
  X(rs2_stream_to_string, const char*, int)                                                   \
  X(rs2_format_to_string, const char*, int)                                                   \
  X(rs2_camera_info_to_string, const char*, int)                                              \
  X(rs2_option_to_string, const char*, int)                                                   \
  X(rs2_frame_metadata_to_string, const char*, int)                                           \
  X(rs2_distortion_to_string, const char*, int)                                               \
  X(rs2_timestamp_domain_to_string, const char*, int)                                         \
  X(rs2_playback_status_to_string, const char*, int)                                          \
  X(rs2_extension_to_string, const char*, int)                                                \
  X(rs2_create_context, Context*, int, Error**)                                               \
  X(rs2_delete_context, void, Context*)                                                       \
  X(rs2_query_devices, DeviceList*, const Context*, Error**)                                  \
  X(rs2_get_device_count, int, const DeviceList*, Error**)                                    \
  X(rs2_delete_device_list, void, DeviceList*)                                                \
  X(rs2_create_device, Device*, const DeviceList*, int, Error**)                              \
  X(rs2_delete_device, void, Device*)                                                         \
  X(rs2_supports_device_info, int, const Device*, int, Error**)                               \
  X(rs2_get_device_info, const char*, const Device*, int, Error**)                            \
  X(rs2_hardware_reset, void, const Device*, Error**)                                         \
  X(rs2_query_sensors, SensorList*, const Device*, Error**)                                   \
  X(rs2_get_sensors_count, int, const SensorList*, Error**)                                   \
  X(rs2_delete_sensor_list, void, SensorList*)                                                \
  X(rs2_create_sensor, Sensor*, const SensorList*, int, Error**)                              \
  X(rs2_delete_sensor, void, Sensor*)                                                         \
  X(rs2_supports_option, int, const Sensor*, int, Error**)                                    \
  X(rs2_is_option_read_only, int, const Sensor*, int, Error**)                                \
  X(rs2_get_option, float, const Sensor*, int, Error**)                                       \
  X(rs2_set_option, void, const Sensor*, int, float, Error**)                                 \
  X(rs2_get_stream_profiles, ProfileList*, Sensor*, Error**)                                  \
  X(rs2_get_stream_profiles_count, int, const ProfileList*, Error**)                          \
  X(rs2_get_stream_profile, const Profile*, const ProfileList*, int, Error**)                 \
  X(rs2_delete_stream_profiles_list, void, ProfileList*)                                      \
  X(rs2_get_stream_profile_data, void, const Profile*, int*, int*, int*, int*, int*, Error**) \
  X(rs2_get_video_stream_resolution, void, const Profile*, int*, int*, Error**)               \
  X(rs2_get_video_stream_intrinsics, void, const Profile*, CIntrinsics*, Error**)             \
  X(rs2_get_extrinsics, void, const Profile*, const Profile*, CExtrinsics*, Error**)          \
  X(rs2_register_extrinsics, void, const Profile*, const Profile*, CExtrinsics, Error**)      \
  X(rs2_open_multiple, void, Sensor*, const Profile**, int, Error**)                          \
  X(rs2_start_queue, void, const Sensor*, Queue*, Error**)                                    \
  X(rs2_stop, void, const Sensor*, Error**)                                                   \
  X(rs2_close, void, const Sensor*, Error**)                                                  \
  X(rs2_create_frame_queue, Queue*, int, Error**)                                             \
  X(rs2_delete_frame_queue, void, Queue*)                                                     \
  X(rs2_try_wait_for_frame, int, Queue*, unsigned, Frame**, Error**)                          \
  X(rs2_release_frame, void, Frame*)                                                          \
  X(rs2_frame_add_ref, void, Frame*, Error**)                                                 \
  X(rs2_is_frame_extendable_to, int, const Frame*, int, Error**)                              \
  X(rs2_embedded_frames_count, int, Frame*, Error**)                                          \
  X(rs2_extract_frame, Frame*, Frame*, int, Error**)                                          \
  X(rs2_get_frame_stream_profile, const Profile*, const Frame*, Error**)                      \
  X(rs2_get_frame_number, unsigned long long, const Frame*, Error**)                          \
  X(rs2_get_frame_timestamp, double, const Frame*, Error**)                                   \
  X(rs2_get_frame_timestamp_domain, int, const Frame*, Error**)                               \
  X(rs2_get_frame_data, const void*, const Frame*, Error**)                                   \
  X(rs2_get_frame_width, int, const Frame*, Error**)                                          \
  X(rs2_get_frame_height, int, const Frame*, Error**)                                         \
  X(rs2_get_frame_stride_in_bytes, int, const Frame*, Error**)                                \
  X(rs2_supports_frame_metadata, int, const Frame*, int, Error**)                             \
  X(rs2_get_frame_metadata, long long, const Frame*, int, Error**)                            \
  X(rs2_depth_frame_get_units, float, const Frame*, Error**)                                  \
  X(rs2_create_config, Config*, Error**)                                                      \
  X(rs2_delete_config, void, Config*)                                                         \
  X(rs2_config_enable_device, void, Config*, const char*, Error**)                            \
  X(rs2_config_enable_stream, void, Config*, int, int, int, int, int, int, Error**)           \
  X(rs2_create_pipeline, Pipeline*, Context*, Error**)                                        \
  X(rs2_delete_pipeline, void, Pipeline*)                                                     \
  X(rs2_pipeline_start_with_config, PipelineProfile*, Pipeline*, Config*, Error**)            \
  X(rs2_pipeline_try_wait_for_frames, int, Pipeline*, Frame**, unsigned, Error**)             \
  X(rs2_pipeline_stop, void, Pipeline*, Error**)                                              \
  X(rs2_pipeline_profile_get_device, Device*, PipelineProfile*, Error**)                      \
  X(rs2_pipeline_profile_get_streams, ProfileList*, PipelineProfile*, Error**)                \
  X(rs2_delete_pipeline_profile, void, PipelineProfile*)                                      \
  X(rs2_context_add_device, Device*, Context*, const char*, Error**)                          \
  X(rs2_context_remove_device, void, Context*, const char*, Error**)                          \
  X(rs2_playback_device_pause, void, const Device*, Error**)                                  \
  X(rs2_playback_device_resume, void, const Device*, Error**)                                 \
  X(rs2_playback_device_get_current_status, int, const Device*, Error**)                      \
  X(rs2_create_software_device, Device*, Error**)                                             \
  X(rs2_software_device_add_sensor, Sensor*, Device*, const char*, Error**)                   \
  X(rs2_software_device_register_info, void, Device*, int, const char*, Error**)              \
  X(rs2_software_device_update_info, void, Device*, int, const char*, Error**)                \
  X(rs2_software_device_create_matcher, void, Device*, int, Error**)                          \
  X(rs2_software_sensor_add_video_stream, Profile*, Sensor*, CVideoStream, Error**)           \
  X(rs2_software_sensor_add_read_only_option, void, Sensor*, int, float, Error**)             \
  X(rs2_software_sensor_on_video_frame, void, Sensor*, CSoftwareFrame, Error**)               \
  X(rs2_software_sensor_set_metadata, void, Sensor*, int, long long, Error**)                 \
  X(rs2_context_add_software_device, void, Context*, Device*, Error**)

// The loaded library. A failed call of it throws CameraError with the library's own words.
class Api {
 public:
  // Throws camera_library where it cannot be loaded, is of another major version or numbers things
  // otherwise. `preload` (may be empty) is loaded first with its symbols visible to the library.
  Api(const std::string& library, const std::string& preload);

#define S2R_RS2_DECLARE(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  S2R_RS2_FUNCTIONS(S2R_RS2_DECLARE)
#undef S2R_RS2_DECLARE

  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] std::string versionText() const;

  // Calls a function that takes Error** last.
  template <class Function, class... Args>
  auto call(Function function, Args... args) const {
    Error* error = nullptr;
    using Result = decltype(function(args..., &error));
    if constexpr (std::is_void_v<Result>) {
      function(args..., &error);
      check(error);
    } else {
      Result result = function(args..., &error);
      check(error);
      return result;
    }
  }
  // The same where failing is expected: nothing is thrown, false is returned.
  template <class Function, class... Args>
  bool attempt(Function function, Args... args) const noexcept {
    Error* error = nullptr;
    function(args..., &error);
    if (error == nullptr)
      return true;
    rs2_free_error(error);
    return false;
  }

 private:
  void check(Error* error) const {
    if (error != nullptr)
      raise(error);
  }
  [[noreturn]] void raise(Error* error) const;
  void checkNumbers() const;

  int version_ = 0;
};

// Owns a handle of the library.
template <class T>
using Handle = std::shared_ptr<T>;

[[nodiscard]] Intrinsics intrinsicsOf(const CIntrinsics& from);
// rs2_get_extrinsics(from, to) as X_to_from.
[[nodiscard]] Transform transformOf(const CExtrinsics& from);

}  // namespace s2r::camera::rs2
