// The last second of the arm: joint positions and tool wrench, cycle by cycle.
#pragma once

#include <algorithm>
#include <vector>

#include "backends/emulators/ur-controller/state.h"

namespace s2r::ur {

class History {
 public:
  void clear() { count_ = 0; }
  void add(const Joints& q_rad, const Vec6& wrench_base) {
    entries_[count_++ % kDepth] = {q_rad, wrench_base};
  }
  // Joint positions `steps` cycles ago, as far back as is known.
  [[nodiscard]] Joints q(std::size_t steps) const { return at(steps).q_rad; }

  // Steps since the beginning of a contact, 0 when there is none. A contact pushes against
  // `direction` (any direction when it is null) with more than kContactN; it began where the force
  // had left kQuietN.
  [[nodiscard]] int contactSteps(const Vec3& direction) const {
    constexpr double kContactN = 8, kQuietN = 3;
    if (count_ == 0 || push(at(0), direction) < kContactN) {
      return 0;
    }
    std::size_t steps = 1;
    while (steps < depth() && push(at(steps), direction) > kQuietN) {
      ++steps;
    }
    return static_cast<int>(steps);
  }

 private:
  struct Entry {
    Joints q_rad;
    Vec6 wrench_base;
  };
  static constexpr std::size_t kDepth = 500;
  [[nodiscard]] std::size_t depth() const { return std::min(count_, kDepth); }
  [[nodiscard]] const Entry& at(std::size_t steps) const {
    const std::size_t back = std::min(steps, depth() > 0 ? depth() - 1 : 0);
    return entries_[(count_ - 1 - back) % kDepth];
  }
  [[nodiscard]] static double push(const Entry& entry, const Vec3& direction) {
    const Vec3 force(entry.wrench_base[0], entry.wrench_base[1], entry.wrench_base[2]);
    const double length = direction.norm();
    return length < 1e-9 ? force.norm() : -force.dot(direction) / length;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(kDepth);
  std::size_t count_ = 0;
};

}  // namespace s2r::ur
