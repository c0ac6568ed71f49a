#include "native/pose/timing.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ruckig/ruckig.hpp>
#include <stdexcept>

#include "native/pose/spline.h"

namespace s2r::pose {
namespace {

// Slower than this share of the speed asked for (or of a slow walk of the arm) is no straight
// motion any more: the wrist swings round while the TCP crawls.
constexpr double kCrawlShare = 0.05, kSlowSpeed_m_s = 0.25, kSlowRotation_rad_s = 1.0;

// Room for the changes of speed in a bend.
constexpr double kCurvatureRoom = 1.1;

// One-dimensional motion from 0 to `length` under limits, from rest to rest.
class Profile {
 public:
  Profile(double length, double velocity, double acceleration, double jerk) : length_(length) {
    ruckig::InputParameter<1> input;
    input.current_position = {0};
    input.target_position = {length};
    input.max_velocity = {velocity};
    input.max_acceleration = {acceleration};
    input.max_jerk = {jerk};
    ruckig::Ruckig<1> solver;
    const ruckig::Result result = solver.calculate(input, trajectory_);
    if (result != ruckig::Result::Working && result != ruckig::Result::Finished) {
      throw std::runtime_error("no jerk-limited profile of length " + std::to_string(length) +
                               " under velocity " + std::to_string(velocity) + ", acceleration " +
                               std::to_string(acceleration) + ", jerk " + std::to_string(jerk) +
                               " (result " + std::to_string(static_cast<int>(result)) + ")");
    }
  }
  [[nodiscard]] double duration() const { return trajectory_.get_duration(); }
  [[nodiscard]] double at(double t) const {
    std::array<double, 1> position{}, velocity{}, acceleration{};
    trajectory_.at_time(std::clamp(t, 0.0, duration()), position, velocity, acceleration);
    return std::clamp(position[0], 0.0, length_);
  }
  [[nodiscard]] double timeOf(double position) const {
    double low = 0, high = duration();
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (at(middle) < position ? low : high) = middle;
    }
    return high;
  }

 private:
  double length_;
  ruckig::Trajectory<1> trajectory_;
};

class JointLine : public TimedPiece {
 public:
  JointLine(const Joints& q_start, const Joints& q_goal, const Profile& profile)
      : q_start_(q_start), q_goal_(q_goal), profile_(profile) {}
  double duration() const override { return profile_.duration(); }
  Joints at(double t) const override {
    return t >= duration() ? q_goal_ : Joints(q_start_ + profile_.at(t) * (q_goal_ - q_start_));
  }
  double timeOf(double parameter) const override { return profile_.timeOf(parameter); }

 private:
  Joints q_start_, q_goal_;
  Profile profile_;
};

// A joint that does not move sets no limit.
double ratio(double limit, double rate) {
  return rate > 1e-12 * limit ? limit / rate : 1e12;
}

class SectionMotion : public TimedPiece {
 public:
  SectionMotion(const Inverse& inverse, const PathSection& section, std::vector<Joints> nodes)
      : inverse_(inverse), section_(section), nodes_(std::move(nodes)) {
    std::vector<double> s(nodes_.size());
    for (size_t k = 0; k < s.size(); ++k) {
      s[k] = section.length() * static_cast<double>(k) / static_cast<double>(s.size() - 1);
    }
    joints_ = Spline<Joints>(std::move(s), nodes_);
  }

  // Empty when it can be timed, else why not.
  std::string time(const JointLimits& jl, const CartesianLimits& cl);

  double duration() const override { return profile_->duration() * stretch_; }
  double timeOf(double s) const override {
    // The measure u(s) inverted by bisection on the spline s(u).
    double low = 0, high = measure_;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (lengthAt(middle) < s ? low : high) = middle;
    }
    return profile_->timeOf(high) * stretch_;
  }
  Joints at(double t) const override {
    if (t >= duration()) {
      return nodes_.back();
    }
    const double s = t <= 0 ? 0 : lengthAt(profile_->at(t / stretch_));
    return jointsAt(s);
  }

 private:
  [[nodiscard]] double lengthAt(double u) const {
    return std::clamp(length_of_.at(u), 0.0, section_.length());
  }
  [[nodiscard]] Joints jointsAt(double s) const {
    const Joints guess = joints_.at(s);
    // One Newton step takes the spline's remaining error (about 1e-8) to rounding.
    const Frames frames = inverse_.kinematics().frames(guess);
    const Transform X = inverse_.kinematics().tcpOf(frames), goal = section_.pose(s);
    Joints e;
    e.head<3>() = goal.translation() - X.translation();
    e.tail<3>() = rotationBetween(X.linear(), goal.linear());
    const Joints step = inverse_.kinematics().jacobianOf(frames).partialPivLu().solve(e);
    return step.allFinite() && step.cwiseAbs().maxCoeff() < 1e-3 ? Joints(guess + step) : guess;
  }
  [[nodiscard]] double missingStretch(const JointLimits& jl, const CartesianLimits& cl) const;

  const Inverse& inverse_;
  const PathSection& section_;
  std::vector<Joints> nodes_;
  Spline<Joints> joints_;
  Spline<double> length_of_;
  double measure_ = 0, stretch_ = 1;
  std::optional<Profile> profile_;
};

std::string SectionMotion::time(const JointLimits& jl, const CartesianLimits& cl) {
  const size_t n = nodes_.size();
  const double h = section_.length() / static_cast<double>(n - 1);
  std::vector<Vec3> p(n), w(n, Vec3::Zero());
  std::vector<double> weight(n), cartesian(n);
  std::vector<Transform> X(n);
  for (size_t k = 0; k < n; ++k) {
    X[k] = section_.pose(h * static_cast<double>(k));
    p[k] = X[k].translation();
  }
  const auto clampIndex = [n](std::ptrdiff_t k) {
    return static_cast<size_t>(
        std::clamp<std::ptrdiff_t>(k, 0, static_cast<std::ptrdiff_t>(n) - 1));
  };
  const auto before = [](size_t k) { return k > 0 ? k - 1 : 0; };
  const auto after = [n](size_t k) { return std::min(k + 1, n - 1); };
  std::vector<Vec3> v(n), v2(n), w2(n);
  std::vector<Joints> q1(n), q2(n);
  for (size_t k = 0; k < n; ++k) {
    const size_t a = before(k), b = after(k);
    const double span = h * static_cast<double>(b - a);
    v[k] = (p[b] - p[a]) / span;
    w[k] = rotationBetween(X[a].linear(), X[b].linear()) / span;
    q1[k] = (nodes_[b] - nodes_[a]) / span;
  }
  for (size_t k = 0; k < n; ++k) {
    const size_t a = before(k), b = after(k);
    const double span = h * static_cast<double>(b - a);
    cartesian[k] = std::max(v[k].norm() / cl.speed_m_s, w[k].norm() / cl.rotation_speed_rad_s);
    const double slow =
        std::max(v[k].norm() / std::min(cl.speed_m_s, kSlowSpeed_m_s),
                 w[k].norm() / std::min(cl.rotation_speed_rad_s, kSlowRotation_rad_s));
    const double joints = q1[k].cwiseAbs().cwiseQuotient(jl.velocity).maxCoeff();
    if (joints * kCrawlShare > slow) {
      char buffer[200];
      std::snprintf(buffer, sizeof buffer,
                    "after %.3f m the way passes so near a singularity that the arm could only "
                    "crawl (%.1f %% of the speed); go there by a joint motion",
                    h * static_cast<double>(k), 100 * slow / joints);
      return buffer;
    }
    weight[k] = std::max(cartesian[k], joints);
    q2[k] = (q1[b] - q1[a]) / span;
    v2[k] = (v[b] - v[a]) / span;
    w2[k] = (w[b] - w[a]) / span;
  }
  // Curvature takes its share of acceleration and jerk even at constant speed.
  for (size_t k = 0; k < n; ++k) {
    const size_t a = before(k), b = after(k);
    const double span = h * static_cast<double>(b - a);
    weight[k] = std::max(
        {weight[k],
         kCurvatureRoom * std::sqrt(q2[k].cwiseAbs().cwiseQuotient(jl.acceleration).maxCoeff()),
         kCurvatureRoom * std::sqrt(v2[k].norm() / cl.acceleration_m_s2),
         kCurvatureRoom * std::sqrt(w2[k].norm() / cl.rotation_acceleration_rad_s2),
         kCurvatureRoom *
             std::cbrt((q2[b] - q2[a]).cwiseAbs().cwiseQuotient(jl.jerk).maxCoeff() / span)});
  }
  // A running maximum, then two running means over half its width, never falls below the original.
  // It is as wide as the way that a change of speed takes.
  const double change_s =
      cl.acceleration_m_s2 / cl.jerk_m_s3 + 0.5 * cl.speed_m_s / cl.acceleration_m_s2;
  const double slowest = *std::ranges::max_element(cartesian);
  const auto half = static_cast<std::ptrdiff_t>(
      std::clamp(change_s / slowest / h, 4.0, 0.25 * static_cast<double>(n)));
  std::vector<double> smooth(n), next(n);
  for (size_t k = 0; k < n; ++k) {
    double most = 0;
    for (std::ptrdiff_t d = -half; d <= half; ++d) {
      most = std::max(most, weight[clampIndex(static_cast<std::ptrdiff_t>(k) + d)]);
    }
    smooth[k] = most;
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t k = 0; k < n; ++k) {
      double sum = 0;
      for (std::ptrdiff_t d = -half / 2; d <= half / 2; ++d) {
        sum += smooth[clampIndex(static_cast<std::ptrdiff_t>(k) + d)];
      }
      next[k] = sum / static_cast<double>(2 * (half / 2) + 1);
    }
    smooth.swap(next);
  }
  std::vector<double> u(n, 0.0), s(n, 0.0);
  for (size_t k = 1; k < n; ++k) {
    u[k] = u[k - 1] + 0.5 * h * (smooth[k - 1] + smooth[k]);
    s[k] = h * static_cast<double>(k);
  }
  measure_ = u.back();
  length_of_ = Spline<double>(std::move(u), std::move(s));
  double acceleration = 1e12, jerk = 1e12;
  for (size_t k = 0; k < n; ++k) {
    acceleration = std::min({acceleration, ratio(cl.acceleration_m_s2, v[k].norm() / smooth[k]),
                             ratio(cl.rotation_acceleration_rad_s2, w[k].norm() / smooth[k])});
    jerk = std::min({jerk, ratio(cl.jerk_m_s3, v[k].norm() / smooth[k]),
                     ratio(cl.rotation_jerk_rad_s3, w[k].norm() / smooth[k])});
    for (int j = 0; j < kJoints; ++j) {
      const double rate = std::abs(q1[k][j]) / smooth[k];
      acceleration = std::min(acceleration, ratio(jl.acceleration[j], rate));
      jerk = std::min(jerk, ratio(jl.jerk[j], rate));
    }
  }
  profile_.emplace(measure_, 1.0, acceleration, jerk);
  stretch_ = 1;
  // The stretch is exact for the sampled limits; a second pass takes up what sampling missed.
  for (int pass = 0; pass < 3; ++pass) {
    const double missing = missingStretch(jl, cl);
    if (missing <= 1.0) {
      break;
    }
    stretch_ *= missing * 1.002;
  }
  return {};
}

// Factor by which the motion must last longer for every limit to hold, by differences of samples.
double SectionMotion::missingStretch(const JointLimits& jl, const CartesianLimits& cl) const {
  const double total = duration();
  const double dt = std::clamp(total / 2000, 0.0005, 0.002);
  const int count = static_cast<int>(std::ceil(total / dt)) + 4;
  std::array<Joints, 4> q;
  std::array<Vec3, 3> x;
  q.fill(nodes_.front());
  x.fill(section_.pose(0).translation());
  double missing = 0;
  for (int i = 0; i < count; ++i) {
    q[0] = q[1], q[1] = q[2], q[2] = q[3];
    x[0] = x[1], x[1] = x[2];
    const double s = i <= 0            ? 0
                     : dt * i >= total ? section_.length()
                                       : lengthAt(profile_->at(dt * i / stretch_));
    q[3] = joints_.at(s);
    x[2] = section_.pose(s).translation();
    const Joints velocity = (q[3] - q[2]) / dt;
    const Joints acceleration = (q[3] - 2 * q[2] + q[1]) / (dt * dt);
    const Joints jerk = (q[3] - 3 * q[2] + 3 * q[1] - q[0]) / (dt * dt * dt);
    missing =
        std::max({missing, velocity.cwiseAbs().cwiseQuotient(jl.velocity).maxCoeff(),
                  std::sqrt(acceleration.cwiseAbs().cwiseQuotient(jl.acceleration).maxCoeff()),
                  std::cbrt(jerk.cwiseAbs().cwiseQuotient(jl.jerk).maxCoeff()),
                  (x[2] - x[1]).norm() / dt / cl.speed_m_s,
                  std::sqrt((x[2] - 2 * x[1] + x[0]).norm() / (dt * dt) / cl.acceleration_m_s2)});
  }
  return missing;
}

}  // namespace

std::unique_ptr<TimedPiece> timeJointLine(const Joints& q_start_rad,
                                          const Joints& q_goal_rad,
                                          const JointLimits& limits) {
  const Joints delta = (q_goal_rad - q_start_rad).cwiseAbs();
  if (delta.maxCoeff() < 1e-9) {
    return nullptr;
  }
  double velocity = 1e12, acceleration = 1e12, jerk = 1e12;
  for (int j = 0; j < kJoints; ++j) {
    velocity = std::min(velocity, ratio(limits.velocity[j], delta[j]));
    acceleration = std::min(acceleration, ratio(limits.acceleration[j], delta[j]));
    jerk = std::min(jerk, ratio(limits.jerk[j], delta[j]));
  }
  return std::make_unique<JointLine>(q_start_rad, q_goal_rad,
                                     Profile(1.0, velocity, acceleration, jerk));
}

TimedSection timeSection(const Inverse& inverse,
                         const PathSection& section,
                         std::vector<Joints> nodes,
                         const JointLimits& joint_limits,
                         const CartesianLimits& cartesian_limits) {
  auto motion = std::make_unique<SectionMotion>(inverse, section, std::move(nodes));
  TimedSection out;
  out.reason = motion->time(joint_limits, cartesian_limits);
  if (out.reason.empty()) {
    out.piece = std::move(motion);
  }
  return out;
}

Samples sample(const std::vector<const TimedPiece*>& pieces,
               const Joints& q_start_rad,
               double dt_s,
               double min_duration_s) {
  double total = 0;
  for (const TimedPiece* piece : pieces) {
    total += piece->duration();
  }
  const double even = total > 0 ? std::max(1.0, min_duration_s / total) : 1.0;
  Samples out;
  out.dt_s = dt_s;
  out.q_rad.push_back(q_start_rad);
  double now = 0;
  for (const TimedPiece* piece : pieces) {
    const double wanted = piece->duration() * even;
    // A part in a million may round down: an even stretch must not cost a period.
    const int periods = std::max(1, static_cast<int>(std::ceil(wanted / dt_s - 1e-6)));
    const double stretch = periods * dt_s / piece->duration();
    for (int i = 1; i <= periods; ++i) {
      out.q_rad.push_back(piece->at(i == periods ? piece->duration() : i * dt_s / stretch));
    }
    out.piece_start_s.push_back(now);
    out.piece_stretch.push_back(stretch);
    now += periods * dt_s;
  }
  if (pieces.empty() && min_duration_s > 0) {
    const int periods = static_cast<int>(std::ceil(min_duration_s / dt_s - 1e-6));
    out.q_rad.insert(out.q_rad.end(), periods, q_start_rad);
  }
  const size_t n = out.q_rad.size();
  out.qd_rad_s.assign(n, Joints::Zero());
  for (size_t i = 1; i + 1 < n; ++i) {
    out.qd_rad_s[i] = (out.q_rad[i + 1] - out.q_rad[i - 1]) / (2 * dt_s);
  }
  return out;
}

}  // namespace s2r::pose
