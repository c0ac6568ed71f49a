// A timed joint trajectory as the cycle plays it, and its check before it is handed over.
#pragma once

#include <string>

#include "native/arm/core/config.h"

namespace s2r::arm {

// A smooth curve through the points: a cubic between neighbours with slopes that keep it within
// kChordError_rad of the straight line there, at rest at both ends. An offset between where the arm
// is and the first point fades out smoothly.
class Path {
 public:
  static constexpr double kChordError_rad = 5e-4;

  struct Point {
    Joints q{}, dq{}, ddq{}, dddq{};  // and derivatives by path time
    bool valid = false;  // false: a number in the arrays is not finite, or times do not rise
  };

  // The arrays are read later on. `limits` size the fading of the offset.
  void begin(const StartRequest& request,
             const Joints& from_rad,
             const CoreConfig& config) noexcept;
  // At path time s, which must not be less than in the call before.
  [[nodiscard]] Point at(double s) noexcept;

  [[nodiscard]] double duration() const noexcept { return duration_s_; }  // of the points
  [[nodiscard]] double end() const noexcept { return end_s_; }            // with the fading
  [[nodiscard]] uint32_t reachedPoint(double s) const noexcept;           // last point passed
  [[nodiscard]] uint32_t count() const noexcept { return count_; }
  [[nodiscard]] double time(uint32_t point) const noexcept { return time_s_[point]; }
  [[nodiscard]] double q(uint32_t point, size_t joint) const noexcept {
    return q_rad_[point * kJoints + joint];
  }

 private:
  [[nodiscard]] double slope(uint32_t point, size_t joint) const noexcept;
  [[nodiscard]] double bend(uint32_t point, size_t joint) const noexcept;
  void enter(uint32_t segment) noexcept;

  const double* time_s_ = nullptr;
  const double* q_rad_ = nullptr;
  uint32_t count_ = 0, segment_ = 0;
  bool valid_ = false;
  double duration_s_ = 0, end_s_ = 0, fade_s_ = 0;
  bool dense_ = false;  // second derivatives from differences of points, not from the cubic
  Joints offset_rad_{}, slope_from_{}, slope_to_{}, bend_from_{}, bend_to_{};
};

struct TrajectoryCheck {
  bool ok = true;
  uint32_t point = 0;   // where the first defect is
  FaultDetail defect;   // kGateNotFinite, kGateVelocity, kGateJointLimit, kGateZone
  std::string message;  // names the point, the value, the limit and the mend
};

// Reads every point (finite numbers, rising times, velocities, joint ranges, zones with the load as
// given; a body that is in a zone at the first point may leave it but not go deeper). Allocates:
// for the caller's thread, before a start.
[[nodiscard]] TrajectoryCheck checkTrajectory(const CoreConfig& config,
                                              const double* time_s,
                                              const double* q_rad,
                                              uint32_t count,
                                              const LoadUpdate& load);

}  // namespace s2r::arm
