// The force-torque sensor at the tool: true wrench plus a bias and noise, all in the tool's axes,
// zeroed on request; and the small world that presses on the tool when no plant simulates one.
#pragma once

#include <optional>
#include <random>

#include "backends/emulators/ur-controller/arm.h"

namespace s2r::ur {

struct WrenchNoise {
  double force_n = 0, torque_nm = 0;  // standard deviations
};

// A horizontal elastic plane below the tool, and a wrench that is there always.
struct SmallWorld {
  std::optional<double> plane_z_m;
  double stiffness_n_m = 5000;
  Vec6 wrench_base{};
  [[nodiscard]] Vec6 wrenchAt(const Vec3& tcp_m) const;
};

class WrenchSensor {
 public:
  WrenchSensor(const Vec6& bias, WrenchNoise noise, unsigned seed)
      : bias_(bias), noise_(noise), random_(seed) {}
  void setNoise(WrenchNoise noise) { noise_ = noise; }
  void sample(const Vec6& true_wrench_base, const pose::Mat3& R_base_tool);
  void zero() { zero_ = raw_; }
  // Not zeroed, tool axes.
  [[nodiscard]] const Vec6& raw() const { return raw_; }
  // Zeroed, base axes.
  [[nodiscard]] Vec6 value() const;

 private:
  Vec6 bias_, raw_{}, zero_{};
  pose::Mat3 R_base_tool_ = pose::Mat3::Identity();
  WrenchNoise noise_;
  std::mt19937 random_;
};

}  // namespace s2r::ur
