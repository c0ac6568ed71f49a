#include "native/camera/recording_source.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace s2r::camera {

namespace {
// Frames that the queue holds; more than any recording plays while one set is copied.
constexpr int kQueueFrames = 16;
// After the player says that it stopped, frames still on their way arrive within this.
constexpr double kDrainS = 0.1;
// Rounds of an empty or unreadable recording follow each other no faster.
constexpr double kLeastRoundS = 0.05;
}  // namespace

RecordingSource::RecordingSource(const CameraConfig& config)
    : config_(config),
      api_(std::make_unique<rs2::Api>(config.realsense.library, config.realsense.preload)),
      context_(api_->call(api_->rs2_create_context, api_->version()), api_->rs2_delete_context),
      reader_(std::make_unique<rs2::FrameReader>(*api_)) {
  if (access(config.recording.file.c_str(), R_OK) != 0)
    throw CameraError("camera_not_found", "no recording can be read at " + config.recording.file);
}

RecordingSource::~RecordingSource() {
  try {
    close();
  } catch (const CameraError&) {
    // The process is ending; the player is left to the kernel.
  }
}

bool RecordingSource::wants(const rs2::ProfileData& data) const {
  switch (data.stream) {
    case rs2::kStreamDepth:
      return config_.depth.wanted;
    case rs2::kStreamColor:
      return config_.color.wanted;
    case rs2::kStreamInfrared:
      return config_.infrared.wanted;
    default:
      return false;
  }
}

void RecordingSource::open() {
  device_ = {
      api_->call(api_->rs2_context_add_device, context_.get(), config_.recording.file.c_str()),
      api_->rs2_delete_device};
  info_ = rs2::describe(*api_, device_.get());
  info_.transport_s = 0;  // played, not transported
  reader_->setSameImager(info_.colour_from_left_imager);
  info_.period_s = 0;
  for (const auto& sensor : rs2::sensorsOf(*api_, device_.get()))
    sensors_.push_back({sensor, false});
  startRound();
}

void RecordingSource::startRound() {
  queue_ = {api_->call(api_->rs2_create_frame_queue, kQueueFrames), api_->rs2_delete_frame_queue};
  for (auto& latest : latest_)
    latest.reset();
  reader_->forget();
  first_of_round_ = true;
  stopped_at_s_ = 0;
  ended_ = false;
  // Paused, or the first sensor's frames play out before the others have started.
  const rs2::Device* player = device_.get();
  api_->attempt(api_->rs2_playback_device_pause, player);
  std::array<bool, kPlanes> offered{};
  for (Opened& opened : sensors_) {
    rs2::Handle<rs2::ProfileList> list(
        api_->call(api_->rs2_get_stream_profiles, opened.sensor.get()),
        api_->rs2_delete_stream_profiles_list);
    const rs2::ProfileList* profiles = list.get();
    std::vector<const rs2::Profile*> wanted;
    for (int i = 0; i < api_->call(api_->rs2_get_stream_profiles_count, profiles); ++i) {
      const rs2::Profile* profile = api_->call(api_->rs2_get_stream_profile, profiles, i);
      const rs2::ProfileData data = rs2::dataOf(*api_, profile);
      if (!wants(data))
        continue;
      wanted.push_back(profile);
      info_.period_s = std::max(info_.period_s, data.fps > 0 ? 1.0 / data.fps : 0.0);
      const PlaneKind kind = data.stream == rs2::kStreamDepth   ? PlaneKind::kDepth
                             : data.stream == rs2::kStreamColor ? PlaneKind::kColor
                             : data.index == 2                  ? PlaneKind::kInfraredRight
                                                                : PlaneKind::kInfraredLeft;
      offered[static_cast<size_t>(kind)] = true;
    }
    if (wanted.empty())
      continue;
    api_->call(api_->rs2_open_multiple, opened.sensor.get(), wanted.data(),
               static_cast<int>(wanted.size()));
    const rs2::Sensor* sensor = opened.sensor.get();
    api_->call(api_->rs2_start_queue, sensor, queue_.get());
    opened.started = true;
  }
  const auto require = [&](bool wanted, PlaneKind kind) {
    if (wanted && !offered[static_cast<size_t>(kind)]) {
      throw CameraError("camera_stream", config_.recording.file + " holds no stream " +
                                             nameOf(kind) + ": leave it out of `streams`");
    }
  };
  require(config_.color.wanted, PlaneKind::kColor);
  require(config_.depth.wanted, PlaneKind::kDepth);
  require(config_.infrared.wanted, PlaneKind::kInfraredLeft);
  require(config_.infrared.wanted, PlaneKind::kInfraredRight);
  if (info_.period_s <= 0)
    info_.period_s = 1.0 / 30;
  max_skew_s_ =
      config_.recording.max_skew_s > 0 ? config_.recording.max_skew_s : 1.05 * info_.period_s;
  api_->attempt(api_->rs2_playback_device_resume, player);
}

void RecordingSource::endRound() {
  for (auto& latest : latest_)
    latest.reset();
  for (Opened& opened : sensors_) {
    if (!opened.started)
      continue;
    opened.started = false;
    const rs2::Sensor* sensor = opened.sensor.get();
    // A player at its end has stopped its sensors itself.
    api_->attempt(api_->rs2_stop, sensor);
    api_->attempt(api_->rs2_close, sensor);
  }
  queue_ = nullptr;
}

bool RecordingSource::pair(FrameSet& out) {
  const PlaneKind leading = config_.depth.wanted   ? PlaneKind::kDepth
                            : config_.color.wanted ? PlaneKind::kColor
                                                   : PlaneKind::kInfraredLeft;
  std::vector<PlaneKind> wanted;
  if (config_.depth.wanted)
    wanted.push_back(PlaneKind::kDepth);
  if (config_.color.wanted)
    wanted.push_back(PlaneKind::kColor);
  if (config_.infrared.wanted) {
    wanted.push_back(PlaneKind::kInfraredLeft);
    wanted.push_back(PlaneKind::kInfraredRight);
  }
  const auto latest = [&](PlaneKind kind) -> const std::optional<FrameSet>& {
    return latest_[static_cast<size_t>(kind)];
  };
  for (const PlaneKind kind : wanted) {
    if (!latest(kind))
      return false;
  }
  // One set for each leading frame: made when it comes, or when the last partner comes after it.
  const RawPlane& lead = latest(leading)->planes[0];
  for (const PlaneKind kind : wanted) {
    const RawPlane& plane = latest(kind)->planes[0];
    if (plane.domain != lead.domain || std::abs(plane.stamp_s - lead.stamp_s) > max_skew_s_)
      return false;
  }
  std::vector<FrameSet> parts;
  for (const PlaneKind kind : wanted)
    parts.push_back(*latest(kind));
  latest_[static_cast<size_t>(leading)].reset();
  out = reader_->merge(std::move(parts));
  out.clock_restarted = first_of_round_;
  first_of_round_ = false;
  return true;
}

bool RecordingSource::next(double timeout_s, FrameSet& out) {
  const double deadline = monotonicSeconds() + timeout_s;
  const rs2::Device* player = device_.get();
  for (;;) {
    const double left = deadline - monotonicSeconds();
    if (left <= 0)
      return false;
    if (ended_) {
      std::this_thread::sleep_for(std::chrono::duration<double>(left));
      return false;
    }
    rs2::Frame* frame = nullptr;
    const auto wait_ms = static_cast<unsigned>(std::clamp(left * 1e3, 1.0, 20.0));
    if (api_->call(api_->rs2_try_wait_for_frame, queue_.get(), wait_ms, &frame) != 0) {
      FrameSet single = reader_->read(frame);
      if (single.planes.empty())
        continue;
      const PlaneKind kind = single.planes[0].kind;
      latest_[static_cast<size_t>(kind)] = std::move(single);
      if (pair(out))
        return true;
      continue;
    }
    const bool stopped =
        api_->call(api_->rs2_playback_device_get_current_status, player) == rs2::kStatusStopped;
    if (!stopped) {
      stopped_at_s_ = 0;
    } else if (stopped_at_s_ == 0) {
      stopped_at_s_ = monotonicSeconds();
    } else if (monotonicSeconds() - stopped_at_s_ > kDrainS) {
      if (!config_.recording.loop) {
        ended_ = true;
        continue;
      }
      endRound();
      std::this_thread::sleep_for(std::chrono::duration<double>(kLeastRoundS));
      startRound();
    }
  }
}

void RecordingSource::close() {
  if (device_ == nullptr)
    return;
  endRound();
  sensors_.clear();
  device_ = nullptr;
  api_->attempt(api_->rs2_context_remove_device, context_.get(), config_.recording.file.c_str());
}

}  // namespace s2r::camera
