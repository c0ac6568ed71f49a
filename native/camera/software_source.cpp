#include "native/camera/software_source.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "native/camera/device_clock.h"

namespace s2r::camera {

namespace {
// After a reset, or a replug, the device is away for this long.
constexpr double kAwayS = 0.4;

int streamOf(PlaneKind kind) {
  return kind == PlaneKind::kDepth   ? rs2::kStreamDepth
         : kind == PlaneKind::kColor ? rs2::kStreamColor
                                     : rs2::kStreamInfrared;
}
int formatOf(PlaneKind kind) {
  return kind == PlaneKind::kDepth   ? rs2::kFormatZ16
         : kind == PlaneKind::kColor ? rs2::kFormatRgb8
                                     : rs2::kFormatY8;
}
}  // namespace

SoftwareSource::SoftwareSource(const CameraConfig& config)
    : RealsenseSource(config), options_(config.software) {
  const rs2::Api& a = api();
  device_ = {a.call(a.rs2_create_software_device), a.rs2_delete_device};
  const auto info = [&](int item, const std::string& text) {
    a.call(a.rs2_software_device_register_info, device_.get(), item, text.c_str());
  };
  // Some releases give the device a name of its own, which can only be changed.
  if (!a.attempt(a.rs2_software_device_register_info, device_.get(), rs2::kInfoName,
                 options_.product.c_str()))
    a.call(a.rs2_software_device_update_info, device_.get(), rs2::kInfoName,
           options_.product.c_str());
  info(rs2::kInfoSerial, config.realsense.serial);
  info(rs2::kInfoProductId, options_.product_id);
  info(rs2::kInfoUsbType, options_.usb_type);
  if (config.depth.wanted)
    addStream(PlaneKind::kDepth, config.depth);
  if (config.color.wanted)
    addStream(PlaneKind::kColor, config.color);
  if (config.infrared.wanted) {
    addStream(PlaneKind::kInfraredLeft, config.infrared);
    addStream(PlaneKind::kInfraredRight, config.infrared);
  }
  for (const Stream& from : streams_) {
    for (const Stream& to : streams_) {
      if (&from == &to)
        continue;
      rs2::CExtrinsics X{{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
      const auto place = [&](PlaneKind kind, int axis) {
        // Where the imager is in the depth camera's frame: the right one 5 cm to the right.
        if (kind == PlaneKind::kColor)
          return -options_.X_color_depth_t_m[axis];
        return kind == PlaneKind::kInfraredRight && axis == 0 ? 0.05 : 0.0;
      };
      for (int axis = 0; axis < 3; ++axis)
        X.translation[axis] = static_cast<float>(place(from.kind, axis) - place(to.kind, axis));
      a.call(a.rs2_register_extrinsics, static_cast<const rs2::Profile*>(from.profile),
             static_cast<const rs2::Profile*>(to.profile), X);
    }
  }
  a.call(a.rs2_software_device_create_matcher, device_.get(), rs2::kMatcherDefault);
  // The context itself does not keep what is added to it: the hub of a pipeline that is there
  // already does.
  keeper_ = {a.call(a.rs2_create_pipeline, context()), a.rs2_delete_pipeline};
  a.call(a.rs2_context_add_software_device, context(), device_.get());
  feeder_ = std::thread([this] { feed(); });
}

SoftwareSource::~SoftwareSource() {
  ending_ = true;
  feeder_.join();
}

void SoftwareSource::addStream(PlaneKind kind, const StreamRequest& request) {
  const rs2::Api& a = api();
  Stream stream;
  const bool own_module =
      sensors_.empty() || (kind == PlaneKind::kColor && options_.product_id != "0B5B");
  if (own_module) {
    sensors_.emplace_back(a.call(a.rs2_software_device_add_sensor, device_.get(),
                                 kind == PlaneKind::kColor ? "RGB Camera" : "Stereo Module"),
                          a.rs2_delete_sensor);
    if (kind == PlaneKind::kDepth)
      a.call(a.rs2_software_sensor_add_read_only_option, sensors_.back().get(),
             rs2::kOptionDepthUnits, static_cast<float>(options_.units_m));
  }
  stream.sensor = (kind == PlaneKind::kColor ? sensors_.back() : sensors_.front()).get();
  stream.kind = kind;
  stream.width = request.width;
  stream.height = request.height;
  stream.bytes = kind == PlaneKind::kDepth ? 2 : kind == PlaneKind::kColor ? 3 : 1;
  stream.pixels.resize(static_cast<size_t>(request.width) * static_cast<size_t>(request.height) *
                       static_cast<size_t>(stream.bytes));
  const int index = kind == PlaneKind::kInfraredLeft    ? 1
                    : kind == PlaneKind::kInfraredRight ? 2
                                                        : 0;
  rs2::CVideoStream video{};
  video.type = streamOf(kind);
  video.index = index;
  video.uid = 100 + static_cast<int>(kind);
  video.width = request.width;
  video.height = request.height;
  video.fps = request.fps;
  video.bpp = stream.bytes;
  video.format = formatOf(kind);
  const auto focal = static_cast<float>(request.width) * 0.9f;
  video.intrinsics = {
      request.width,
      request.height,
      static_cast<float>(request.width) / 2 - 0.5f,
      static_cast<float>(request.height) / 2 - 0.5f,
      focal,
      focal,
      static_cast<int>(kind == PlaneKind::kColor ? options_.model : Distortion::kBrownConrady),
      {0, 0, 0, 0, 0}};
  if (kind == PlaneKind::kColor) {
    for (int i = 0; i < 5; ++i)
      video.intrinsics.coeffs[i] = static_cast<float>(options_.coeffs[i]);
  }
  stream.profile = a.call(a.rs2_software_sensor_add_video_stream, stream.sensor, video);
  paint(stream);
  streams_.push_back(std::move(stream));
}

// Depth: a plane with a 16 x 16 hole in the corner. Colour: a gradient; red is the frame's number.
// Infrared: a pattern that is shifted by the plane's disparity in the right image.
void SoftwareSource::paint(Stream& stream) const {
  const auto counts = static_cast<uint16_t>(
      options_.units_m > 0 ? std::min(65535.0, std::round(options_.depth_m / options_.units_m))
                           : 500);
  const double disparity = 0.9 * stream.width * 0.05 / options_.depth_m;
  for (int y = 0; y < stream.height; ++y) {
    for (int x = 0; x < stream.width; ++x) {
      const size_t i =
          static_cast<size_t>(y) * static_cast<size_t>(stream.width) + static_cast<size_t>(x);
      if (stream.kind == PlaneKind::kDepth) {
        const uint16_t z = x < 16 && y < 16 ? uint16_t{0} : counts;
        stream.pixels[i * 2] = static_cast<uint8_t>(z & 255);
        stream.pixels[i * 2 + 1] = static_cast<uint8_t>(z >> 8);
      } else if (stream.kind == PlaneKind::kColor) {
        stream.pixels[i * 3 + 1] = static_cast<uint8_t>(x * 255 / stream.width);
        stream.pixels[i * 3 + 2] = static_cast<uint8_t>(y * 255 / stream.height);
      } else {
        const double u = x + (stream.kind == PlaneKind::kInfraredRight ? disparity : 0.0);
        stream.pixels[i] =
            static_cast<uint8_t>(128 + 60 * std::sin(u * 0.9) + 60 * std::sin(y * 0.7 + u * 0.13));
      }
    }
  }
}

void SoftwareSource::emit(int number) {
  const rs2::Api& a = api();
  // The camera's clock: it runs with ours, from another zero, and has 32 bits of microseconds.
  const double stamp_ms = std::fmod(options_.first_stamp_ms + (monotonicSeconds() - began_s_) * 1e3,
                                    DeviceClock::kWrapS * 1e3);
  const bool wall = options_.domain_at > 0 && number >= options_.domain_at;
  for (Stream& stream : streams_) {
    if (stream.kind == PlaneKind::kColor) {
      for (size_t i = 0; i < stream.pixels.size(); i += 3)
        stream.pixels[i] = static_cast<uint8_t>(number & 255);
    }
    if (options_.metadata) {
      const auto stamp_us = static_cast<long long>(stamp_ms * 1e3);
      a.call(a.rs2_software_sensor_set_metadata, stream.sensor, rs2::kMetaCounter,
             static_cast<long long>(number));
      a.call(a.rs2_software_sensor_set_metadata, stream.sensor, rs2::kMetaFrameStamp, stamp_us);
      a.call(a.rs2_software_sensor_set_metadata, stream.sensor, rs2::kMetaSensorStamp,
             stamp_us - options_.exposure_us / 2);
      a.call(a.rs2_software_sensor_set_metadata, stream.sensor, rs2::kMetaExposure,
             static_cast<long long>(options_.exposure_us));
    }
    rs2::CSoftwareFrame frame{};
    // The library keeps the pixels in place until the frame's last reader is done.
    frame.pixels = std::malloc(stream.pixels.size());
    if (frame.pixels == nullptr)
      throw std::bad_alloc();
    std::memcpy(frame.pixels, stream.pixels.data(), stream.pixels.size());
    frame.deleter = [](void* pixels) { std::free(pixels); };
    frame.stride = stream.width * stream.bytes;
    frame.bpp = stream.bytes;
    frame.timestamp_ms = wall ? wallSeconds() * 1e3 : stamp_ms;
    frame.domain = static_cast<int>(wall ? Domain::kSystemTime : Domain::kHardwareClock);
    frame.frame_number = number;
    frame.profile = stream.profile;
    frame.depth_units = static_cast<float>(options_.units_m);
    a.call(a.rs2_software_sensor_on_video_frame, stream.sensor, frame);
  }
}

void SoftwareSource::feed() {
  const int fps = config().depth.wanted   ? config().depth.fps
                  : config().color.wanted ? config().color.fps
                                          : config().infrared.fps;
  const auto period = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(1.0 / fps));
  auto due = std::chrono::steady_clock::now();
  for (int number = 1; !ending_;) {
    due += period;
    std::this_thread::sleep_until(due);
    if (!playing_ || monotonicSeconds() < absent_until_s_)
      continue;
    if (options_.stall_at > 0 && number >= options_.stall_at && !healed_)
      stalled_ = true;
    if (options_.hang_at > 0 && number >= options_.hang_at)
      hanging_ = true;
    if (stalled_) {
      ++number;
      continue;
    }
    if (options_.skip_at > 0 && number == options_.skip_at)
      number += 3;
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
      emit(number);
    } catch (const CameraError&) {
      // The stream is being stopped; a camera's frame would be lost as well.
    }
    ++number;
  }
}

void SoftwareSource::open() {
  if (stalled_ && options_.heals == "restart") {
    healed_ = true;
    stalled_ = false;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  RealsenseSource::open();
  playing_ = true;
}

bool SoftwareSource::next(double timeout_s, FrameSet& out) {
  while (hanging_)  // as a call into a wedged driver does
    std::this_thread::sleep_for(std::chrono::seconds(1));
  return RealsenseSource::next(timeout_s, out);
}

bool SoftwareSource::present() {
  if (stalled_ && options_.heals == "reconnect" && absent_until_s_ == 0)
    absent_until_s_ = monotonicSeconds() + kAwayS;
  if (monotonicSeconds() < absent_until_s_)
    return false;
  if (stalled_ && options_.heals == "reconnect") {
    healed_ = true;
    stalled_ = false;
  }
  return RealsenseSource::present();
}

bool SoftwareSource::hardwareReset() {
  // The library's software device has no hardware to reset; it goes away and comes back as a camera
  // does.
  absent_until_s_ = monotonicSeconds() + kAwayS;
  if (stalled_ && options_.heals == "reset") {
    healed_ = true;
    stalled_ = false;
  }
  return true;
}

}  // namespace s2r::camera
