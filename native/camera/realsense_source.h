// A live RealSense camera, found by its serial number.
#pragma once

#include "native/camera/rs2_frames.h"
#include "native/camera/source.h"

namespace s2r::camera {

class RealsenseSource : public Source {
 public:
  // Loads the library and makes the one context of this process. Throws camera_library.
  explicit RealsenseSource(const CameraConfig& config);
  ~RealsenseSource() override;

  void open() override;
  bool next(double timeout_s, FrameSet& out) override;
  void close() override;
  [[nodiscard]] DeviceInfo info() const override { return info_; }
  bool hardwareReset() override;
  bool present() override;

 protected:
  [[nodiscard]] const rs2::Api& api() const { return *api_; }
  [[nodiscard]] rs2::Context* context() const { return context_.get(); }
  [[nodiscard]] const CameraConfig& config() const { return config_; }

 private:
  // Null where no device of the serial is there; `seen` gets the serials that are.
  [[nodiscard]] rs2::Handle<rs2::Device> find(std::string* seen = nullptr) const;
  void prepare(const rs2::Device* device);
  void refuseMissingColour() const;

  CameraConfig config_;
  std::unique_ptr<rs2::Api> api_;
  rs2::Handle<rs2::Context> context_;
  std::unique_ptr<rs2::FrameReader> reader_;
  rs2::Handle<rs2::Pipeline> pipeline_;
  rs2::Handle<rs2::PipelineProfile> profile_;
  bool started_ = false;
  bool restarted_ = false;
  DeviceInfo info_;
};

}  // namespace s2r::camera
