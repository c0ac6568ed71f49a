// What the grasp and the place compiler share.
#pragma once

#include "native/pose/planner.h"

namespace s2r::pose {

enum class CompileCode {
  kOk,
  kUnreachable,
  kJointLimit,
  kNotLinear,
  kCollision,
  kObjectTooWide,
  kObjectTooLow,
  kNoSupport,
  kBadAxis,
};

struct CompileChecks {
  bool reach = false, joint_limits = false, collision = false;
  double clearance_m = 0;
};

struct CompiledPose {
  Transform X_world_tcp = Transform::Identity();
  Joints q_rad = Joints::Zero();
};

struct CompileOutcome {
  CompileCode code = CompileCode::kOk;
  std::string reason;
  std::optional<Hit> hit;
  CompileChecks checks;
};

struct UprightBox {
  Vec3 center_world_m = Vec3::Zero(), size_m = Vec3::Zero();
  double yaw_rad = 0;
  bool round = false;
};

// Joints at `pivot`, with straight lines to `before` and `after` that stay in its branch and are
// free.
struct LineChain {
  CompileOutcome outcome;
  Joints q_before = Joints::Zero(), q_pivot = Joints::Zero(), q_after = Joints::Zero();
};

// Poses of one chain and the checkers of its two lines: `arriving` for before -> pivot (the tool as
// it comes), `leaving` for pivot -> after.
struct ChainRequest {
  Transform X_before = Transform::Identity(), X_pivot = Transform::Identity(),
            X_after = Transform::Identity();
  CollisionChecker* arriving = nullptr;
  CollisionChecker* leaving = nullptr;
};

// A pivot solution and its price: distance from the seed, nearness to limits and singularities.
struct Candidate {
  size_t chain = 0;
  Joints q_rad = Joints::Zero();
  double price = 0;
};

// The cheapest solution of any of the chains whose lines can be followed and are free; else the
// outcome that came nearest to working.
struct BestChain {
  LineChain line;
  size_t chain = 0;
};
[[nodiscard]] BestChain findChain(const Arm& arm,
                                  const std::vector<ChainRequest>& chains,
                                  const Joints& q_seed_rad);

// The pose is out of reach: what a search starts from.
[[nodiscard]] CompileOutcome unreachableOutcome();
// The gripper alone is not free at a pose; out of reach or beyond the joints' limits comes first.
[[nodiscard]] CompileOutcome blockedOutcome(const Arm& arm,
                                            const Transform& X_world_tcp,
                                            const Joints& q_seed_rad,
                                            const char* where,
                                            const Hit& hit);

// Of two failures the one that got further.
[[nodiscard]] const CompileOutcome& further(const CompileOutcome& a, const CompileOutcome& b);

// Shortest approach, lift and carry distance that is tried before giving up.
inline constexpr double kShortestLine_m = 0.06;
// The distance asked for and shorter ones down to kShortestLine_m.
[[nodiscard]] std::vector<double> lineLengths(double wanted_m);

}  // namespace s2r::pose
