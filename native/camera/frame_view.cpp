#include "native/camera/frame_view.h"

#include <cstring>

namespace s2r::camera {

namespace {

size_t pixelsOf(const Intrinsics& k) {
  return static_cast<size_t>(k.width) * static_cast<size_t>(k.height);
}

void checkSize(const char* name, size_t have, size_t need) {
  if (have != need) {
    throw CameraError("camera_failed", std::string("the buffer for ") + name + " has " +
                                           std::to_string(have) + " elements, but the image has " +
                                           std::to_string(need));
  }
}

// The plane that the others are registered to.
std::optional<PlaneKind> leftOf(const FrameHeader& frame) {
  for (const PlaneKind kind : {PlaneKind::kColor, PlaneKind::kInfraredLeft, PlaneKind::kDepth}) {
    if (frame.planes[static_cast<int>(kind)].present != 0)
      return kind;
  }
  return std::nullopt;
}

}  // namespace

const RemapTable& FrameView::table(PlaneKind kind, const Intrinsics& k) {
  auto& table = tables_[static_cast<size_t>(kind)];
  if (table == nullptr || table->source() != k)
    table = std::make_unique<RemapTable>(k);
  return *table;
}

void FrameView::image(PlaneKind kind,
                      const ViewOptions& options,
                      std::span<uint8_t> to,
                      View& out) {
  const uint8_t* from = copy_.plane(kind);
  if (from == nullptr)
    return;
  const Intrinsics& k = copy_.frame.planes[static_cast<int>(kind)].intrinsics;
  const int channels = kind == PlaneKind::kColor ? 3 : 1;
  const bool bent = options.rectify && !isPinhole(k);
  out.intrinsics[static_cast<size_t>(kind)] = options.rectify ? pinholeOf(k) : k;
  if (to.empty())
    return;
  checkSize(nameOf(kind), to.size(), pixelsOf(k) * static_cast<size_t>(channels));
  if (bent)
    table(kind, k).image(from, channels, to.data());
  else
    std::memcpy(to.data(), from, to.size());
}

void FrameView::greyAsColour(const ViewOptions& options, std::span<uint8_t> to, View& out) {
  if (to.empty())
    return;
  grey_.resize(to.size() / 3);
  image(PlaneKind::kInfraredLeft, options, grey_, out);
  for (size_t i = 0; i < grey_.size(); ++i)
    std::memset(to.data() + i * 3, grey_[i], 3);
}

void FrameView::depth(const ViewOptions& options, std::span<float> to, View& out) {
  const PlaneHeader& plane = copy_.frame.planes[static_cast<int>(PlaneKind::kDepth)];
  const uint8_t* from = copy_.plane(PlaneKind::kDepth);
  if (from == nullptr)
    return;
  const auto* counts = reinterpret_cast<const uint16_t*>(from);
  const PlaneKind left = *leftOf(copy_.frame);
  if (options.register_depth && left != PlaneKind::kDepth) {
    const Intrinsics target = pinholeOf(copy_.frame.planes[static_cast<int>(left)].intrinsics);
    out.intrinsics[static_cast<size_t>(PlaneKind::kDepth)] = target;
    out.depth_registered = true;
    if (to.empty())
      return;
    checkSize("depth", to.size(), pixelsOf(target));
    if (registration_ == nullptr ||
        !registration_->matches(plane.intrinsics, target, plane.X_reference_plane)) {
      registration_ =
          std::make_unique<DepthRegistration>(plane.intrinsics, target, plane.X_reference_plane);
    }
    registration_->run(counts, plane.units_m, to.data());
    return;
  }
  out.intrinsics[static_cast<size_t>(PlaneKind::kDepth)] =
      options.rectify ? pinholeOf(plane.intrinsics) : plane.intrinsics;
  out.depth_registered = left == PlaneKind::kDepth;
  if (to.empty())
    return;
  checkSize("depth", to.size(), pixelsOf(plane.intrinsics));
  if (options.rectify && !isPinhole(plane.intrinsics)) {
    counts_.resize(to.size());
    table(PlaneKind::kDepth, plane.intrinsics).depth(counts, counts_.data());
    counts = counts_.data();
  }
  metresOf(counts, to.size(), plane.units_m, to.data());
}

FrameView::Result FrameView::read(const ViewOptions& options,
                                  const ViewBuffers& buffers,
                                  View& out) {
  const double began_s = monotonicSeconds();
  switch (reader_.copyNewest(copy_)) {
    case SlotReader::Result::kNone:
      return Result::kNone;
    case SlotReader::Result::kTorn:
      return Result::kTorn;
    case SlotReader::Result::kOk:
      break;
  }
  if (!(copy_.frame.earliest_time_s >= options.not_before_s))
    return Result::kOlder;
  const double copied_s = monotonicSeconds();
  out = View{};
  out.frame = copy_.frame;
  if (copy_.frame.planes[static_cast<int>(PlaneKind::kColor)].present != 0)
    image(PlaneKind::kColor, options, buffers.rgb, out);
  else
    greyAsColour(options, buffers.rgb, out);
  image(PlaneKind::kInfraredLeft, options, buffers.infrared_left, out);
  image(PlaneKind::kInfraredRight, options, buffers.infrared_right, out);
  depth(options, buffers.depth_m, out);
  out.copy_s = copied_s - began_s;
  out.make_s = monotonicSeconds() - copied_s;
  return Result::kOk;
}

}  // namespace s2r::camera
