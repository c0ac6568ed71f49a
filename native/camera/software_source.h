// The library's software device in the place of a camera: everything above the USB is the live
// path. For tests and for trying a workstation without hardware. It misbehaves on request.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "native/camera/realsense_source.h"

namespace s2r::camera {

class SoftwareSource : public RealsenseSource {
 public:
  explicit SoftwareSource(const CameraConfig& config);
  ~SoftwareSource() override;

  void open() override;
  bool next(double timeout_s, FrameSet& out) override;
  bool hardwareReset() override;
  bool present() override;

 private:
  struct Stream {
    rs2::Sensor* sensor = nullptr;
    rs2::Profile* profile = nullptr;
    PlaneKind kind = PlaneKind::kColor;
    int width = 0, height = 0, bytes = 1;
    std::vector<uint8_t> pixels;
  };
  void addStream(PlaneKind kind, const StreamRequest& request);
  void paint(Stream& stream) const;
  void feed();
  void emit(int number);

  const SoftwareOptions options_;
  const double began_s_ = monotonicSeconds();
  rs2::Handle<rs2::Device> device_;
  rs2::Handle<rs2::Pipeline> keeper_;
  std::vector<rs2::Handle<rs2::Sensor>> sensors_;
  std::vector<Stream> streams_;
  std::mutex mutex_;
  std::thread feeder_;
  std::atomic<bool> ending_{false};
  std::atomic<bool> playing_{false};
  std::atomic<bool> stalled_{false};
  std::atomic<bool> healed_{false};
  std::atomic<bool> hanging_{false};
  std::atomic<double> absent_until_s_{0};
};

}  // namespace s2r::camera
