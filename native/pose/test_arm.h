// A UR5e with a two-finger gripper, for tests and the bench: published DH parameters and joint
// limits, capsules a little larger than the housings.
#pragma once

#include <cmath>
#include <random>

#include "native/pose/model.h"

namespace s2r::pose {

inline ArmModel ur5e() {
  ArmModel m;
  m.name = "ur5e";
  m.dh = {DhRow{0, 0.1625, kPi / 2, 0}, DhRow{-0.425, 0, 0, 0},        DhRow{-0.3922, 0, 0, 0},
          DhRow{0, 0.1333, kPi / 2, 0}, DhRow{0, 0.0997, -kPi / 2, 0}, DhRow{0, 0.0996, 0, 0}};
  m.X_flange_tcp.translation().z() = 0.1275;
  m.position_min_rad[2] = -kPi;
  m.position_max_rad[2] = kPi;
  // Capsules in the DH frame of their link.
  m.capsules = {
      {0, {Vec3(0, 0, 0.05), Vec3(0, 0, 0.10), 0.075}},
      {1, {Vec3(0, 0, -0.02), Vec3(0, 0, 0.06), 0.065}},
      {2, {Vec3(0.425, 0, 0.138), Vec3(0, 0, 0.138), 0.055}},
      {3, {Vec3(0.3922, 0, 0.02), Vec3(0, 0, 0.02), 0.045}},
      {4, {Vec3(0, -0.04, 0), Vec3(0, 0.02, 0), 0.040}},
      {5, {Vec3(0, 0.03, 0), Vec3(0, -0.02, 0), 0.040}},
      {6, {Vec3(0, -0.045, 0.03), Vec3(0, 0.045, 0.03), 0.035}},
  };
  m.gripper.max_opening_m = 0.095;
  m.gripper.finger_length_m = 0.06;
  m.gripper.finger_width_m = 0.02;
  m.gripper.finger_thickness_m = 0.012;
  m.gripper.tip_beyond_tcp_m = 0.010;
  return m;
}

// As a calibrated arm: every parameter off by some tenths of a millimetre or milliradian.
inline ArmModel calibratedUr5e(unsigned seed) {
  ArmModel m = ur5e();
  std::mt19937 random(seed);
  std::normal_distribution<double> length(0, 4e-4), angle(0, 1e-3);
  for (DhRow& row : m.dh) {
    row.a_m += length(random);
    row.d_m += length(random);
    row.alpha_rad += angle(random);
    row.theta_offset_rad += angle(random);
  }
  return m;
}

// Tool straight down in front of the base.
inline Joints homeJoints() {
  return (Joints() << 0, -kPi / 2, kPi / 2, -kPi / 2, -kPi / 2, 0).finished() +
         (Joints() << kPi, 0, 0, 0, 0, 0).finished();
}

inline Joints randomJoints(std::mt19937& random, double range = kPi) {
  std::uniform_real_distribution<double> angle(-range, range);
  return Joints::NullaryExpr([&]() { return angle(random); });
}

}  // namespace s2r::pose
