// Frames of the emulated bench, asked for over ZeroMQ: one request, one reply (JSON, then raw
// pixels).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <zmq.hpp>

#include "native/camera/source.h"

namespace s2r::camera {

class PlantSource : public Source {
 public:
  explicit PlantSource(const CameraConfig& config);

  void open() override;
  bool next(double timeout_s, FrameSet& out) override;
  void close() override;
  [[nodiscard]] DeviceInfo info() const override { return info_; }
  [[nodiscard]] bool onDemand() const override { return true; }
  bool present() override;
  void want(double not_before_s) override { not_before_s_ = not_before_s; }

 private:
  void connect();
  [[nodiscard]] FrameSet read(std::vector<zmq::message_t> parts);
  void noteSerial(const nlohmann::json& reply);

  CameraConfig config_;
  zmq::context_t context_{1};
  std::optional<zmq::socket_t> socket_;
  double not_before_s_ = 0;
  bool asked_ = false;
  bool refused_ = false;
  bool serial_known_ = false;
  DeviceInfo info_;
};

}  // namespace s2r::camera
