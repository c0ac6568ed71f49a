#include "native/camera/rs2_frames.h"

#include <algorithm>
#include <cmath>

#include "native/camera/models.h"

namespace s2r::camera::rs2 {

namespace {

// Difference of two readings of one 32-bit microsecond counter, seconds.
double counterDifference(long long later, long long earlier) {
  return static_cast<double>(
             static_cast<int32_t>(static_cast<uint32_t>(later) - static_cast<uint32_t>(earlier))) *
         1e-6;
}

// Colour formats that are not rgb8, pixel by pixel: how many bytes a pixel has and where r g b are.
struct Swizzle {
  int bytes, r, g, b;
};
std::optional<Swizzle> swizzleOf(int format) {
  switch (format) {
    case kFormatBgr8:
      return Swizzle{3, 2, 1, 0};
    case kFormatRgba8:
      return Swizzle{4, 0, 1, 2};
    case kFormatBgra8:
      return Swizzle{4, 2, 1, 0};
    case kFormatY8:
      return Swizzle{1, 0, 0, 0};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string infoOf(const Api& api, const Device* device, int item) {
  if (api.call(api.rs2_supports_device_info, device, item) == 0)
    return "";
  return api.call(api.rs2_get_device_info, device, item);
}

DeviceInfo describe(const Api& api, const Device* device) {
  DeviceInfo out;
  out.product = infoOf(api, device, kInfoName);
  out.serial = infoOf(api, device, kInfoSerial);
  out.firmware = infoOf(api, device, kInfoFirmware);
  out.product_id = infoOf(api, device, kInfoProductId);
  out.usb_type = infoOf(api, device, kInfoUsbType);
  out.physical_port = infoOf(api, device, kInfoPort);
  out.library_version = api.versionText();
  const Model model = modelOf(out.product_id);
  out.has_colour_sensor = model.has_colour_sensor;
  out.colour_from_left_imager = model.colour_from_left;
  out.transport_s = model.transport_s;
  if (!out.usb_type.empty() && out.usb_type[0] == '2') {
    out.warnings.push_back("usb2: the camera runs at USB " + out.usb_type +
                           ": fewer frames and sizes; use a USB 3 port and cable");
  }
  return out;
}

std::vector<Handle<Sensor>> sensorsOf(const Api& api, const Device* device) {
  Handle<SensorList> list(api.call(api.rs2_query_sensors, device), api.rs2_delete_sensor_list);
  const int count = api.call(api.rs2_get_sensors_count, list.get());
  std::vector<Handle<Sensor>> out;
  for (int i = 0; i < count; ++i)
    out.emplace_back(api.call(api.rs2_create_sensor, list.get(), i), api.rs2_delete_sensor);
  return out;
}

ProfileData dataOf(const Api& api, const Profile* profile) {
  ProfileData out;
  api.call(api.rs2_get_stream_profile_data, profile, &out.stream, &out.format, &out.index, &out.uid,
           &out.fps);
  return out;
}

std::optional<long long> FrameReader::metadata(const Frame* frame, int item) const {
  if (api_.call(api_.rs2_supports_frame_metadata, frame, item) == 0)
    return std::nullopt;
  return api_.call(api_.rs2_get_frame_metadata, frame, item);
}

RawPlane FrameReader::planeOf(Frame* frame, FrameOwner& owner) {
  RawPlane out;
  const Profile* profile = api_.call(api_.rs2_get_frame_stream_profile, frame);
  const ProfileData data = dataOf(api_, profile);
  if (data.stream == kStreamDepth) {
    out.kind = PlaneKind::kDepth;
  } else if (data.stream == kStreamColor) {
    out.kind = PlaneKind::kColor;
  } else if (data.stream == kStreamInfrared) {
    out.kind = data.index == 2 ? PlaneKind::kInfraredRight : PlaneKind::kInfraredLeft;
  } else {
    return out;  // format stays kNone: not one of ours
  }
  out.width = api_.call(api_.rs2_get_frame_width, frame);
  out.height = api_.call(api_.rs2_get_frame_height, frame);
  out.stride_bytes = api_.call(api_.rs2_get_frame_stride_in_bytes, frame);
  out.data = static_cast<const uint8_t*>(api_.call(api_.rs2_get_frame_data, frame));
  if (out.data == nullptr)
    throw CameraError("camera_stream", std::string(nameOf(out.kind)) + " came without pixels");

  const bool depth = out.kind == PlaneKind::kDepth;
  const bool infrared = !depth && out.kind != PlaneKind::kColor;
  if (depth && data.format == kFormatZ16) {
    out.format = PixelFormat::kZ16;
  } else if (infrared && data.format == kFormatY8) {
    out.format = PixelFormat::kY8;
  } else if (out.kind == PlaneKind::kColor && data.format == kFormatRgb8) {
    out.format = PixelFormat::kRgb8;
  } else if (const auto swizzle = swizzleOf(data.format);
             out.kind == PlaneKind::kColor && swizzle.has_value()) {
    out.format = PixelFormat::kRgb8;
    std::vector<uint8_t> rgb(static_cast<size_t>(out.width) * static_cast<size_t>(out.height) * 3);
    uint8_t* to = rgb.data();
    for (int y = 0; y < out.height; ++y) {
      const uint8_t* from =
          out.data + static_cast<size_t>(y) * static_cast<size_t>(out.stride_bytes);
      for (int x = 0; x < out.width; ++x, from += swizzle->bytes, to += 3) {
        to[0] = from[swizzle->r];
        to[1] = from[swizzle->g];
        to[2] = from[swizzle->b];
      }
    }
    owner.converted.push_back(std::move(rgb));
    out.data = owner.converted.back().data();
    out.stride_bytes = out.width * 3;
  } else {
    throw CameraError("camera_stream",
                      std::string(nameOf(out.kind)) + " comes as " +
                          api_.rs2_format_to_string(data.format) +
                          ": colour is taken as RGB8, BGR8, RGBA8, BGRA8 or Y8, depth as "
                          "Z16, infrared as Y8");
  }

  out.domain = static_cast<Domain>(api_.call(api_.rs2_get_frame_timestamp_domain, frame));
  out.stamp_s = api_.call(api_.rs2_get_frame_timestamp, frame) * 1e-3;
  const auto counter = metadata(frame, kMetaCounter);
  out.frame_number = counter ? static_cast<uint64_t>(*counter)
                             : static_cast<uint64_t>(api_.call(api_.rs2_get_frame_number, frame));
  if (const auto exposure = metadata(frame, kMetaExposure); exposure && *exposure > 0)
    out.exposure_duration_s = static_cast<double>(*exposure) * 1e-6;
  const auto sensor_stamp = metadata(frame, kMetaSensorStamp);
  const auto frame_stamp = metadata(frame, kMetaFrameStamp);
  out.has_metadata = sensor_stamp.has_value() || frame_stamp.has_value();
  if (sensor_stamp && frame_stamp)
    out.stamp_minus_middle_s = counterDifference(*frame_stamp, *sensor_stamp);
  if (depth) {
    out.units_m = static_cast<double>(api_.call(api_.rs2_depth_frame_get_units, frame));
    if (!(out.units_m > 0) || !std::isfinite(out.units_m)) {
      throw CameraError("camera_units", "the device says that one depth count is " +
                                            std::to_string(out.units_m) +
                                            " m: it must be above 0; set the device's depth units");
    }
  }

  auto entry = std::find_if(profiles_.begin(), profiles_.end(),
                            [&](const Entry& e) { return e.kind == out.kind; });
  if (entry == profiles_.end())
    entry = profiles_.insert(profiles_.end(), Entry{out.kind, {}});
  if (entry->known.uid != data.uid || entry->known.profile != profile) {
    CIntrinsics intrinsics{};
    api_.call(api_.rs2_get_video_stream_intrinsics, profile, &intrinsics);
    // The profile lives as long as the frame's sensor; it is used only while frames of it come.
    entry->known = {profile, data.uid, intrinsicsOf(intrinsics)};
    transforms_.clear();
  }
  out.intrinsics = entry->known.intrinsics;
  return out;
}

void FrameReader::addTransforms(FrameSet& set) {
  const auto find = [&](PlaneKind kind) {
    return std::find_if(set.planes.begin(), set.planes.end(),
                        [&](const RawPlane& plane) { return plane.kind == kind; });
  };
  auto reference = set.planes.end();
  for (const PlaneKind kind : {PlaneKind::kColor, PlaneKind::kInfraredLeft, PlaneKind::kDepth}) {
    reference = find(kind);
    if (reference != set.planes.end())
      break;
  }
  if (reference == set.planes.end())
    return;
  const auto profileOf = [&](PlaneKind kind) {
    return std::find_if(profiles_.begin(), profiles_.end(),
                        [&](const Entry& e) { return e.kind == kind; })
        ->known.profile;
  };
  const int reference_kind = static_cast<int>(reference->kind);
  for (RawPlane& plane : set.planes) {
    if (plane.kind == reference->kind)
      continue;
    const std::pair<int, int> key{static_cast<int>(plane.kind), reference_kind};
    auto known = std::find_if(transforms_.begin(), transforms_.end(),
                              [&](const auto& item) { return item.first == key; });
    if (known == transforms_.end()) {
      CExtrinsics extrinsics{};
      Transform X;
      if (api_.attempt(api_.rs2_get_extrinsics, profileOf(plane.kind), profileOf(reference->kind),
                       &extrinsics)) {
        X = transformOf(extrinsics);
      } else if (!same_imager_ || plane.kind == PlaneKind::kInfraredRight) {
        throw CameraError("camera_calibration",
                          std::string("the device holds no transform from ") + nameOf(plane.kind) +
                              " to " + nameOf(reference->kind) + ": its calibration is missing");
      }
      known = transforms_.insert(transforms_.end(), {key, X});
    }
    plane.X_reference_plane = known->second;
  }
}

FrameSet FrameReader::read(Frame* frame) {
  auto owner = std::make_shared<FrameOwner>(api_);
  owner->frames.push_back(frame);
  FrameSet out;
  if (api_.call(api_.rs2_is_frame_extendable_to, static_cast<const Frame*>(frame),
                kExtensionComposite) != 0) {
    const int count = api_.call(api_.rs2_embedded_frames_count, frame);
    for (int i = 0; i < count; ++i)
      owner->frames.push_back(api_.call(api_.rs2_extract_frame, frame, i));
    for (size_t i = 1; i < owner->frames.size(); ++i) {
      RawPlane plane = planeOf(owner->frames[i], *owner);
      if (plane.format != PixelFormat::kNone)
        out.planes.push_back(std::move(plane));
    }
    addTransforms(out);
  } else if (RawPlane plane = planeOf(frame, *owner); plane.format != PixelFormat::kNone) {
    out.planes.push_back(std::move(plane));
  }
  out.arrival_time_s = monotonicSeconds();
  out.owner = std::move(owner);
  return out;
}

FrameSet FrameReader::merge(std::vector<FrameSet> parts) {
  FrameSet out;
  auto owners = std::make_shared<std::vector<std::shared_ptr<void>>>();
  for (FrameSet& part : parts) {
    out.arrival_time_s = std::max(out.arrival_time_s, part.arrival_time_s);
    for (RawPlane& plane : part.planes)
      out.planes.push_back(plane);
    owners->push_back(std::move(part.owner));
  }
  addTransforms(out);
  out.owner = std::move(owners);
  return out;
}

}  // namespace s2r::camera::rs2
