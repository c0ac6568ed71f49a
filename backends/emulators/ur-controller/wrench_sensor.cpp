#include "backends/emulators/ur-controller/wrench_sensor.h"

namespace s2r::ur {

Vec6 SmallWorld::wrenchAt(const Vec3& tcp_m) const {
  Vec6 wrench = wrench_base;
  if (plane_z_m && tcp_m.z() < *plane_z_m) {
    wrench[2] += stiffness_n_m * (*plane_z_m - tcp_m.z());
  }
  return wrench;
}

void WrenchSensor::sample(const Vec6& true_wrench_base) {
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < 6; ++i) {
    const double sigma = i < 3 ? noise_.force_n : noise_.torque_nm;
    raw_[i] = true_wrench_base[i] + bias_[i] + (sigma > 0 ? sigma * normal(random_) : 0);
  }
}

Vec6 WrenchSensor::value() const {
  Vec6 out;
  for (std::size_t i = 0; i < 6; ++i) {
    out[i] = raw_[i] - zero_[i];
  }
  return out;
}

}  // namespace s2r::ur
