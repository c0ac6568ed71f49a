// Timing of geometric motions under velocity, acceleration and jerk limits.
#pragma once

#include <memory>

#include "native/pose/follow.h"

namespace s2r::pose {

struct JointLimits {
  Joints velocity = Joints::Zero(), acceleration = Joints::Zero(), jerk = Joints::Zero();
};

struct CartesianLimits {
  double speed_m_s = 0.25, acceleration_m_s2 = 1.2, jerk_m_s3 = 12;
  double rotation_speed_rad_s = 1.0, rotation_acceleration_rad_s2 = 4, rotation_jerk_rad_s3 = 40;
};

// A motion from rest to rest as a function of time.
class TimedPiece {
 public:
  virtual ~TimedPiece() = default;
  [[nodiscard]] virtual double duration() const = 0;
  [[nodiscard]] virtual Joints at(double t) const = 0;
  // Time at which the path parameter (joint line: 0 to 1; section: path length) is reached.
  [[nodiscard]] virtual double timeOf(double parameter) const = 0;
};

// A straight line in joint space: one jerk-limited profile of its parameter, so that it stays
// straight.
[[nodiscard]] std::unique_ptr<TimedPiece> timeJointLine(const Joints& q_start_rad,
                                                        const Joints& q_goal_rad,
                                                        const JointLimits& limits);

// A followed section. The path is re-measured in "seconds at full speed": each stretch counts as
// long as the tightest of TCP speed, joint speed and the curvature's share of acceleration and jerk
// makes it, smoothed; a one-dimensional jerk-limited profile (Ruckig) then runs over that measure,
// and the whole is stretched evenly by what is still missing. So it slows down only near where it
// must. Fails (null, reason) where a singularity would force it to crawl.
struct TimedSection {
  std::unique_ptr<TimedPiece> piece;
  std::string reason;
};
[[nodiscard]] TimedSection timeSection(const Inverse& inverse,
                                       const PathSection& section,
                                       std::vector<Joints> nodes,
                                       const JointLimits& joint_limits,
                                       const CartesianLimits& cartesian_limits);

// Samples of pieces played one after another.
struct Samples {
  double dt_s = 0;
  std::vector<Joints> q_rad, qd_rad_s;
  std::vector<double> piece_start_s, piece_stretch;  // stretch: time played per time of the piece
};
// Each piece is stretched to a whole number of periods, and all evenly to last `min_duration_s`.
[[nodiscard]] Samples sample(const std::vector<const TimedPiece*>& pieces,
                             const Joints& q_start_rad,
                             double dt_s,
                             double min_duration_s);

}  // namespace s2r::pose
