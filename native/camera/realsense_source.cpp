#include "native/camera/realsense_source.h"

#include <algorithm>
#include <cmath>

#include "native/camera/models.h"

namespace s2r::camera {

RealsenseSource::RealsenseSource(const CameraConfig& config)
    : config_(config),
      api_(std::make_unique<rs2::Api>(config.realsense.library, config.realsense.preload)),
      context_(api_->call(api_->rs2_create_context, api_->version()), api_->rs2_delete_context),
      reader_(std::make_unique<rs2::FrameReader>(*api_)) {}

RealsenseSource::~RealsenseSource() {
  try {
    close();
  } catch (const CameraError&) {
    // The process is ending; a camera that will not stop is left to the kernel.
  }
}

rs2::Handle<rs2::Device> RealsenseSource::find(std::string* seen) const {
  rs2::Handle<rs2::DeviceList> list(
      api_->call(api_->rs2_query_devices, static_cast<const rs2::Context*>(context_.get())),
      api_->rs2_delete_device_list);
  const int count =
      api_->call(api_->rs2_get_device_count, static_cast<const rs2::DeviceList*>(list.get()));
  for (int i = 0; i < count; ++i) {
    rs2::Device* raw = nullptr;
    try {
      raw = api_->call(api_->rs2_create_device, static_cast<const rs2::DeviceList*>(list.get()), i);
    } catch (const CameraError&) {
      continue;  // gone since it was listed
    }
    rs2::Handle<rs2::Device> device(raw, api_->rs2_delete_device);
    const std::string serial = rs2::infoOf(*api_, device.get(), rs2::kInfoSerial);
    if (serial == config_.realsense.serial)
      return device;
    if (seen != nullptr)
      *seen += (seen->empty() ? "" : ", ") + serial;
  }
  return nullptr;
}

bool RealsenseSource::present() {
  return find() != nullptr;
}

void RealsenseSource::prepare(const rs2::Device* device) {
  for (const auto& sensor : rs2::sensorsOf(*api_, device)) {
    const rs2::Sensor* s = sensor.get();
    const auto has = [&](int option) {
      return api_->call(api_->rs2_supports_option, s, option) != 0;
    };
    const auto set = [&](int option, float value) {
      if (has(option) && api_->call(api_->rs2_is_option_read_only, s, option) == 0 &&
          api_->call(api_->rs2_get_option, s, option) != value)
        api_->call(api_->rs2_set_option, s, option, value);
    };
    set(rs2::kOptionGlobalTime, config_.realsense.global_time ? 1.0f : 0.0f);
    if (config_.realsense.emitter >= 0)
      set(rs2::kOptionEmitter, static_cast<float>(config_.realsense.emitter));
    if (config_.realsense.exposure_us > 0) {
      set(rs2::kOptionAutoExposure, 0);
      // The stereo module counts microseconds, a colour module hundreds of them.
      const double unit_us = has(rs2::kOptionDepthUnits) ? 1 : 100;
      set(rs2::kOptionExposure,
          static_cast<float>(std::max(1.0, std::round(config_.realsense.exposure_us / unit_us))));
    }
  }
}

void RealsenseSource::refuseMissingColour() const {
  if (config_.color.wanted && !info_.has_colour_sensor && !info_.colour_from_left_imager) {
    throw CameraError("camera_stream",
                      info_.product +
                          " has no colour imager: leave streams.color out and take "
                          "streams.infrared, whose left image is then the left image");
  }
}

void RealsenseSource::open() {
  std::string seen;
  const auto device = find(&seen);
  if (device == nullptr) {
    throw CameraError("camera_not_found",
                      "no RealSense camera with serial " + config_.realsense.serial +
                          " is connected (seen: " + (seen.empty() ? "none" : seen) +
                          "): plug it in, or correct the serial in the rig's file");
  }
  info_ = rs2::describe(*api_, device.get());
  if (config_.realsense.require_usb3 && !info_.usb_type.empty() && info_.usb_type[0] == '2') {
    throw CameraError("camera_usb", "camera " + info_.serial + " runs at USB " + info_.usb_type +
                                        ", but require_usb3 is set: use a USB 3 port and cable");
  }
  refuseMissingColour();
  prepare(device.get());

  rs2::Handle<rs2::Config> wanted(api_->call(api_->rs2_create_config), api_->rs2_delete_config);
  api_->call(api_->rs2_config_enable_device, wanted.get(), config_.realsense.serial.c_str());
  double slowest_s = 0;
  const auto enable = [&](int stream, int index, const StreamRequest& request, int format) {
    api_->call(api_->rs2_config_enable_stream, wanted.get(), stream, index, request.width,
               request.height, format, request.fps);
    slowest_s = std::max(slowest_s, 1.0 / request.fps);
  };
  if (config_.depth.wanted)
    enable(rs2::kStreamDepth, -1, config_.depth, rs2::kFormatZ16);
  if (config_.color.wanted)
    enable(rs2::kStreamColor, -1, config_.color, rs2::kFormatRgb8);
  if (config_.infrared.wanted) {
    enable(rs2::kStreamInfrared, 1, config_.infrared, rs2::kFormatY8);
    enable(rs2::kStreamInfrared, 2, config_.infrared, rs2::kFormatY8);
  }
  info_.period_s = slowest_s;
  pipeline_ = {api_->call(api_->rs2_create_pipeline, context_.get()), api_->rs2_delete_pipeline};
  try {
    profile_ = {api_->call(api_->rs2_pipeline_start_with_config, pipeline_.get(), wanted.get()),
                api_->rs2_delete_pipeline_profile};
  } catch (const CameraError& error) {
    pipeline_ = nullptr;
    throw CameraError(
        "camera_stream",
        info_.product + " " + info_.serial +
            " cannot start the streams asked for (sizes, rates, or the bandwidth of USB " +
            info_.usb_type + "): " + error.what());
  }
  started_ = true;
  restarted_ = true;
  reader_->forget();
  reader_->setSameImager(info_.colour_from_left_imager);
}

bool RealsenseSource::next(double timeout_s, FrameSet& out) {
  rs2::Frame* frame = nullptr;
  const auto timeout_ms = static_cast<unsigned>(std::max(1.0, std::ceil(timeout_s * 1e3)));
  if (api_->call(api_->rs2_pipeline_try_wait_for_frames, pipeline_.get(), &frame, timeout_ms) == 0)
    return false;
  out = reader_->read(frame);
  out.clock_restarted = restarted_;
  restarted_ = false;
  return true;
}

void RealsenseSource::close() {
  if (!started_)
    return;
  started_ = false;
  const auto pipeline = std::move(pipeline_);
  profile_ = nullptr;
  pipeline_ = nullptr;
  api_->call(api_->rs2_pipeline_stop, pipeline.get());
}

bool RealsenseSource::hardwareReset() {
  const auto device = find();
  if (device == nullptr)
    return false;
  api_->call(api_->rs2_hardware_reset, static_cast<const rs2::Device*>(device.get()));
  return true;
}

}  // namespace s2r::camera
