#include "native/pose/kinematics.h"

#include <cmath>

namespace s2r::pose {

Kinematics::Kinematics(const ArmModel& model)
    : X_world_base_(model.X_world_base), X_flange_tcp_(model.X_flange_tcp) {
  for (int i = 0; i < kJoints; ++i) {
    const DhRow& row = model.dh[i];
    rows_[i] = {row.a_m, row.d_m, std::sin(row.alpha_rad), std::cos(row.alpha_rad),
                row.theta_offset_rad};
    // cos(pi/2) is 6e-17, not 0: without this a nominal arm would not have exactly parallel axes.
    if (std::abs(rows_[i].cos_alpha) < 1e-15) {
      rows_[i].cos_alpha = 0;
    }
    if (std::abs(rows_[i].sin_alpha) < 1e-15) {
      rows_[i].sin_alpha = 0;
    }
  }
}

Frames Kinematics::frames(const Joints& q_rad) const {
  Frames out;
  out[0] = X_world_base_;
  for (int i = 0; i < kJoints; ++i) {
    const Row& row = rows_[i];
    const double s = std::sin(q_rad[i] + row.offset), c = std::cos(q_rad[i] + row.offset);
    const Mat3& R = out[i].linear();
    const Vec3 x = R.col(0) * c + R.col(1) * s;
    const Vec3 y = R.col(1) * c - R.col(0) * s;
    const Vec3 z = R.col(2);
    Transform& next = out[i + 1];
    next.makeAffine();
    next.translation() = out[i].translation() + z * row.d + x * row.a;
    next.linear().col(0) = x;
    next.linear().col(1) = y * row.cos_alpha + z * row.sin_alpha;
    next.linear().col(2) = z * row.cos_alpha - y * row.sin_alpha;
  }
  return out;
}

Transform Kinematics::forward(const Joints& q_rad) const {
  return tcpOf(frames(q_rad));
}

Matrix6 Kinematics::jacobianOf(const Frames& frames) const {
  const Vec3 p_tcp = frames[6] * X_flange_tcp_.translation();
  Matrix6 J;
  for (int i = 0; i < kJoints; ++i) {
    const Vec3 axis = frames[i].linear().col(2);
    J.col(i).head<3>() = axis.cross(p_tcp - frames[i].translation());
    J.col(i).tail<3>() = axis;
  }
  return J;
}

Matrix6 Kinematics::jacobian(const Joints& q_rad) const {
  return jacobianOf(frames(q_rad));
}

Vec3 rotationBetween(const Mat3& from, const Mat3& to) {
  const Mat3 R = to * from.transpose();
  const Vec3 w(R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1));
  const double sine = 0.5 * w.norm();
  const double cosine = 0.5 * (R.trace() - 1);
  if (sine > 1e-6) {
    return w * (0.5 * std::atan2(sine, cosine) / sine);
  }
  if (cosine > 0) {
    return 0.5 * w;
  }
  const Eigen::AngleAxisd turn{Eigen::Quaterniond(R)};  // near pi the sine tells nothing
  return turn.axis() * turn.angle();
}

Mat3 rotationOf(const Vec3& rotation_vector) {
  const double angle = rotation_vector.norm();
  if (angle < 1e-300) {
    return Mat3::Identity();
  }
  return Eigen::AngleAxisd(angle, rotation_vector / angle).toRotationMatrix();
}

}  // namespace s2r::pose
