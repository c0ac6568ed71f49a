#include "native/pose/planner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace s2r::pose {
namespace {

constexpr double kCheckEvery_m = 0.005, kCheckEvery_rad = kPi / 180;
// Heights over the higher end that a detour tries.
constexpr std::array<double, 5> kDetourRise_m = {0.05, 0.10, 0.15, 0.22, 0.30};
constexpr size_t kDetourGoals = 3;  // nearest solutions of a goal pose for which detours are tried

JointLimits scaledLimits(const ArmModel& model, const PlanCommon& request) {
  return {model.velocity_max_rad_s * request.velocity_scale,
          model.acceleration_max_rad_s2 * request.acceleration_scale,
          model.jerk_max_rad_s3 * request.jerk_scale};
}

Plan failure(PlanCode code, std::string reason, std::optional<Hit> hit = std::nullopt) {
  Plan plan;
  plan.code = code;
  plan.reason = std::move(reason);
  plan.hit = std::move(hit);
  return plan;
}

// Stopping at every pose is weighed against rounding for paths of up to so many poses.
constexpr size_t kMostStops = 20;

std::optional<Plan> startBroken(const Arm& arm, const Joints& q_start) {
  if (const auto broken = limitBroken(arm.model, q_start)) {
    return failure(PlanCode::kJointLimit, "start: " + *broken);
  }
  return std::nullopt;
}

// A way of joint nodes in parts that are timed one by one: joint lines and followed sections.
struct Part {
  std::vector<Joints> nodes;
  std::optional<PathSection> section;  // none: a joint line between the two nodes
};

Walked walkParts(const Arm& arm, CollisionChecker& checker, const std::vector<Part>& parts) {
  std::vector<Joints> all;
  for (const Part& part : parts) {
    all.insert(all.end(), part.nodes.begin(), part.nodes.end());
  }
  return walk(arm, checker, all);
}

Plan timeParts(const Arm& arm,
               const PlanCommon& request,
               const std::vector<Part>& parts,
               const CartesianLimits& limits) {
  const JointLimits joint_limits = scaledLimits(arm.model, request);
  std::vector<std::unique_ptr<TimedPiece>> pieces;
  std::vector<const TimedPiece*> views;
  for (const Part& part : parts) {
    if (part.section) {
      TimedSection timed =
          timeSection(arm.inverse, *part.section, part.nodes, joint_limits, limits);
      if (!timed.piece) {
        return failure(PlanCode::kNotLinear, timed.reason);
      }
      pieces.push_back(std::move(timed.piece));
    } else if (auto line = timeJointLine(part.nodes.front(), part.nodes.back(), joint_limits)) {
      pieces.push_back(std::move(line));
    }
  }
  for (const auto& piece : pieces) {
    views.push_back(piece.get());
  }
  Plan plan;
  plan.samples = sample(views, request.q_start_rad, request.dt_s, request.min_duration_s);
  for (size_t i = 0; i < parts.size() && pieces.size() == parts.size(); ++i) {
    if (parts[i].section) {
      for (const PathSection::Passed& passed : parts[i].section->passed()) {
        plan.pose_times_s.push_back(plan.samples.piece_start_s[i] +
                                    plan.samples.piece_stretch[i] * pieces[i]->timeOf(passed.s));
      }
    }
  }
  return plan;
}

// A vertical line up to height z_m, followed from q; empty when it cannot be.
std::optional<Part> rise(const Arm& arm, const Joints& q, double z_m) {
  const Transform X = arm.kinematics().forward(q);
  Transform X_up = X;
  X_up.translation().z() = z_m;
  std::vector<PathSection> sections = splitPath(X, {X_up}, 0);
  if (sections.empty()) {
    return std::nullopt;
  }
  FollowOptions options;
  options.min_nodes = 100;
  options.step_m = 0.002;
  Followed followed = follow(arm.inverse, arm.model, sections[0], q, options);
  if (followed.code != PlanCode::kOk) {
    return std::nullopt;
  }
  return Part{std::move(followed.nodes), std::move(sections[0])};
}

std::optional<Part> descend(const Arm& arm, const Joints& q, double z_m) {
  std::optional<Part> part = rise(arm, q, z_m);
  if (!part) {
    return std::nullopt;
  }
  const Transform X_up = part->section->pose(part->section->length());
  part->section = splitPath(X_up, {arm.kinematics().forward(q)}, 0)[0];
  std::ranges::reverse(part->nodes);
  return part;
}

// A whole joint motion: it passes one pose, its goal.
Plan timeJoint(const Arm& arm,
               const JointRequest& request,
               const std::vector<Part>& parts,
               double clearance_m) {
  Plan plan = timeParts(arm, request, parts, {});
  if (request.scene) {
    plan.clearance_m = clearance_m;
  }
  plan.pose_times_s = {static_cast<double>(plan.samples.q_rad.size() - 1) * plan.samples.dt_s};
  return plan;
}

Part jointLine(const Joints& from, const Joints& to) {
  return Part{{from, to}, std::nullopt};
}

// Over the obstacle: up, across, down. The ways that also leave out the rise or the descent come
// after.
std::optional<std::vector<Part>> findDetour(const Arm& arm,
                                            CollisionChecker& checker,
                                            const Joints& q_start,
                                            const Joints& q_goal,
                                            double& clearance_m) {
  const double z_start = arm.kinematics().forward(q_start).translation().z();
  const double z_goal = arm.kinematics().forward(q_goal).translation().z();
  for (const double extra : kDetourRise_m) {
    const double z = std::max(z_start, z_goal) + extra;
    const std::optional<Part> up = rise(arm, q_start, z);
    const std::optional<Part> down = descend(arm, q_goal, z);
    std::vector<std::vector<Part>> ways;
    if (up && down) {
      ways.push_back({*up, jointLine(up->nodes.back(), down->nodes.front()), *down});
    }
    if (up) {
      ways.push_back({*up, jointLine(up->nodes.back(), q_goal)});
    }
    if (down) {
      ways.push_back({jointLine(q_start, down->nodes.front()), *down});
    }
    for (std::vector<Part>& way : ways) {
      const Walked walked = walkParts(arm, checker, way);
      if (!walked.hit) {
        clearance_m = walked.clearance_m;
        return std::move(way);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string describe(const Hit& hit) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, "%s would be %.4f m from %s", hit.what.c_str(),
                hit.distance_m, hit.against.c_str());
  std::string out = buffer;
  if (hit.point_world_m) {
    const Vec3& p = *hit.point_world_m;
    std::snprintf(buffer, sizeof buffer, " at (%.3f, %.3f, %.3f)", p.x(), p.y(), p.z());
    out += buffer;
  }
  return out;
}

Walked walk(const Arm& arm, CollisionChecker& checker, const std::vector<Joints>& nodes) {
  Walked out;
  const Kinematics& kinematics = arm.kinematics();
  const auto at = [&](const Joints& q, double where, bool first) {
    const Frames frames = kinematics.frames(q);
    const Transform X = kinematics.tcpOf(frames);
    if (first) {
      checker.startPath(frames, X);
    }
    const CollisionChecker::Result result = checker.checkNext(frames, X);
    out.clearance_m = std::min(out.clearance_m, result.clearance_m);
    if (result.hit) {
      out.hit = result.hit;
      out.failed_at = where;
    }
    return !result.hit.has_value();
  };
  if (!at(nodes[0], 0, true)) {
    return out;
  }
  // Motion since the last check, in units of what is allowed between checks.
  double since = 0;
  for (size_t k = 1; k < nodes.size(); ++k) {
    const Joints delta = nodes[k] - nodes[k - 1];
    const double motion = std::max(delta.cwiseAbs().dot(checker.reach()) / kCheckEvery_m,
                                   delta.cwiseAbs().sum() / kCheckEvery_rad);
    double done = 0;
    while (since + (motion - done) > 1) {
      done += 1 - since;
      since = 0;
      if (!at(nodes[k - 1] + delta * (done / motion), static_cast<double>(k - 1) + done / motion,
              false)) {
        return out;
      }
    }
    since += motion - done;
  }
  (void)at(nodes.back(), static_cast<double>(nodes.size() - 1), false);
  return out;
}

Plan planJoint(const Arm& arm, const JointRequest& request) {
  if (auto broken = startBroken(arm, request.q_start_rad)) {
    return *broken;
  }
  std::vector<Joints> goals;
  if (request.q_goal_rad) {
    if (const auto broken = limitBroken(arm.model, *request.q_goal_rad)) {
      return failure(PlanCode::kJointLimit, "goal: " + *broken);
    }
    goals.push_back(*request.q_goal_rad);
  } else {
    goals = arm.inverse.solveNear(*request.X_world_goal, request.q_start_rad);
    if (goals.empty()) {
      return arm.inverse.solve(*request.X_world_goal).count > 0
                 ? failure(PlanCode::kJointLimit,
                           "every solution for the goal pose needs a joint beyond its limits")
                 : failure(PlanCode::kUnreachable, "the goal pose is out of the arm's reach");
    }
  }
  if (!request.scene) {
    return timeJoint(arm, request, {jointLine(request.q_start_rad, goals[0])}, kFarClearance_m);
  }
  const SceneIndex index(*request.scene);
  CollisionChecker checker(arm.model, index, request.tool);
  std::optional<Hit> first_hit;
  bool any_goal_free = false;
  const auto goalHit = [&](const Joints& q) {
    const Frames frames = arm.kinematics().frames(q);
    return checker.check(frames, arm.kinematics().tcpOf(frames)).hit;
  };
  for (size_t g = 0; g < goals.size(); ++g) {
    const Joints& goal = goals[g];
    const Walked direct = walk(arm, checker, {request.q_start_rad, goal});
    if (!direct.hit) {
      return timeJoint(arm, request, {jointLine(request.q_start_rad, goal)}, direct.clearance_m);
    }
    if (!first_hit) {
      first_hit = direct.hit;
    }
    if (goalHit(goal)) {
      continue;
    }
    any_goal_free = true;
    if (!request.detour || g >= kDetourGoals) {
      continue;
    }
    double clearance_m = kFarClearance_m;
    if (const auto way = findDetour(arm, checker, request.q_start_rad, goal, clearance_m)) {
      Plan plan = timeJoint(arm, request, *way, clearance_m);
      if (plan.code == PlanCode::kOk) {
        plan.detour = true;
        return plan;
      }
    }
  }
  if (!any_goal_free) {
    const auto hit = goalHit(goals[0]);
    return failure(PlanCode::kCollision, "at the goal " + describe(hit ? *hit : *first_hit),
                   hit ? hit : first_hit);
  }
  return failure(
      PlanCode::kCollision,
      "on the way " + describe(*first_hit) +
          (request.detour ? ", and no way over it was found: go through a pose that is clear of it"
                          : ""),
      first_hit);
}

namespace {

Plan planBlended(const Arm& arm, const PathRequest& request) {
  if (auto broken = startBroken(arm, request.q_start_rad)) {
    return *broken;
  }
  const Transform X_start = arm.kinematics().forward(request.q_start_rad);
  std::vector<PathSection> sections = splitPath(X_start, request.poses_world, request.blend_m);
  std::vector<Part> parts;
  Joints q = request.q_start_rad;
  const auto poseAt = [](const PathSection& section, double s) {
    for (const PathSection::Passed& passed : section.passed()) {
      if (passed.s >= s - 1e-9) {
        return passed.pose_index;
      }
    }
    return section.lastPose();
  };
  for (PathSection& section : sections) {
    Followed followed = follow(arm.inverse, arm.model, section, q);
    if (followed.code != PlanCode::kOk) {
      Plan plan = failure(followed.code, followed.reason);
      plan.pose_index = poseAt(section, followed.failed_at);
      return plan;
    }
    q = followed.nodes.back();
    parts.push_back({std::move(followed.nodes), std::move(section)});
  }
  std::optional<double> clearance_m;
  if (request.scene) {
    const SceneIndex index(*request.scene);
    CollisionChecker checker(arm.model, index, request.tool);
    if (parts.empty()) {
      parts.push_back(jointLine(q, q));
    }
    const Walked walked = walkParts(arm, checker, parts);
    clearance_m = walked.clearance_m;
    if (walked.hit) {
      Plan plan = failure(PlanCode::kCollision, "on the way " + describe(*walked.hit), walked.hit);
      double node = walked.failed_at;
      for (const Part& part : parts) {
        const auto count = static_cast<double>(part.nodes.size());
        if (node < count && part.section) {
          plan.pose_index = poseAt(*part.section, part.section->length() * node / (count - 1));
          break;
        }
        node -= count;
      }
      return plan;
    }
  }
  Plan plan = timeParts(arm, request, parts, request.limits);
  plan.clearance_m = clearance_m;
  if (sections.empty()) {
    plan.pose_times_s.assign(request.poses_world.size(), 0.0);
  }
  return plan;
}

}  // namespace

Plan planPath(const Arm& arm, const PathRequest& request) {
  Plan plan = planBlended(arm, request);
  // At a sharp corner with a small blend it can be quicker to stop than to slow down for the bend.
  if (plan.code == PlanCode::kOk && request.blend_m > 0 && request.poses_world.size() > 1 &&
      request.poses_world.size() <= kMostStops) {
    PathRequest stopping = request;
    stopping.blend_m = 0;
    Plan other = planBlended(arm, stopping);
    if (other.code == PlanCode::kOk && other.samples.q_rad.size() < plan.samples.q_rad.size()) {
      return other;
    }
  }
  return plan;
}

}  // namespace s2r::pose
