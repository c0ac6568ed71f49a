#include "backends/emulators/ur-controller/wrench_sensor.h"

namespace s2r::ur {

namespace {

Vec6 turned(const Vec6& wrench, const pose::Mat3& R) {
  const Vec3 force = R * Vec3(wrench[0], wrench[1], wrench[2]);
  const Vec3 torque = R * Vec3(wrench[3], wrench[4], wrench[5]);
  return {force.x(), force.y(), force.z(), torque.x(), torque.y(), torque.z()};
}

}  // namespace

Vec6 SmallWorld::wrenchAt(const Vec3& tcp_m) const {
  Vec6 wrench = wrench_base;
  if (plane_z_m && tcp_m.z() < *plane_z_m) {
    wrench[2] += stiffness_n_m * (*plane_z_m - tcp_m.z());
  }
  return wrench;
}

void WrenchSensor::sample(const Vec6& true_wrench_base, const pose::Mat3& R_base_tool) {
  R_base_tool_ = R_base_tool;
  const Vec6 in_tool = turned(true_wrench_base, R_base_tool.transpose());
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < 6; ++i) {
    const double sigma = i < 3 ? noise_.force_n : noise_.torque_nm;
    raw_[i] = in_tool[i] + bias_[i] + (sigma > 0 ? sigma * normal(random_) : 0);
  }
}

Vec6 WrenchSensor::value() const {
  Vec6 in_tool;
  for (std::size_t i = 0; i < 6; ++i) {
    in_tool[i] = raw_[i] - zero_[i];
  }
  return turned(in_tool, R_base_tool_);
}

}  // namespace s2r::ur
