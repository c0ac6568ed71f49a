#include "backends/emulators/ur-controller/arm.h"

#include <Eigen/Dense>

namespace s2r::ur {

namespace {

constexpr double kSingularConditionInverse = 1e-3;

pose::ArmModel modelOf(const KinematicDeltas& deltas) {
  pose::ArmModel model;
  model.name = "ur5e";
  model.dh = Arm::nominalDh();
  for (std::size_t i = 0; i < 6; ++i) {
    model.dh[i].theta_offset_rad += deltas.theta_rad[i];
    model.dh[i].a_m += deltas.a_m[i];
    model.dh[i].d_m += deltas.d_m[i];
    model.dh[i].alpha_rad += deltas.alpha_rad[i];
  }
  return model;
}

struct PointMass {
  int frame;  // Denavit-Hartenberg frame it is fixed to
  double mass_kg;
  Vec3 at_m;
};

std::array<PointMass, 7> masses(const Payload& payload) {
  return {PointMass{1, 3.761, Vec3(0, -0.02561, 0.00193)},
          PointMass{2, 8.058, Vec3(0.2125, 0, 0.11336)},
          PointMass{3, 2.846, Vec3(0.15, 0, 0.0265)},
          PointMass{4, 1.37, Vec3(0, -0.0018, 0.01634)},
          PointMass{5, 1.3, Vec3(0, 0.0018, 0.01634)},
          PointMass{6, 0.365, Vec3(0, 0, -0.001159)},
          PointMass{6, payload.mass_kg, payload.cog_m}};
}

using PointJacobian = Eigen::Matrix<double, 3, 6>;

PointJacobian pointJacobian(const pose::Frames& frames, int frame, const Vec3& p) {
  PointJacobian J = PointJacobian::Zero();
  for (int j = 0; j < frame; ++j) {
    J.col(j) = frames[j].linear().col(2).cross(p - frames[j].translation());
  }
  return J;
}

}  // namespace

Transform transformOf(const Vec6& pose) {
  Transform X = Transform::Identity();
  X.translation() = Vec3(pose[0], pose[1], pose[2]);
  X.linear() = pose::rotationOf(Vec3(pose[3], pose[4], pose[5]));
  return X;
}

Vec6 poseOf(const Transform& X) {
  const Vec3 p = X.translation(), r = pose::rotationBetween(pose::Mat3::Identity(), X.linear());
  return {p.x(), p.y(), p.z(), r.x(), r.y(), r.z()};
}

Arm::Arm(const KinematicDeltas& deltas)
    : deltas_(deltas), inverse_(std::make_unique<pose::Inverse>(modelOf(deltas))) {}

const std::array<pose::DhRow, 6>& Arm::nominalDh() {
  static const std::array<pose::DhRow, 6> kDh = {pose::DhRow{0, 0.1625, pose::kPi / 2, 0},
                                                 pose::DhRow{-0.425, 0, 0, 0},
                                                 pose::DhRow{-0.3922, 0, 0, 0},
                                                 pose::DhRow{0, 0.1333, pose::kPi / 2, 0},
                                                 pose::DhRow{0, 0.0997, -pose::kPi / 2, 0},
                                                 pose::DhRow{0, 0.0996, 0, 0}};
  return kDh;
}

std::array<pose::DhRow, 6> Arm::dh() const {
  return modelOf(deltas_).dh;
}

void Arm::setTcp(const Vec6& tcp_offset) {
  tcp_ = tcp_offset;
  X_flange_tcp_ = transformOf(tcp_offset);
}

Transform Arm::flange(const Joints& q_rad) const {
  return inverse_->kinematics().forward(q_rad);
}

pose::Matrix6 Arm::jacobian(const Joints& q_rad) const {
  const pose::Frames frames = inverse_->kinematics().frames(q_rad);
  const Vec3 p = frames[6] * X_flange_tcp_.translation();
  pose::Matrix6 J;
  for (int i = 0; i < 6; ++i) {
    const Vec3 axis = frames[i].linear().col(2);
    J.col(i).head<3>() = axis.cross(p - frames[i].translation());
    J.col(i).tail<3>() = axis;
  }
  return J;
}

Vec3 Arm::elbow(const Joints& q_rad) const {
  return inverse_->kinematics().frames(q_rad)[2].translation();
}

std::optional<Joints> Arm::jointSpeeds(const Joints& q_rad, const Joints& twist) const {
  const pose::Matrix6 J = jacobian(q_rad);
  const Eigen::JacobiSVD<pose::Matrix6> svd(J, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const auto& s = svd.singularValues();
  if (s[5] < kSingularConditionInverse * s[0]) {
    return std::nullopt;
  }
  return Joints(svd.solve(twist));
}

std::optional<Joints> Arm::inverse(const Transform& X_base_tcp, const Joints& q_near_rad) const {
  const std::vector<Joints> all =
      inverse_->solveNear(X_base_tcp * X_flange_tcp_.inverse(Eigen::Isometry), q_near_rad);
  if (all.empty()) {
    return std::nullopt;
  }
  return all.front();
}

std::optional<Joints> Arm::follow(const Transform& X_base_tcp, const Joints& q_seed_rad) const {
  return inverse_->refine(X_base_tcp * X_flange_tcp_.inverse(Eigen::Isometry), q_seed_rad);
}

Joints Arm::gravityTorque(const Joints& q_rad, const Payload& payload, const Vec3& gravity) const {
  const pose::Frames frames = inverse_->kinematics().frames(q_rad);
  Joints torque = Joints::Zero();
  for (const PointMass& m : masses(payload)) {
    const Vec3 p = frames[m.frame] * m.at_m;
    torque += pointJacobian(frames, m.frame, p).transpose() * (m.mass_kg * gravity);
  }
  return torque;
}

pose::Matrix6 Arm::massMatrix(const Joints& q_rad, const Payload& payload) const {
  // Reflected inertia of the drives keeps the matrix regular where the point masses do not.
  constexpr double kDriveInertia = 0.05;
  const pose::Frames frames = inverse_->kinematics().frames(q_rad);
  pose::Matrix6 M = kDriveInertia * pose::Matrix6::Identity();
  for (const PointMass& m : masses(payload)) {
    const PointJacobian J = pointJacobian(frames, m.frame, frames[m.frame] * m.at_m);
    M += m.mass_kg * J.transpose() * J;
  }
  return M;
}

Joints Arm::coriolisTorque(const Joints& q_rad,
                           const Joints& qd_rad_s,
                           const Payload& payload) const {
  // c_k = sum_ij (dM_kj/dq_i - dM_ij/dq_k / 2) qd_i qd_j, by central differences.
  constexpr double kStep = 1e-5;
  std::array<pose::Matrix6, 6> dM;
  for (int i = 0; i < 6; ++i) {
    Joints up = q_rad, down = q_rad;
    up[i] += kStep;
    down[i] -= kStep;
    dM[i] = (massMatrix(up, payload) - massMatrix(down, payload)) / (2 * kStep);
  }
  Joints c = Joints::Zero();
  for (int i = 0; i < 6; ++i) {
    c += dM[i] * qd_rad_s * qd_rad_s[i];
    c[i] -= 0.5 * qd_rad_s.dot(dM[i] * qd_rad_s);
  }
  return c;
}

pose::Matrix6 Arm::jacobianDerivative(const Joints& q_rad, const Joints& qd_rad_s) const {
  constexpr double kStep = 1e-5;
  return (jacobian(q_rad + kStep * qd_rad_s) - jacobian(q_rad - kStep * qd_rad_s)) / (2 * kStep);
}

}  // namespace s2r::ur
