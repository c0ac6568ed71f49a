// The nearest arm with the exact geometry of the UR type, by least squares over random
// configurations.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "native/pose/inverse.h"

namespace s2r::pose {

void Inverse::fitClosed(const ArmModel& model) {
  constexpr int kParameters = 24, kSamples = 60;
  using Parameters = Eigen::Matrix<double, kParameters, 1>;
  const Closed start = closed_;
  const auto apply = [&start](const Parameters& x) {
    Closed c = start;
    c.a2 += x[0], c.a3 += x[1], c.d1 += x[2], c.d4 += x[3], c.d5 += x[4], c.d6 += x[5];
    c.offset += x.segment<6>(6);
    c.X_world_a.translation() += x.segment<3>(12);
    c.X_world_a.linear() = rotationOf(x.segment<3>(15)) * c.X_world_a.linear();
    c.X_b_tcp.translation() += x.segment<3>(18);
    c.X_b_tcp.linear() = rotationOf(x.segment<3>(21)) * c.X_b_tcp.linear();
    return c;
  };
  const auto kinematicsOf = [](const Closed& c) {
    ArmModel m;
    const std::array<double, 6> a = {0, c.a2, c.a3, 0, 0, 0}, d = {c.d1, 0, 0, c.d4, c.d5, c.d6};
    for (int i = 0; i < kJoints; ++i) {
      m.dh[i] = {a[i], d[i], kUrAlpha[i], c.offset[i]};
    }
    m.X_world_base = c.X_world_a;
    m.X_flange_tcp = c.X_b_tcp;
    return Kinematics(m);
  };
  std::mt19937 random(7);
  std::uniform_real_distribution<double> angle(-kPi, kPi);
  std::vector<Joints> samples(kSamples);
  std::vector<Transform> poses;
  for (Joints& q : samples) {
    q = q.unaryExpr([&](double) { return angle(random); });
    poses.push_back(kinematics_.forward(q));
  }
  const auto residual = [&](const Parameters& x) {
    const Kinematics k = kinematicsOf(apply(x));
    Eigen::VectorXd r(6 * kSamples);
    for (int i = 0; i < kSamples; ++i) {
      const Transform X = k.forward(samples[i]);
      r.segment<3>(6 * i) = poses[i].translation() - X.translation();
      r.segment<3>(6 * i + 3) = rotationBetween(X.linear(), poses[i].linear());
    }
    return r;
  };
  // Levenberg-Marquardt: some parameters trade against each other (d1 against the base's height),
  // so the normal equations need damping.
  Parameters x = Parameters::Zero();
  Eigen::VectorXd r = residual(x);
  double damping = 1e-6;
  for (int iteration = 0; iteration < 60 && damping < 1e6; ++iteration) {
    Eigen::MatrixXd J(r.size(), kParameters);
    for (int j = 0; j < kParameters; ++j) {
      Parameters step = x;
      step[j] += 1e-7;
      J.col(j) = (residual(step) - r) / 1e-7;
    }
    const Eigen::MatrixXd A =
        J.transpose() * J + damping * Eigen::MatrixXd::Identity(kParameters, kParameters);
    const Parameters dx = -A.ldlt().solve(J.transpose() * r);
    const Eigen::VectorXd next = residual(x + dx);
    if (next.squaredNorm() < r.squaredNorm()) {
      const double gain = r.squaredNorm() - next.squaredNorm();
      x += dx;
      r = next;
      damping = std::max(damping * 0.1, 1e-12);
      if (gain < 1e-14 * r.squaredNorm()) {
        break;
      }
    } else {
      damping *= 10;
    }
  }
  const double worst = r.cwiseAbs().maxCoeff();
  if (!(worst < 0.02)) {
    throw std::invalid_argument(
        "arm \"" + model.name + "\": its axes depart by " + std::to_string(worst) +
        " (m or rad) from the nearest arm of the UR type, the limit is 0.02: check dh");
  }
  closed_ = apply(x);
  slack_ = 3 * worst;
}

}  // namespace s2r::pose
