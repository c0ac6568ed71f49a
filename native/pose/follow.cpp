#include "native/pose/follow.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace s2r::pose {
namespace {

// The solution nearest to `q` when turned freely; limits are not looked at.
std::optional<Joints> continuation(const Inverse& inverse, const Transform& X, const Joints& q) {
  constexpr double kSameBranch = 0.05;
  // Newton's method from the step before is quicker than the closed form, and on a calibrated arm
  // surer.
  const std::optional<Joints> next = inverse.refine(X, q);
  if (next && (*next - q).cwiseAbs().maxCoeff() < kSameBranch) {
    return next;
  }
  const Solutions solutions = inverse.solve(X, q[5]);
  std::optional<Joints> best;
  double best_jump = 0;
  for (int i = 0; i < solutions.count; ++i) {
    Joints candidate = solutions.q_rad[i];
    for (int j = 0; j < kJoints; ++j) {
      candidate[j] = q[j] + wrapAngle(candidate[j] - q[j]);
    }
    const double jump = (candidate - q).cwiseAbs().maxCoeff();
    if (!best || jump < best_jump) {
      best = candidate;
      best_jump = jump;
    }
  }
  return best;
}

std::string text(const char* format, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

}  // namespace

std::optional<std::string> limitBroken(const ArmModel& model, const Joints& q_rad) {
  constexpr double kEdge = 1e-6;
  for (int j = 0; j < kJoints; ++j) {
    if (!(q_rad[j] >= model.position_min_rad[j] - kEdge)) {
      return text("joint %d would be at %.4f rad, its limit is %.4f", j + 1, q_rad[j],
                  model.position_min_rad[j]);
    }
    if (!(q_rad[j] <= model.position_max_rad[j] + kEdge)) {
      return text("joint %d would be at %.4f rad, its limit is %.4f", j + 1, q_rad[j],
                  model.position_max_rad[j]);
    }
  }
  return std::nullopt;
}

Followed follow(const Inverse& inverse,
                const ArmModel& model,
                const PathSection& section,
                const Joints& q_start_rad,
                const FollowOptions& options) {
  Followed out;
  const double length = section.length();
  constexpr double kNodesPerCorner = 12;
  const double step = std::min(options.step_m, section.shortestCorner() / kNodesPerCorner);
  int count =
      static_cast<int>(std::min(std::ceil(length / step), static_cast<double>(options.max_nodes)));
  count = std::max(options.min_nodes, count);
  while (true) {
    out.nodes.assign(1, q_start_rad);
    bool finer = false;
    for (int k = 1; k <= count; ++k) {
      const double s = length * k / count;
      const std::optional<Joints> next = continuation(inverse, section.pose(s), out.nodes.back());
      if (!next) {
        out.failed_at = s;
        const bool goal_reachable = inverse.solve(section.pose(length)).count > 0;
        out.code = goal_reachable ? PlanCode::kNotLinear : PlanCode::kUnreachable;
        out.reason = goal_reachable ? text(
                                          "the straight way leaves the arm's reach after %.3f m; "
                                          "go there by a joint motion",
                                          s)
                                    : text(
                                          "the pose is out of the arm's reach (the way to it ends "
                                          "after %.3f of %.3f m)",
                                          s, length);
        return out;
      }
      if ((*next - out.nodes.back()).cwiseAbs().maxCoeff() > options.largest_jump_rad) {
        if (2 * count <= options.max_nodes) {
          finer = true;
          break;
        }
        int joint = 0;
        (*next - out.nodes.back()).cwiseAbs().maxCoeff(&joint);
        out.failed_at = s;
        out.code = PlanCode::kNotLinear;
        out.reason = text(
            "after %.3f m the way passes a singularity, where joint %d would have to jump; go "
            "there by a joint motion",
            s, joint + 1);
        return out;
      }
      if (const auto broken = limitBroken(model, *next)) {
        out.failed_at = s;
        out.code = PlanCode::kJointLimit;
        out.reason =
            text("after %.3f m of the straight way ", s) + *broken + "; go there by a joint motion";
        return out;
      }
      out.nodes.push_back(*next);
    }
    if (!finer) {
      return out;
    }
    count *= 2;
  }
}

}  // namespace s2r::pose
