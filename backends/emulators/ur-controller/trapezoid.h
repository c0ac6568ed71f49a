// Speed profile of a point-to-point move: constant acceleration, constant speed, constant
// deceleration, at rest at both ends.
#pragma once

#include <algorithm>
#include <cmath>

namespace s2r::ur {

class Trapezoid {
 public:
  Trapezoid() = default;
  // Distance >= 0, speed and acceleration > 0.
  Trapezoid(double distance, double speed, double acceleration)
      : distance_(distance), acceleration_(acceleration) {
    peak_ = std::min(speed, std::sqrt(distance * acceleration));
    ramp_s_ = peak_ / acceleration;
    cruise_s_ = peak_ > 0 ? (distance - peak_ * ramp_s_) / peak_ : 0;
  }

  [[nodiscard]] double duration() const { return 2 * ramp_s_ + cruise_s_; }
  [[nodiscard]] double distance() const { return distance_; }
  [[nodiscard]] double at(double time_s) const {
    if (time_s <= 0) {
      return 0;
    }
    if (time_s < ramp_s_) {
      return 0.5 * acceleration_ * time_s * time_s;
    }
    if (time_s < ramp_s_ + cruise_s_) {
      return 0.5 * peak_ * ramp_s_ + peak_ * (time_s - ramp_s_);
    }
    const double left = std::max(0.0, duration() - time_s);
    return distance_ - 0.5 * acceleration_ * left * left;
  }

 private:
  double distance_ = 0, acceleration_ = 1, peak_ = 0, ramp_s_ = 0, cruise_s_ = 0;
};

}  // namespace s2r::ur
