// A recording (.bag, or whatever the library plays) through the same library, in its own time.
//
// Read by sensors and one queue, not by the library's pipeline: recordings of a few frames play out
// before a pipeline is ready for them. Planes are paired here: a set is made for each new depth
// (else colour) frame with the newest of the other streams, where their stamps are of one domain
// and at most max_skew_s apart.
#pragma once

#include <array>
#include <optional>

#include "native/camera/rs2_frames.h"
#include "native/camera/source.h"

namespace s2r::camera {

class RecordingSource : public Source {
 public:
  // Throws camera_library, or camera_not_found where the file is missing.
  explicit RecordingSource(const CameraConfig& config);
  ~RecordingSource() override;

  void open() override;
  bool next(double timeout_s, FrameSet& out) override;
  void close() override;
  [[nodiscard]] DeviceInfo info() const override { return info_; }

 private:
  struct Opened {
    rs2::Handle<rs2::Sensor> sensor;
    bool started = false;
  };
  [[nodiscard]] bool wants(const rs2::ProfileData& data) const;
  void startRound();
  void endRound();
  // Whether the frames so far make a set.
  [[nodiscard]] bool pair(FrameSet& out);

  CameraConfig config_;
  std::unique_ptr<rs2::Api> api_;
  rs2::Handle<rs2::Context> context_;
  std::unique_ptr<rs2::FrameReader> reader_;
  rs2::Handle<rs2::Device> device_;
  std::vector<Opened> sensors_;
  rs2::Handle<rs2::Queue> queue_;
  std::array<std::optional<FrameSet>, kPlanes> latest_;
  DeviceInfo info_;
  double max_skew_s_ = 0;
  bool first_of_round_ = false;
  bool ended_ = false;
  double stopped_at_s_ = 0;  // when the player was first seen at its end; 0 while it plays
};

}  // namespace s2r::camera
