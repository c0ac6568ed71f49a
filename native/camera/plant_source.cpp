#include "native/camera/plant_source.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <zmq_addon.hpp>

#include "native/camera/lens.h"

namespace s2r::camera {

namespace {

using nlohmann::json;

constexpr double kAskAgainS = 1;

[[noreturn]] void malformed(const std::string& what) {
  throw CameraError("camera_stream", "the bench's reply " + what);
}

// The bench may say more than is read here: its words are another program's.
double numberOf(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_number())
    malformed(std::string("has no number ") + key);
  return object.at(key).get<double>();
}

Transform transformOf(const json& value, const char* key) {
  if (!value.is_array() || value.size() != 16)
    malformed(std::string(key) + " is not 16 numbers");
  Transform out;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column)
      out.r[row * 3 + column] = value.at(row * 4 + column).get<double>();
    out.t[row] = value.at(row * 4 + 3).get<double>();
  }
  return out;
}

RawPlane planeOf(const json& plane,
                 PlaneKind kind,
                 const json& reply,
                 const std::vector<zmq::message_t>& parts) {
  RawPlane out;
  out.kind = kind;
  const std::string format = plane.value("format", "");
  out.format = kind == PlaneKind::kColor   ? PixelFormat::kRgb8
               : kind == PlaneKind::kDepth ? PixelFormat::kZ16
                                           : PixelFormat::kY8;
  const char* wanted = kind == PlaneKind::kColor   ? "rgb8"
                       : kind == PlaneKind::kDepth ? "z16"
                                                   : "y8";
  if (format != wanted)
    malformed(std::string(nameOf(kind)) + " has format \"" + format + "\", not " + wanted);
  const auto size = [&](const char* key) {
    return static_cast<int>(numberOf(plane.contains(key) ? plane : reply, key));
  };
  Intrinsics& k = out.intrinsics;
  k.width = out.width = size("width");
  k.height = out.height = size("height");
  k.fx = numberOf(plane, "fx");
  k.fy = numberOf(plane, "fy");
  k.cx = numberOf(plane, "cx");
  k.cy = numberOf(plane, "cy");
  k.model = distortionByName(plane.value("model", "none"));
  if (plane.contains("coeffs")) {
    const json& coeffs = plane.at("coeffs");
    if (!coeffs.is_array() || coeffs.size() != 5)
      malformed("has coeffs that are not five numbers");
    for (size_t i = 0; i < 5; ++i)
      k.coeffs[i] = coeffs.at(i).get<double>();
  }
  checkIntrinsics(k, nameOf(kind));
  out.stride_bytes = out.width * bytesPerPixel(out.format);
  const auto part = static_cast<size_t>(numberOf(plane, "part"));
  const size_t bytes = static_cast<size_t>(out.stride_bytes) * static_cast<size_t>(out.height);
  if (part == 0 || part >= parts.size() || parts[part].size() != bytes) {
    malformed(std::string(nameOf(kind)) + " names part " + std::to_string(part) +
              ", which is not there with " + std::to_string(bytes) + " bytes");
  }
  out.data = static_cast<const uint8_t*>(parts[part].data());
  out.frame_number = static_cast<uint64_t>(numberOf(reply, "frame_number"));
  out.stamp_s = numberOf(reply, "exposure_time_s");
  out.domain = Domain::kMonotonic;
  out.has_metadata = true;
  if (kind == PlaneKind::kDepth) {
    out.units_m = numberOf(plane, "units_m");
    if (!(out.units_m > 0) || !std::isfinite(out.units_m))
      throw CameraError("camera_units", "the bench says that one depth count is " +
                                            std::to_string(out.units_m) + " m: it must be above 0");
  }
  return out;
}

}  // namespace

PlantSource::PlantSource(const CameraConfig& config) : config_(config) {}

void PlantSource::connect() {
  socket_.emplace(context_, zmq::socket_type::req);
  socket_->set(zmq::sockopt::linger, 0);
  socket_->connect(config_.plant.address);
  asked_ = false;
}

void PlantSource::open() {
  try {
    connect();
  } catch (const zmq::error_t& error) {
    throw CameraError("camera_not_found", "the bench's address " + config_.plant.address +
                                              " cannot be used: " + error.what());
  }
  info_.product = "emulated bench";
  // Opened again, it is still the camera that it was.
  if (!serial_known_)
    info_.serial = config_.plant.camera;
  info_.period_s = 0.2;
}

void PlantSource::close() {
  socket_.reset();
}

bool PlantSource::next(double timeout_s, FrameSet& out) {
  if (!socket_)
    connect();
  if (!asked_) {
    json request = {{"camera", config_.plant.camera}, {"not_before_s", not_before_s_}};
    if (config_.infrared.wanted)
      request["infrared"] = true;
    socket_->send(zmq::buffer(request.dump()), zmq::send_flags::none);
    asked_ = true;
  }
  zmq::pollitem_t item{*socket_, 0, ZMQ_POLLIN, 0};
  zmq::poll(&item, 1, std::chrono::milliseconds(static_cast<int>(std::ceil(timeout_s * 1e3))));
  if ((item.revents & ZMQ_POLLIN) == 0)
    return false;  // the request stays out; its answer may still come
  std::vector<zmq::message_t> parts;
  if (!zmq::recv_multipart(*socket_, std::back_inserter(parts)) || parts.empty())
    return false;
  asked_ = false;
  out = read(std::move(parts));
  return true;
}

bool PlantSource::present() {
  if (!refused_)
    return true;
  // Absent as long as the bench says so: it is asked again, and its picture is not used.
  FrameSet unused;
  try {
    return next(kAskAgainS, unused);
  } catch (const CameraError& error) {
    return error.code() != "camera_refused";
  }
}

// A camera of another serial number stands elsewhere and sees with other intrinsics: its pictures
// are not this camera's, which counts as absent until it is back.
void PlantSource::noteSerial(const json& reply) {
  if (!reply.contains("serial") || !reply.at("serial").is_string())
    return;
  const std::string serial = reply.at("serial").get<std::string>();
  if (serial_known_ && serial != info_.serial) {
    refused_ = true;
    throw CameraError("camera_refused", "another camera answers, with serial number " + serial +
                                            " in place of " + info_.serial);
  }
  info_.serial = serial;
  serial_known_ = true;
}

FrameSet PlantSource::read(std::vector<zmq::message_t> received) {
  auto parts = std::make_shared<std::vector<zmq::message_t>>(std::move(received));
  const json reply = json::parse(parts->front().to_string_view(), nullptr, false);
  if (reply.is_discarded() || !reply.is_object())
    malformed("is not JSON");
  refused_ = reply.contains("error");
  if (refused_) {
    const json& why = reply.at("error");
    throw CameraError(
        "camera_refused",
        "the bench refused: " + (why.is_string() ? why.get<std::string>() : why.dump()));
  }
  noteSerial(reply);
  FrameSet out;
  try {
    if (config_.color.wanted) {
      if (!reply.contains("color"))
        malformed("has no color");
      out.planes.push_back(planeOf(reply.at("color"), PlaneKind::kColor, reply, *parts));
    }
    if (config_.infrared.wanted) {
      if (!reply.contains("infrared") || reply.at("infrared").is_null())
        malformed("has no infrared pair");
      // One geometry for both, the right imager beside the left one along its x axis. Depth is in
      // the left imager's frame, as RealSense cameras have it.
      json pair = reply.at("infrared");
      const double baseline_m = numberOf(pair, "baseline_m");
      pair["part"] = numberOf(pair, "left_part");
      RawPlane left = planeOf(pair, PlaneKind::kInfraredLeft, reply, *parts);
      pair["part"] = numberOf(pair, "right_part");
      RawPlane right = planeOf(pair, PlaneKind::kInfraredRight, reply, *parts);
      if (config_.color.wanted)
        left.X_reference_plane = transformOf(reply.at("X_color_depth"), "X_color_depth");
      right.X_reference_plane = left.X_reference_plane;
      for (int row = 0; row < 3; ++row)
        right.X_reference_plane.t[row] += baseline_m * left.X_reference_plane.r[row * 3];
      out.planes.push_back(std::move(left));
      out.planes.push_back(std::move(right));
    }
    if (config_.depth.wanted) {
      if (!reply.contains("depth"))
        malformed("has no depth");
      RawPlane depth = planeOf(reply.at("depth"), PlaneKind::kDepth, reply, *parts);
      if (config_.color.wanted)
        depth.X_reference_plane = transformOf(reply.at("X_color_depth"), "X_color_depth");
      out.planes.push_back(std::move(depth));
    }
  } catch (const json::exception& error) {
    malformed(std::string("cannot be read: ") + error.what());
  }
  out.arrival_time_s = monotonicSeconds();
  out.owner = std::move(parts);
  return out;
}

}  // namespace s2r::camera
