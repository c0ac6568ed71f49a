// What a reader makes of a slot: a consistent copy, images rectified to pinholes, depth in metres
// registered to the left image. Tables are built once per calibration and kept.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "native/camera/frame_slots.h"
#include "native/camera/lens.h"
#include "native/camera/registration.h"

namespace s2r::camera {

struct ViewOptions {
  bool rectify = true;
  // Depth registered to the left image; without it, depth as the depth camera sees it.
  bool register_depth = true;
  // A frame whose exposure may have begun before this is not taken (CLOCK_MONOTONIC).
  double not_before_s = -std::numeric_limits<double>::infinity();
};

// Where the pixels go; an empty one is not filled. Sizes must fit the planes: width * height (* 3
// for rgb).
struct ViewBuffers {
  std::span<uint8_t> rgb;
  std::span<float> depth_m;
  std::span<uint8_t> infrared_left;
  std::span<uint8_t> infrared_right;
};

struct View {
  FrameHeader frame;
  // Of each image as it was handed out; unset where the plane is missing.
  std::array<std::optional<Intrinsics>, kPlanes> intrinsics;
  bool depth_registered = false;
  double copy_s = 0;  // time spent on the copy out of the slot
  double make_s = 0;  // time spent on rectification and registration
};

class FrameView {
 public:
  explicit FrameView(SlotReader reader) : reader_(reader) {}

  enum class Result { kOk, kNone, kOlder, kTorn };

  // Throws camera_calibration where intrinsics cannot be handled, camera_failed where a buffer has
  // another size.
  [[nodiscard]] Result read(const ViewOptions& options, const ViewBuffers& buffers, View& out);
  [[nodiscard]] uint64_t torn() const { return reader_.torn(); }

 private:
  void image(PlaneKind kind, const ViewOptions& options, std::span<uint8_t> to, View& out);
  // A camera without colour: the left infrared image in three equal channels.
  void greyAsColour(const ViewOptions& options, std::span<uint8_t> to, View& out);
  void depth(const ViewOptions& options, std::span<float> to, View& out);
  [[nodiscard]] const RemapTable& table(PlaneKind kind, const Intrinsics& k);

  SlotReader reader_;
  FrameCopy copy_;
  std::array<std::unique_ptr<RemapTable>, kPlanes> tables_;
  std::unique_ptr<DepthRegistration> registration_;
  std::vector<uint16_t> counts_;
  std::vector<uint8_t> grey_;
};

}  // namespace s2r::camera
