#include "native/gripper/kinematics.h"

#include <gtest/gtest.h>

namespace s2r::gripper {
namespace {

// Angles and openings of the published linkage, computed independently of this source.
constexpr double kForward[][2] = {{0.0, 0.0},     {0.25, 10.740},   {0.5, 23.712},
                                  {0.75, 38.773}, {1.0, 55.310},    {1.25, 72.160},
                                  {1.5, 87.735},  {1.67, 96.707},   {1.7, 98.106},
                                  {2.0, 108.263}, {2.212, 110.519}, {2.37382, 109.163}};
constexpr double kBackward[][2] = {{10, 0.234304}, {20, 0.432681}, {30, 0.608245}, {40, 0.769162},
                                   {50, 0.921222}, {60, 1.069129}, {70, 1.217420}, {80, 1.371553},
                                   {90, 1.540151}, {95, 1.634998}};

TEST(Kinematics, OpeningOfAngle) {
  for (const auto& [angle_rad, opening_mm] : kForward) {
    EXPECT_NEAR(openingFromAngle(angle_rad) * 1e3, opening_mm, 6e-4) << angle_rad;
  }
}

TEST(Kinematics, AngleOfOpening) {
  for (const auto& [opening_mm, angle_rad] : kBackward) {
    EXPECT_NEAR(angleFromOpening(opening_mm / 1e3).value(), angle_rad, 6e-7) << opening_mm;
  }
}

TEST(Kinematics, BothDirectionsAgreeAndTheInverseIsMonotone) {
  double last_rad = -1.0;
  for (double opening_m = 0.0; opening_m <= 0.1105; opening_m += 1e-4) {
    const double angle_rad = angleFromOpening(opening_m).value();
    EXPECT_NEAR(openingFromAngle(angle_rad), opening_m, 1e-12);
    EXPECT_GT(angle_rad, last_rad);
    last_rad = angle_rad;
  }
  EXPECT_LT(angleFromOpening(kMaxCommandOpeningM).value(), kMaxCommandAngleRad);
}

TEST(Kinematics, OpeningsThatTheLinkageDoesNotHaveHaveNoAngle) {
  EXPECT_FALSE(angleFromOpening(-1e-9));
  EXPECT_FALSE(angleFromOpening(0.1106));
  EXPECT_FALSE(angleFromOpening(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Kinematics, SlopeIsTheDerivative) {
  for (double angle_rad = 0.0; angle_rad < 2.2; angle_rad += 0.05) {
    const double h = 1e-6;
    const double slope =
        (openingFromAngle(angle_rad + h) - openingFromAngle(angle_rad - h)) / (2 * h);
    EXPECT_NEAR(openingSlope(angle_rad), slope, 1e-9);
  }
}

}  // namespace
}  // namespace s2r::gripper
