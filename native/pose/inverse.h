// All inverse-kinematics solutions of an arm of the UR type: joint axes 2, 3 and 4 parallel, axes 1
// and 2, 4 and 5, 5 and 6 perpendicular and intersecting.
//
// The closed form follows from the geometry: the wrist centre's distance from the plane of the arm
// gives joint 1 (two ways), the tool's direction against that plane joint 5 (two ways) and 6, and
// the triangle of upper arm and forearm joints 3 (two ways), 2 and 4. A calibrated arm departs
// slightly from that geometry; then the closed form is taken of the nearest arm that has it (found
// once by least squares) and every solution is refined on the true arm by Newton's method.
#pragma once

#include <optional>
#include <vector>

#include "native/pose/kinematics.h"

namespace s2r::pose {

// Twist of each link of the UR type.
inline constexpr std::array<double, 6> kUrAlpha = {kPi / 2, 0, 0, kPi / 2, -kPi / 2, 0};

struct Solutions {
  std::array<Joints, 8> q_rad;
  int count = 0;
};

class Inverse {
 public:
  // Throws std::invalid_argument when the arm is not of the UR type.
  explicit Inverse(const ArmModel& model);

  // Distinct exact solutions, each joint in (-pi, pi], limits not looked at. Where joint 6 is free
  // (the axes of joints 4 and 6 are parallel) it takes `free_q6_rad`.
  [[nodiscard]] Solutions solve(const Transform& X_world_tcp, double free_q6_rad = 0) const;
  // Solutions inside the limits: the representative nearest to zero of each, or with all full
  // turns.
  [[nodiscard]] std::vector<Joints> solveWithin(const Transform& X_world_tcp,
                                                bool full_turns) const;
  // For each solution its representative inside the limits that is nearest to the seed, nearest
  // first.
  [[nodiscard]] std::vector<Joints> solveNear(const Transform& X_world_tcp,
                                              const Joints& q_seed_rad) const;
  // Newton's method from a seed; empty when it does not converge on an exact solution.
  [[nodiscard]] std::optional<Joints> refine(const Transform& X_world_tcp,
                                             const Joints& q_rad) const;
  [[nodiscard]] bool withinLimits(const Joints& q_rad) const;
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] const Kinematics& kinematics() const { return kinematics_; }

 private:
  // The nearest arm with the exact geometry: X_a * DH(q + offset) * X_b.
  struct Closed {
    double a2 = 0, a3 = 0, d1 = 0, d4 = 0, d5 = 0, d6 = 0;
    Joints offset = Joints::Zero();
    Transform X_world_a = Transform::Identity(), X_b_tcp = Transform::Identity();
  };
  void fitClosed(const ArmModel& model);
  void closedForm(const Transform& X_world_tcp, double free_q6_rad, Solutions& out) const;
  void solveArm(const Transform& X_world_tcp,
                const Transform& X_a_b,
                double theta1,
                double theta5,
                double theta6,
                Solutions& out) const;
  void add(const Transform& X_world_tcp, Joints q_rad, Solutions& out) const;

  Kinematics kinematics_;
  Closed closed_;
  Joints min_rad_, max_rad_;
  bool exact_ = true;
  double slack_ = 0;  // metres by which a pose may seem out of reach of the nearest arm
};

// Representative of an angle in (-pi, pi].
[[nodiscard]] double wrapAngle(double angle_rad);

}  // namespace s2r::pose
