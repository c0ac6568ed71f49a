#include "native/camera/frame_publisher.h"

#include <algorithm>
#include <limits>

#include "native/camera/lens.h"

namespace s2r::camera {

FramePublisher::FramePublisher(std::vector<PlaneKind> wanted,
                               uint32_t slots,
                               double transport_s,
                               std::function<void*(const MemoryLayout&)> memory)
    : wanted_(std::move(wanted)), slots_(slots), memory_(std::move(memory)) {
  for (int i = 0; i < kPlanes; ++i)
    tracks_.emplace_back(transport_s);
}

const RawPlane* FramePublisher::find(const FrameSet& set, PlaneKind kind) const {
  const auto found = std::find_if(set.planes.begin(), set.planes.end(),
                                  [&](const RawPlane& plane) { return plane.kind == kind; });
  return found == set.planes.end() ? nullptr : &*found;
}

void FramePublisher::observe(const RawPlane& plane, double arrival_time_s) {
  Track& track = tracks_[static_cast<size_t>(plane.kind)];
  // A stream that is slower than its partners comes again with the same frame.
  if (track.number == plane.frame_number && track.stamp_s == plane.stamp_s)
    return;
  track.counter.next(plane.frame_number);
  track.number = plane.frame_number;
  track.stamp_s = plane.stamp_s;
  track.reading = track.clock.read(plane, arrival_time_s, wallSeconds() - monotonicSeconds());
  restarted_ = restarted_ || (track.reading.ok && track.reading.restarted);
}

bool FramePublisher::acceptable(const FrameSet& set) {
  const Domain domain = set.planes.front().domain;
  const bool mixed = std::any_of(set.planes.begin(), set.planes.end(),
                                 [&](const RawPlane& plane) { return plane.domain != domain; });
  if (mixed && ++mixed_ >= kMixedLimit) {
    throw CameraError("camera_clock",
                      "the streams' stamps come from different clocks (" +
                          std::string(nameOf(set.planes.front().domain)) + " and " +
                          nameOf(set.planes.back().domain) +
                          "), so frames cannot be paired: enable metadata on all streams");
  }
  if (mixed)
    return false;
  mixed_ = 0;
  return std::all_of(set.planes.begin(), set.planes.end(), [&](const RawPlane& plane) {
    return tracks_[static_cast<size_t>(plane.kind)].reading.ok;
  });
}

uint64_t FramePublisher::publish(const FrameSet& set) {
  if (set.clock_restarted) {
    for (Track& track : tracks_) {
      track.clock.reset();
      track.counter.reset();
      track.number.reset();
    }
  }
  for (const RawPlane& plane : set.planes)
    observe(plane, set.arrival_time_s);
  const bool complete = std::all_of(wanted_.begin(), wanted_.end(),
                                    [&](PlaneKind kind) { return find(set, kind) != nullptr; });
  if (!complete || !acceptable(set)) {
    ++refused_;
    return 0;
  }
  if (!writer_) {
    std::vector<uint64_t> bytes;
    for (const PlaneKind kind : wanted_) {
      const RawPlane* plane = find(set, kind);
      checkIntrinsics(plane->intrinsics, nameOf(kind));
      bytes.push_back(static_cast<uint64_t>(plane->width) * static_cast<uint64_t>(plane->height) *
                      static_cast<uint64_t>(bytesPerPixel(plane->format)));
    }
    const MemoryLayout layout = layoutFor(slots_, bytes);
    writer_.emplace(memory_(layout), layout);
  }
  writer_->begin();
  FrameHeader frame;
  frame.arrival_time_s = set.arrival_time_s;
  frame.earliest_time_s = std::numeric_limits<double>::infinity();
  for (const PlaneKind kind : wanted_) {
    const RawPlane& plane = *find(set, kind);
    const Track& track = tracks_[static_cast<size_t>(kind)];
    PlaneHeader header;
    header.frame_number = plane.frame_number;
    header.lost = track.counter.lost();
    header.stamp_s = plane.stamp_s;
    header.exposure_time_s = track.reading.middle_time_s;
    header.earliest_time_s = track.reading.earliest_time_s;
    header.exposure_duration_s = plane.exposure_duration_s.value_or(kUnknown);
    header.uncertainty_s = track.reading.uncertainty_s;
    header.units_m = plane.units_m;
    header.domain = plane.domain;
    header.clamped = track.reading.clamped ? 1 : 0;
    header.has_metadata = plane.has_metadata ? 1 : 0;
    header.intrinsics = plane.intrinsics;
    header.intrinsics.width = plane.width;
    header.intrinsics.height = plane.height;
    header.X_reference_plane = plane.X_reference_plane;
    writer_->addPlane(kind, header, plane);
    frame.earliest_time_s = std::min(frame.earliest_time_s, header.earliest_time_s);
    last_.planes[static_cast<int>(kind)] = header;
    last_.planes[static_cast<int>(kind)].present = 1;
  }
  if (restarted_ && last_.count > 0)
    ++restarts_;
  restarted_ = false;
  frame.clock_restarts = restarts_;
  frame.refused = refused_;
  frame.published_time_s = monotonicSeconds();
  last_.arrival_time_s = frame.arrival_time_s;
  last_.earliest_time_s = frame.earliest_time_s;
  last_.count = writer_->publish(frame);
  return last_.count;
}

}  // namespace s2r::camera
