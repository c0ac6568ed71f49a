#include "native/gripper/kinematics.h"

#include <cmath>
#include <numbers>

namespace s2r::gripper {
namespace {

constexpr double kCrankM = 0.0325;
constexpr double kRodM = 0.058;
constexpr double kSlideOffsetM = 0.01456;
constexpr double kZeroRad = (180.0 - 43.99) / 180.0 * std::numbers::pi;

double halfWidth(double angle_rad) {
  const double crank_rad = kZeroRad - angle_rad;
  const double height_m = kCrankM * std::sin(crank_rad) - kSlideOffsetM;
  return std::sqrt(kRodM * kRodM - height_m * height_m) + kCrankM * std::cos(crank_rad);
}

}  // namespace

double openingFromAngle(double angle_rad) {
  return 2.0 * (halfWidth(angle_rad) - halfWidth(0.0));
}

double openingSlope(double angle_rad) {
  const double crank_rad = kZeroRad - angle_rad;
  const double height_m = kCrankM * std::sin(crank_rad) - kSlideOffsetM;
  const double rod_m = std::sqrt(kRodM * kRodM - height_m * height_m);
  return 2.0 * kCrankM * (std::sin(crank_rad) + height_m / rod_m * std::cos(crank_rad));
}

std::optional<double> angleFromOpening(double opening_m) {
  if (!(opening_m >= 0.0) || opening_m > openingFromAngle(kMonotoneEndRad))
    return std::nullopt;
  double low = 0.0;
  double high = kMonotoneEndRad;
  // 44 halvings of 2.2 rad end below 2e-13 rad.
  for (int i = 0; i < 44; ++i) {
    const double middle = 0.5 * (low + high);
    (openingFromAngle(middle) < opening_m ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace s2r::gripper
