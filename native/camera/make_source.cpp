#include "native/camera/plant_source.h"
#include "native/camera/realsense_source.h"
#include "native/camera/recording_source.h"
#include "native/camera/software_source.h"

namespace s2r::camera {

std::unique_ptr<Source> makeSource(const CameraConfig& config) {
  switch (config.source) {
    case SourceKind::kRealsense:
      return std::make_unique<RealsenseSource>(config);
    case SourceKind::kRecording:
      return std::make_unique<RecordingSource>(config);
    case SourceKind::kPlant:
      return std::make_unique<PlantSource>(config);
    case SourceKind::kSoftware:
      return std::make_unique<SoftwareSource>(config);
  }
  throw CameraError("camera_config", "no such source");
}

}  // namespace s2r::camera
