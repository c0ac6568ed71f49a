// Turns the library's frames and devices into ours.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "native/camera/config.h"
#include "native/camera/rs2_api.h"

namespace s2r::camera::rs2 {

// Info of a device; an item that it does not have is empty.
[[nodiscard]] std::string infoOf(const Api& api, const Device* device, int item);
[[nodiscard]] DeviceInfo describe(const Api& api, const Device* device);

[[nodiscard]] std::vector<Handle<Sensor>> sensorsOf(const Api& api, const Device* device);

struct ProfileData {
  int stream = 0, format = 0, index = 0, uid = 0, fps = 0;
};
[[nodiscard]] ProfileData dataOf(const Api& api, const Profile* profile);

// Releases frames of the library, and keeps the pixels that had to be converted.
struct FrameOwner {
  explicit FrameOwner(const Api& from) : api(from) {}
  FrameOwner(const FrameOwner&) = delete;
  FrameOwner& operator=(const FrameOwner&) = delete;
  ~FrameOwner() {
    for (Frame* frame : frames)
      api.rs2_release_frame(frame);
  }
  const Api& api;
  std::vector<Frame*> frames;
  std::vector<std::vector<uint8_t>> converted;
};

// Reads frames into planes. Keeps what is asked once per stream: intrinsics and extrinsics.
class FrameReader {
 public:
  explicit FrameReader(const Api& api) : api_(api) {}

  // The frames of one set (a composite is taken apart); takes over the reference to `frame`.
  // Frames of other streams are dropped. Throws camera_units for depth units of 0, camera_stream
  // for formats that are not handled, camera_calibration where extrinsics are missing.
  [[nodiscard]] FrameSet read(Frame* frame);
  // Merges sets (each of one frame) into one, with transforms to its left image.
  [[nodiscard]] FrameSet merge(std::vector<FrameSet> parts);

  // For cameras whose colour is the left imager's picture, where the device holds no extrinsics.
  void setSameImager(bool same) { same_imager_ = same; }
  void forget() { profiles_.clear(); }

 private:
  struct Known {
    const Profile* profile = nullptr;
    int uid = -1;
    Intrinsics intrinsics;
  };
  [[nodiscard]] RawPlane planeOf(Frame* frame, FrameOwner& owner);
  void addTransforms(FrameSet& set);
  [[nodiscard]] std::optional<long long> metadata(const Frame* frame, int item) const;

  const Api& api_;
  bool same_imager_ = false;
  struct Entry {
    PlaneKind kind;
    Known known;
  };
  std::vector<Entry> profiles_;
  std::vector<std::pair<std::pair<int, int>, Transform>> transforms_;
};

}  // namespace s2r::camera::rs2
