#include "native/pose/inverse.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace s2r::pose {
namespace {

constexpr double kExactStructure = 1e-12;  // departure from the exact geometry that is rounding
constexpr double kSolutionError = 1e-10;   // metres and radians
constexpr double kRoundingSlack =
    1e-7;  // metres; rounding may put a pose on the edge of reach beyond it
constexpr double kSameSolution = 1e-6;  // radians
constexpr double kFreeWrist = 1e-9;     // sine of joint 5 under which joint 6 is free

// How near a singularity (in sine or ratio) the closed form of the nearest arm says too little
// about the true one: then Newton's method starts from further seeds around it.
constexpr double kNearShoulder = 0.97, kNearWrist = 0.1, kNearElbow = 0.1;

template <int kMost>
class Seeds {
 public:
  void add(double value) { values_[count_++] = value; }
  [[nodiscard]] const double* begin() const { return values_.data(); }
  [[nodiscard]] const double* end() const { return values_.data() + count_; }

 private:
  std::array<double, kMost> values_;
  int count_ = 0;
};

// Largest difference of position and of the rotation's entries.
double poseError(const Transform& from, const Transform& to) {
  return (to.matrix() - from.matrix()).topRows<3>().cwiseAbs().maxCoeff();
}

bool hasExactGeometry(const ArmModel& model) {
  for (int i = 0; i < kJoints; ++i) {
    const bool lengthFree = i == 1 || i == 2;
    if ((!lengthFree && std::abs(model.dh[i].a_m) > kExactStructure) ||
        std::abs(model.dh[i].alpha_rad - kUrAlpha[i]) > kExactStructure) {
      return false;
    }
  }
  return true;
}

}  // namespace

double wrapAngle(double angle_rad) {
  const double turned = std::remainder(angle_rad, 2 * kPi);
  return turned <= -kPi ? kPi : turned;
}

Inverse::Inverse(const ArmModel& model)
    : kinematics_(model), min_rad_(model.position_min_rad), max_rad_(model.position_max_rad) {
  for (int i = 0; i < kJoints; ++i) {
    if (!(std::abs(model.dh[i].alpha_rad - kUrAlpha[i]) < 0.1)) {
      throw std::invalid_argument("arm \"" + model.name + "\": dh[" + std::to_string(i) +
                                  "].alpha_rad is " + std::to_string(model.dh[i].alpha_rad) +
                                  ", an arm of the UR type has " + std::to_string(kUrAlpha[i]) +
                                  " there (within 0.1); other arms are not supported");
    }
  }
  closed_.a2 = model.dh[1].a_m;
  closed_.a3 = model.dh[2].a_m;
  closed_.d1 = model.dh[0].d_m;
  closed_.d4 = model.dh[1].d_m + model.dh[2].d_m + model.dh[3].d_m;
  closed_.d5 = model.dh[4].d_m;
  closed_.d6 = model.dh[5].d_m;
  for (int i = 0; i < kJoints; ++i) {
    closed_.offset[i] = model.dh[i].theta_offset_rad;
  }
  closed_.X_world_a = model.X_world_base;
  closed_.X_b_tcp = model.X_flange_tcp;
  exact_ = hasExactGeometry(model);
  if (!exact_) {
    fitClosed(model);
  }
  if (std::min(std::abs(closed_.a2), std::abs(closed_.a3)) < 0.01) {
    throw std::invalid_argument(
        "arm \"" + model.name +
        "\": upper arm and forearm (dh[1].a_m, dh[2].a_m) must be longer than 0.01 m");
  }
}

bool Inverse::withinLimits(const Joints& q_rad) const {
  // Rounding must not lose a joint that stands exactly on its limit.
  constexpr double kEdge = 1e-9;
  return ((q_rad - min_rad_).array() >= -kEdge).all() &&
         ((max_rad_ - q_rad).array() >= -kEdge).all();
}

std::optional<Joints> Inverse::refine(const Transform& X_world_tcp, const Joints& q_rad) const {
  constexpr int kMaxIterations = 30;
  const auto errorOf = [&](const Frames& f) {
    const Transform X = kinematics_.tcpOf(f);
    Joints e;
    e.head<3>() = X_world_tcp.translation() - X.translation();
    e.tail<3>() = rotationBetween(X.linear(), X_world_tcp.linear());
    return e;
  };
  Joints q = q_rad;
  Frames frames = kinematics_.frames(q);
  Joints e = errorOf(frames);
  double damping = 1e-12;
  for (int i = 0; i < kMaxIterations; ++i) {
    if (e.cwiseAbs().maxCoeff() < 1e-13) {
      break;
    }
    const Matrix6 J = kinematics_.jacobianOf(frames);
    const Matrix6 A = J.transpose() * J + damping * Matrix6::Identity();
    const Joints dq = A.ldlt().solve(J.transpose() * e);
    if (!dq.allFinite()) {
      return std::nullopt;
    }
    const Joints q_next = q + dq;
    const Frames frames_next = kinematics_.frames(q_next);
    const Joints e_next = errorOf(frames_next);
    if (e_next.squaredNorm() < e.squaredNorm()) {
      q = q_next;
      frames = frames_next;
      e = e_next;
      damping = std::max(damping * 0.1, 1e-14);
    } else {
      damping *= 100;
      if (damping > 1e3) {
        break;
      }
    }
  }
  if (!(e.cwiseAbs().maxCoeff() < kSolutionError)) {
    return std::nullopt;
  }
  return q;
}

void Inverse::add(const Transform& X_world_tcp, Joints q_rad, Solutions& out) const {
  const double error = poseError(kinematics_.forward(q_rad), X_world_tcp);
  if (!(error < 0.1 * kSolutionError)) {
    const std::optional<Joints> better = refine(X_world_tcp, q_rad);
    if (!better) {
      return;
    }
    q_rad = *better;
  }
  q_rad = q_rad.unaryExpr(&wrapAngle);
  for (int i = 0; i < out.count; ++i) {
    double apart = 0;
    for (int j = 0; j < kJoints; ++j) {
      apart = std::max(apart, std::abs(wrapAngle(q_rad[j] - out.q_rad[i][j])));
    }
    if (apart < kSameSolution) {
      return;
    }
  }
  if (out.count < static_cast<int>(out.q_rad.size())) {
    out.q_rad[out.count++] = q_rad;
  }
}

void Inverse::closedForm(const Transform& X_world_tcp, double free_q6_rad, Solutions& out) const {
  const Closed& c = closed_;
  const Transform X =
      c.X_world_a.inverse(Eigen::Isometry) * X_world_tcp * c.X_b_tcp.inverse(Eigen::Isometry);
  const Vec3 n = X.linear().col(0), o = X.linear().col(1), a = X.linear().col(2);
  const Vec3 p5 = X.translation() - c.d6 * a;  // where the axes of joints 5 and 6 meet
  const double radius = std::hypot(p5.x(), p5.y());
  const double slack = kRoundingSlack + slack_;
  if (std::abs(c.d4) > radius + slack || radius < 1e-12) {
    return;
  }
  const double ratio = std::clamp(c.d4 / radius, -1.0, 1.0);
  const double side = std::asin(ratio);
  const double heading = std::atan2(p5.y(), p5.x());
  Seeds<6> thetas1;
  thetas1.add(heading + side);
  thetas1.add(heading + kPi - side);
  if (!exact_ && std::abs(ratio) > kNearShoulder) {
    for (const double off : {-0.2, -0.05, 0.05, 0.2}) {
      thetas1.add(heading + std::copysign(kPi / 2, ratio) + off);
    }
  }
  for (const double theta1 : thetas1) {
    const double s1 = std::sin(theta1), c1 = std::cos(theta1);
    const double n_side = n.x() * s1 - n.y() * c1, o_side = o.x() * s1 - o.y() * c1;
    const double c5 = a.x() * s1 - a.y() * c1;
    const double s5_size = std::hypot(n_side, o_side);
    if (s5_size < kFreeWrist) {
      const int before = out.count;
      const double theta5 = std::atan2(0.0, c5);
      solveArm(X_world_tcp, X, theta1, theta5, free_q6_rad + c.offset[5], out);
      if (out.count == before) {
        // Joint 6 moves the end of the forearm: with the axis of joint 5 along the line from the
        // shoulder it comes nearest, against it farthest, and one of the two is in reach if any is.
        const Vec3 line = p5 - Vec3(0, 0, c.d1) - c.d4 * Vec3(s1, -c1, 0);
        const double nearest = std::atan2(-line.dot(n), -line.dot(o));
        solveArm(X_world_tcp, X, theta1, theta5, nearest, out);
        solveArm(X_world_tcp, X, theta1, theta5, nearest + kPi, out);
      }
      if (exact_) {
        continue;
      }
    }
    const double theta6 = s5_size > 0 ? std::atan2(-o_side, n_side) : 0;
    solveArm(X_world_tcp, X, theta1, std::atan2(s5_size, c5), theta6, out);
    solveArm(X_world_tcp, X, theta1, std::atan2(-s5_size, c5), theta6 + kPi, out);
    if (!exact_ && s5_size < kNearWrist) {
      for (int eighth = 0; eighth < 8; ++eighth) {
        for (const double spread : {0.3 * kNearWrist, 0.05 * kNearWrist}) {
          solveArm(X_world_tcp, X, theta1, std::atan2(spread, c5), theta6 + eighth * kPi / 4, out);
          solveArm(X_world_tcp, X, theta1, std::atan2(-spread, c5), theta6 + eighth * kPi / 4, out);
        }
      }
    }
  }
}

// Joints 2, 3 and 4 for given angles of the others: the triangle of upper arm and forearm.
void Inverse::solveArm(const Transform& X_world_tcp,
                       const Transform& X_a_b,
                       double theta1,
                       double theta5,
                       double theta6,
                       Solutions& out) const {
  const Closed& c = closed_;
  const double s1 = std::sin(theta1), c1 = std::cos(theta1);
  const Vec3 n = X_a_b.linear().col(0), o = X_a_b.linear().col(1), z5 = X_a_b.linear().col(2);
  // Axes of the frames after joints 5 and 4, from the tool's by undoing joints 6 and 5.
  const Vec3 x5 = n * std::cos(theta6) - o * std::sin(theta6);
  const Vec3 z4 = -n * std::sin(theta6) - o * std::cos(theta6);
  const Vec3 x4 = x5 * std::cos(theta5) - z5 * std::sin(theta5);
  const Vec3 p4 = X_a_b.translation() - c.d6 * z5 - c.d5 * z4;
  // In the plane of the arm: u along the heading, v up.
  const double theta234 = std::atan2(x4.z(), x4.x() * c1 + x4.y() * s1);
  const double u = p4.x() * c1 + p4.y() * s1, v = p4.z() - c.d1;
  const double length2 = u * u + v * v, length = std::sqrt(length2);
  const double slack = kRoundingSlack + slack_;
  if (length > std::abs(c.a2) + std::abs(c.a3) + slack ||
      length < std::abs(std::abs(c.a2) - std::abs(c.a3)) - slack) {
    return;
  }
  const double product = c.a2 * c.a3, sum = c.a2 + c.a3, difference = c.a2 - c.a3;
  const double c3 = (length2 - c.a2 * c.a2 - c.a3 * c.a3) / (2 * product);
  // Factored: 1 - c3^2 would lose half the digits near a stretched or folded arm.
  const double s3_size = std::sqrt(std::max(
      0.0, (sum * sum - length2) * (length2 - difference * difference) / (4 * product * product)));
  Seeds<4> sines;
  sines.add(s3_size);
  sines.add(-s3_size);
  if (!exact_ && s3_size < kNearElbow) {
    sines.add(0.5 * kNearElbow);
    sines.add(-0.5 * kNearElbow);
  }
  for (const double s3 : sines) {
    Joints theta;
    theta[0] = theta1;
    theta[2] = std::atan2(s3, c3);
    theta[1] = std::atan2(v, u) - std::atan2(c.a3 * s3, c.a2 + c.a3 * c3);
    theta[3] = theta234 - theta[1] - theta[2];
    theta[4] = theta5;
    theta[5] = theta6;
    add(X_world_tcp, theta - c.offset, out);
  }
}

Solutions Inverse::solve(const Transform& X_world_tcp, double free_q6_rad) const {
  Solutions out;
  if (X_world_tcp.matrix().allFinite()) {
    closedForm(X_world_tcp, free_q6_rad, out);
  }
  return out;
}

std::vector<Joints> Inverse::solveWithin(const Transform& X_world_tcp, bool full_turns) const {
  std::vector<Joints> out;
  const Solutions solutions = solve(X_world_tcp);
  for (int i = 0; i < solutions.count; ++i) {
    std::array<std::vector<double>, 6> choices;
    bool possible = true;
    for (int j = 0; j < kJoints && possible; ++j) {
      for (const double turn : {0.0, -2 * kPi, 2 * kPi}) {
        const double value = solutions.q_rad[i][j] + turn;
        if (value >= min_rad_[j] - 1e-9 && value <= max_rad_[j] + 1e-9) {
          choices[j].push_back(value);
        }
      }
      std::ranges::sort(choices[j], {}, [](double x) { return std::abs(x); });
      if (!full_turns && choices[j].size() > 1) {
        choices[j].resize(1);
      }
      possible = !choices[j].empty();
    }
    if (!possible) {
      continue;
    }
    std::array<size_t, 6> pick{};
    for (bool more = true; more;) {
      Joints q;
      for (int j = 0; j < kJoints; ++j) {
        q[j] = choices[j][pick[j]];
      }
      out.push_back(q);
      int j = 0;
      for (; j < kJoints && ++pick[j] == choices[j].size(); ++j) {
        pick[j] = 0;
      }
      more = j < kJoints;
    }
  }
  std::ranges::stable_sort(out, {}, [](const Joints& q) { return q.cwiseAbs().maxCoeff(); });
  return out;
}

std::vector<Joints> Inverse::solveNear(const Transform& X_world_tcp,
                                       const Joints& q_seed_rad) const {
  std::vector<Joints> out;
  const Solutions solutions = solve(X_world_tcp, q_seed_rad[5]);
  for (int i = 0; i < solutions.count; ++i) {
    Joints q;
    bool possible = true;
    for (int j = 0; j < kJoints && possible; ++j) {
      const double base = solutions.q_rad[i][j];
      const double turns = std::round((q_seed_rad[j] - base) / (2 * kPi));
      possible = false;
      double best = 0;
      for (const double extra : {0.0, -1.0, 1.0, -2.0, 2.0}) {
        const double value = base + 2 * kPi * (turns + extra);
        if (value < min_rad_[j] - 1e-9 || value > max_rad_[j] + 1e-9) {
          continue;
        }
        if (!possible || std::abs(value - q_seed_rad[j]) < std::abs(best - q_seed_rad[j])) {
          best = value;
        }
        possible = true;
      }
      q[j] = best;
    }
    if (possible) {
      out.push_back(q);
    }
  }
  std::ranges::stable_sort(out, {},
                           [&](const Joints& q) { return (q - q_seed_rad).cwiseAbs().maxCoeff(); });
  return out;
}

}  // namespace s2r::pose
