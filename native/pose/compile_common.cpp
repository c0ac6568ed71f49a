#include "native/pose/compile_common.h"

#include <algorithm>
#include <cmath>

namespace s2r::pose {
namespace {

// Coarser than a motion's own following: enough to keep the branch over a decimetre.
FollowOptions coarse() {
  FollowOptions options;
  options.step_m = 0.01;
  options.min_nodes = 8;
  options.max_nodes = 1024;
  options.largest_jump_rad = 0.15;
  return options;
}

constexpr const char* kBeyondLimits = "every solution for the pose needs a joint beyond its limits";

// A line on which a joint would need more than this per metre of path cannot be driven at a useful
// speed.
constexpr double kSteepest_rad_m = 120;

double priceOf(const ArmModel& model, const Joints& q, const Joints& seed) {
  const auto under = [](double value, double wanted) {
    return std::max(0.0, wanted - value) / wanted;
  };
  double price = (q - seed).cwiseAbs().maxCoeff() + 0.2 * (q - seed).cwiseAbs().sum();
  for (int j = 0; j < kJoints; ++j) {
    const double room =
        std::min(q[j] - model.position_min_rad[j], model.position_max_rad[j] - q[j]);
    price += 2 * under(room, 0.3);
  }
  price += 4 * under(std::abs(std::sin(q[4] + model.dh[4].theta_offset_rad)), 0.25);
  price += 2 * under(std::abs(std::sin(q[2] + model.dh[2].theta_offset_rad)), 0.25);
  return price;
}

CompileOutcome outcomeOf(PlanCode code, std::string reason, bool reach) {
  CompileOutcome out;
  out.code = code == PlanCode::kUnreachable  ? CompileCode::kUnreachable
             : code == PlanCode::kJointLimit ? CompileCode::kJointLimit
             : code == PlanCode::kNotLinear  ? CompileCode::kNotLinear
                                             : CompileCode::kCollision;
  out.reason = std::move(reason);
  out.checks.reach = reach;
  return out;
}

Followed line(const Arm& arm, const Joints& q, const Transform& X_from, const Transform& X_to) {
  const std::vector<PathSection> sections = splitPath(X_from, {X_to}, 0);
  if (sections.empty()) {
    Followed still;
    still.nodes = {q, q};
    return still;
  }
  Followed out = follow(arm.inverse, arm.model, sections[0], q, coarse());
  if (out.code == PlanCode::kOk) {
    const double step = sections[0].length() / static_cast<double>(out.nodes.size() - 1);
    for (size_t i = 1; i < out.nodes.size(); ++i) {
      if ((out.nodes[i] - out.nodes[i - 1]).cwiseAbs().maxCoeff() > kSteepest_rad_m * step) {
        out.code = PlanCode::kNotLinear;
        out.reason = "the straight way passes too near a singularity of the arm";
        break;
      }
    }
  }
  return out;
}

LineChain tryChain(const Arm& arm, const ChainRequest& chain, const Joints& q_pivot) {
  LineChain out;
  out.q_pivot = q_pivot;
  Followed before = line(arm, q_pivot, chain.X_pivot, chain.X_before);
  Followed after =
      before.code == PlanCode::kOk ? line(arm, q_pivot, chain.X_pivot, chain.X_after) : Followed{};
  for (const Followed* followed : {&before, &after}) {
    if (followed->code != PlanCode::kOk) {
      out.outcome =
          outcomeOf(followed->code, followed->reason, followed->code != PlanCode::kUnreachable);
      out.outcome.checks.joint_limits = followed->code == PlanCode::kNotLinear;
      return out;
    }
  }
  out.q_before = before.nodes.back();
  out.q_after = after.nodes.back();
  out.outcome.checks = {true, true, false, 0};
  std::ranges::reverse(before.nodes);
  const Walked arriving = walk(arm, *chain.arriving, before.nodes);
  const Walked leaving = arriving.hit ? Walked{} : walk(arm, *chain.leaving, after.nodes);
  const std::optional<Hit>& hit = arriving.hit ? arriving.hit : leaving.hit;
  if (hit) {
    out.outcome.code = CompileCode::kCollision;
    out.outcome.reason = describe(*hit);
    out.outcome.hit = hit;
    out.outcome.checks.clearance_m = hit->distance_m;
    return out;
  }
  out.outcome.checks.collision = true;
  out.outcome.checks.clearance_m = std::min(arriving.clearance_m, leaving.clearance_m);
  return out;
}

int progressOf(CompileCode code) {
  switch (code) {
    case CompileCode::kOk:
      return 9;
    case CompileCode::kCollision:
      return 4;
    case CompileCode::kNotLinear:
      return 3;
    case CompileCode::kJointLimit:
      return 2;
    case CompileCode::kUnreachable:
      return 1;
    default:
      return 5;
  }
}

}  // namespace

const CompileOutcome& further(const CompileOutcome& a, const CompileOutcome& b) {
  return progressOf(b.code) > progressOf(a.code) ? b : a;
}

CompileOutcome unreachableOutcome() {
  return outcomeOf(PlanCode::kUnreachable, "the pose is out of the arm's reach", false);
}

CompileOutcome blockedOutcome(const Arm& arm,
                              const Transform& X_world_tcp,
                              const Joints& q_seed_rad,
                              const char* where,
                              const Hit& hit) {
  if (arm.inverse.solve(X_world_tcp).count == 0) {
    return unreachableOutcome();
  }
  if (arm.inverse.solveNear(X_world_tcp, q_seed_rad).empty()) {
    return outcomeOf(PlanCode::kJointLimit, kBeyondLimits, true);
  }
  CompileOutcome out = outcomeOf(PlanCode::kCollision, where + describe(hit), true);
  out.hit = hit;
  out.checks = {true, true, false, hit.distance_m};
  return out;
}

std::vector<double> lineLengths(double wanted_m) {
  std::vector<double> out = {wanted_m};
  while (out.back() > kShortestLine_m + 0.005) {
    out.push_back(std::max(kShortestLine_m, out.back() - 0.025));
  }
  return out;
}

BestChain findChain(const Arm& arm,
                    const std::vector<ChainRequest>& chains,
                    const Joints& q_seed_rad) {
  std::vector<Candidate> candidates;
  BestChain best;
  best.line.outcome = unreachableOutcome();
  for (size_t i = 0; i < chains.size(); ++i) {
    const std::vector<Joints> solutions = arm.inverse.solveNear(chains[i].X_pivot, q_seed_rad);
    if (solutions.empty() && arm.inverse.solve(chains[i].X_pivot).count > 0) {
      const CompileOutcome limit = outcomeOf(PlanCode::kJointLimit, kBeyondLimits, true);
      best.line.outcome = further(best.line.outcome, limit);
    }
    for (const Joints& q : solutions) {
      candidates.push_back({i, q, priceOf(arm.model, q, q_seed_rad)});
    }
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::price);
  for (const Candidate& candidate : candidates) {
    LineChain tried = tryChain(arm, chains[candidate.chain], candidate.q_rad);
    if (tried.outcome.code == CompileCode::kOk) {
      return {std::move(tried), candidate.chain};
    }
    if (&further(best.line.outcome, tried.outcome) == &tried.outcome) {
      best = {std::move(tried), candidate.chain};
    }
  }
  return best;
}

}  // namespace s2r::pose
