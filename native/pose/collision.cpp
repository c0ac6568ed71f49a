#include "native/pose/collision.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace s2r::pose {
namespace {

// Owners of bodies; links 0 to 5 come first.
constexpr int kGripper = 6, kFingerPlus = 7, kFingerMinus = 8, kHeld = 9;
// Things that a body is against; its own owners come first.
constexpr int kTable = 100, kCloud = 101, kFirstZone = 1000, kFirstObstacle = 100000;

constexpr double kVoxel_m = 0.004;  // finer detail than this is below the cloud's noise
constexpr double kNeighbourCell_m = 0.012;
constexpr double kNoDeeper_m = 0.001;  // rounding of a contact that is being left

int linkOf(int owner) {
  return std::min(owner, kGripper);  // fingers and held object move with the flange
}

int pairKey(int owner, int against) {
  return owner * 1'000'000 + against;
}

}  // namespace

std::vector<Vec3> finitePoints(const std::vector<float>& xyz) {
  std::vector<Vec3> out;
  out.reserve(xyz.size() / 3);
  for (size_t i = 0; i + 2 < xyz.size(); i += 3) {
    const Vec3 p(xyz[i], xyz[i + 1], xyz[i + 2]);
    if (p.allFinite()) {
      out.push_back(p);
    }
  }
  return out;
}

SceneIndex::SceneIndex(const Scene& scene)
    : table_z_m(scene.table_z_m),
      arm_clearance_m(scene.arm_clearance_m),
      tool_clearance_m(scene.tool_clearance_m) {
  for (const Zone& zone : scene.zones) {
    zone_names.push_back(zone.name);
    zones.push_back(boxShape(zone.box.X_world_box, zone.box.size_m));
  }
  for (const Obstacle& obstacle : scene.obstacles) {
    obstacle_names.push_back(obstacle.name);
    obstacles.push_back(capsuleShape(obstacle.capsule, Transform::Identity()));
  }
  std::vector<Vec3> points = finitePoints(scene.cloud_world_m);
  if (points.empty()) {
    return;
  }
  std::vector<Shape> boxes;
  for (const OrientedBox& box : scene.exclude_boxes) {
    boxes.push_back(boxShape(box.X_world_box, box.size_m));
  }
  // Strays are told by the whole cloud: what is left of an object after exclusion is no stray.
  points = CellMap(points, kNeighbourCell_m).withoutStrays(scene.min_neighbours);
  const std::vector<Vec3> target = finitePoints(scene.exclude_points_world_m);
  const double radius = scene.exclude_radius_m;
  const CellMap near_target(CellMap(target, 0.5 * radius).firsts(), radius);
  Vec3 low = Vec3::Constant(1e300), high = Vec3::Constant(-1e300);
  for (const Vec3& p : target) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  low.array() -= radius;
  high.array() += radius;
  std::erase_if(points, [&](const Vec3& p) {
    if (table_z_m && p.z() < *table_z_m + scene.table_tolerance_m) {
      return true;
    }
    for (const Shape& box : boxes) {
      if (distanceToPoint(box, p) <= 0) {
        return true;
      }
    }
    return (p.array() >= low.array()).all() && (p.array() <= high.array()).all() &&
           near_target.anyWithin(p, radius);
  });
  cloud = PointTree(CellMap(points, kVoxel_m).firsts());
}

std::vector<std::pair<int, int>> findTouchingCapsules(const ArmModel& model) {
  constexpr int kSamples = 200;
  constexpr double kAlways = 0.95;  // of the samples
  constexpr double kTouching_m = 0.002;
  const Kinematics kinematics(model);
  std::mt19937 random(5);
  const auto count = static_cast<int>(model.capsules.size());
  std::vector<int> touched(static_cast<size_t>(count) * count, 0);
  for (int sample = 0; sample < kSamples; ++sample) {
    Joints q;
    for (int j = 0; j < kJoints; ++j) {
      q[j] = std::uniform_real_distribution<double>(model.position_min_rad[j],
                                                    model.position_max_rad[j])(random);
    }
    const Frames frames = kinematics.frames(q);
    std::vector<Shape> shapes;
    for (const LinkCapsule& c : model.capsules) {
      shapes.push_back(capsuleShape(c.capsule, frames[c.link]));
    }
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b < count; ++b) {
        touched[static_cast<size_t>(a) * count + b] +=
            distanceBetween(shapes[a], shapes[b]) < kTouching_m ? 1 : 0;
      }
    }
  }
  std::vector<std::pair<int, int>> out;
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      if (touched[static_cast<size_t>(a) * count + b] >= kAlways * kSamples) {
        out.push_back({a, b});
      }
    }
  }
  return out;
}

CollisionChecker::CollisionChecker(const ArmModel& model, const SceneIndex& scene, Tool tool)
    : model_(model), scene_(scene), tool_(std::move(tool)) {
  for (const LinkCapsule& c : model.capsules) {
    bodies_.push_back({{}, c.link});
  }
  first_tool_ = bodies_.size();
  for (size_t i = 0; i < model.gripper.capsules.size(); ++i) {
    bodies_.push_back({{}, kGripper});
  }
  bodies_.push_back({{}, kFingerPlus});
  bodies_.push_back({{}, kFingerMinus});
  if (tool_.held) {
    bodies_.push_back({{}, kHeld});
  }
  for (size_t i = 0; i < bodies_.size(); ++i) {
    for (size_t j = i + 1; j < bodies_.size(); ++j) {
      const int a = std::min(linkOf(bodies_[i].owner), linkOf(bodies_[j].owner));
      const int b = std::max(linkOf(bodies_[i].owner), linkOf(bodies_[j].owner));
      const bool ignored =
          std::ranges::any_of(model.self_collision_ignore, [a, b](const auto& pair) {
            return std::min(pair.first, pair.second) == a && std::max(pair.first, pair.second) == b;
          });
      const bool touching =
          std::ranges::find(model.touching_capsules,
                            std::pair(static_cast<int>(i), static_cast<int>(j))) !=
          model.touching_capsules.end();
      if (b - a >= 2 && !ignored && !touching) {
        self_pairs_.push_back({static_cast<int>(i), static_cast<int>(j)});
      }
    }
  }
  fillReach(model);
}

void CollisionChecker::fillReach(const ArmModel& model) {
  // Straight-line lengths of the chain beyond each joint bound the distance of any point from its
  // axis.
  const auto farthest = [](const Capsule& c) {
    return std::max(c.p0_m.norm(), c.p1_m.norm()) + c.radius_m;
  };
  double tool = 0;
  for (const Capsule& c : model.gripper.capsules) {
    tool = std::max(tool, farthest(c));
  }
  const Gripper& g = model.gripper;
  tool = std::max(tool, Vec3(0.5 * g.finger_width_m, 0.5 * tool_.opening_m + g.finger_thickness_m,
                             g.finger_length_m + std::abs(g.tip_beyond_tcp_m))
                            .norm());
  if (tool_.held) {
    tool = std::max(
        tool, tool_.held->X_tcp_object.translation().norm() + 0.5 * tool_.held->size_m.norm());
  }
  double beyond = model.X_flange_tcp.translation().norm() + tool;
  for (int joint = kJoints - 1; joint >= 0; --joint) {
    for (const LinkCapsule& c : model.capsules) {
      if (c.link == joint + 1) {
        beyond = std::max(beyond, farthest(c.capsule));
      }
    }
    beyond += std::hypot(model.dh[joint].a_m, model.dh[joint].d_m);
    reach_[joint] = beyond;
  }
}

void CollisionChecker::placeArm(const Frames& frames) {
  for (size_t i = 0; i < model_.capsules.size(); ++i) {
    bodies_[i].shape = capsuleShape(model_.capsules[i].capsule, frames[model_.capsules[i].link]);
  }
}

void CollisionChecker::placeTool(const Transform& X_world_tcp) {
  size_t i = first_tool_;
  for (const Capsule& c : model_.gripper.capsules) {
    bodies_[i++].shape = capsuleShape(c, X_world_tcp);
  }
  const Gripper& g = model_.gripper;
  const Vec3 size(g.finger_width_m, g.finger_thickness_m, g.finger_length_m);
  const double y = 0.5 * (tool_.opening_m + g.finger_thickness_m);
  const double z = g.tip_beyond_tcp_m - 0.5 * g.finger_length_m;
  Transform X = X_world_tcp;
  X.translation() = X_world_tcp * Vec3(0, y, z);
  bodies_[i++].shape = boxShape(X, size);
  X.translation() = X_world_tcp * Vec3(0, -y, z);
  bodies_[i++].shape = boxShape(X, size);
  if (tool_.held) {
    bodies_[i++].shape =
        boxShape(X_world_tcp * tool_.held->X_tcp_object, tool_.held->size_m, tool_.held->round);
  }
}

double CollisionChecker::clearanceOf(int owner) const {
  return owner >= kGripper ? scene_.tool_clearance_m : scene_.arm_clearance_m;
}

// visit(owner, against, required clearance, distance, point or null) for every pair nearer than
// kFarClearance_m.
template <typename Visit>
void CollisionChecker::visitSceneOf(const Body& body, Visit visit) const {
  if (body.owner <= model_.fixed_links) {
    return;
  }
  const double required = clearanceOf(body.owner);
  const double cutoff = std::max(kFarClearance_m, required);
  if (scene_.table_z_m) {
    const double d = lowestZ(body.shape) - *scene_.table_z_m;
    if (d < cutoff) {
      visit(body.owner, kTable, required, d, nullptr);
    }
  }
  for (size_t i = 0; i < scene_.zones.size(); ++i) {
    if (boundDistance(body.shape, scene_.zones[i]) < cutoff) {
      const double d = distanceBetween(body.shape, scene_.zones[i]);
      if (d < cutoff) {
        visit(body.owner, kFirstZone + static_cast<int>(i), required, d, nullptr);
      }
    }
  }
  for (size_t i = 0; i < scene_.obstacles.size(); ++i) {
    if (boundDistance(body.shape, scene_.obstacles[i]) < cutoff) {
      const double d = distanceBetween(body.shape, scene_.obstacles[i]);
      if (d < cutoff) {
        visit(body.owner, kFirstObstacle + static_cast<int>(i), required, d, nullptr);
      }
    }
  }
  const PointTree::Nearest nearest = scene_.cloud.nearest(body.shape, cutoff);
  if (nearest.distance_m < cutoff) {
    visit(body.owner, kCloud, required, nearest.distance_m, &nearest.point);
  }
}

template <typename Visit>
void CollisionChecker::visitScene(Visit visit) const {
  for (const Body& body : bodies_) {
    visitSceneOf(body, visit);
  }
}

template <typename Visit>
void CollisionChecker::visitSelf(Visit visit) const {
  for (const auto& [i, j] : self_pairs_) {
    const Body& a = bodies_[i];
    const Body& b = bodies_[j];
    if (boundDistance(a.shape, b.shape) < kFarClearance_m) {
      const double d = distanceBetween(a.shape, b.shape);
      if (d < kFarClearance_m) {
        visit(a.owner, b.owner, scene_.tool_clearance_m, d, nullptr);
      }
    }
  }
}

std::string CollisionChecker::nameOf(int owner) const {
  switch (owner) {
    case kGripper:
      return "gripper";
    case kFingerPlus:
      return "finger +y";
    case kFingerMinus:
      return "finger -y";
    case kHeld:
      return "held object";
    default:
      return "link " + std::to_string(owner);
  }
}

std::string CollisionChecker::nameOfAgainst(int against) const {
  if (against >= kFirstObstacle) {
    return "obstacle " + scene_.obstacle_names[against - kFirstObstacle];
  }
  if (against >= kFirstZone) {
    return "zone " + scene_.zone_names[against - kFirstZone];
  }
  return against == kTable ? "table" : against == kCloud ? "cloud" : nameOf(against);
}

CollisionChecker::Result CollisionChecker::check(const Frames& frames,
                                                 const Transform& X_world_tcp) {
  allowances_.clear();
  return checkNext(frames, X_world_tcp);
}

CollisionChecker::Result CollisionChecker::checkTool(const Transform& X_world_tcp) {
  placeTool(X_world_tcp);
  Result result;
  double worst = 0;
  const auto visit = [&](int owner, int against, double required, double d, const Vec3* point) {
    result.clearance_m = std::min(result.clearance_m, d);
    if (d - required < worst) {
      worst = d - required;
      result.hit = Hit{nameOf(owner), nameOfAgainst(against), d,
                       point ? std::optional<Vec3>(*point) : std::nullopt};
    }
  };
  for (size_t i = 0; i < bodies_.size(); ++i) {
    if (i >= first_tool_) {
      visitSceneOf(bodies_[i], visit);
    }
  }
  return result;
}

void CollisionChecker::startPath(const Frames& frames, const Transform& X_world_tcp) {
  placeArm(frames);
  placeTool(X_world_tcp);
  allowances_.clear();
  const auto visit = [&](int owner, int against, double required, double d, const Vec3*) {
    if (d < required) {
      const int key = pairKey(owner, against);
      const auto found = std::ranges::find(allowances_, key, &Allowance::key);
      if (found == allowances_.end()) {
        allowances_.push_back({key, d - kNoDeeper_m});
      } else {
        found->distance_m = std::min(found->distance_m, d - kNoDeeper_m);
      }
    }
  };
  visitScene(visit);
  visitSelf(visit);
}

CollisionChecker::Result CollisionChecker::checkNext(const Frames& frames,
                                                     const Transform& X_world_tcp) {
  placeArm(frames);
  placeTool(X_world_tcp);
  Result result;
  double worst = 0;
  int worst_owner = 0, worst_against = 0;
  double worst_distance = 0;
  std::optional<Vec3> point_copy;
  // Several bodies may share an owner: what an allowance becomes is decided by the nearest of them.
  std::vector<double> seen(allowances_.size(), kFarClearance_m);
  const auto visit = [&](int owner, int against, double required, double d, const Vec3* point) {
    double needed = required;
    bool parting = false;
    if (!allowances_.empty()) {
      const auto found = std::ranges::find(allowances_, pairKey(owner, against), &Allowance::key);
      if (found != allowances_.end()) {
        needed = std::min(needed, found->distance_m);
        parting = found->distance_m < required;
        double& nearest = seen[found - allowances_.begin()];
        nearest = std::min(nearest, d);
      }
    }
    if (!parting) {
      result.clearance_m = std::min(result.clearance_m, d);
    }
    if (d - needed < worst) {
      worst = d - needed;
      worst_owner = owner;
      worst_against = against;
      worst_distance = d;
      point_copy = point ? std::optional<Vec3>(*point) : std::nullopt;
    }
  };
  visitScene(visit);
  visitSelf(visit);
  for (size_t i = 0; i < allowances_.size(); ++i) {
    allowances_[i].distance_m = std::max(allowances_[i].distance_m, seen[i] - kNoDeeper_m);
  }
  if (worst < 0) {
    result.hit = Hit{nameOf(worst_owner), nameOfAgainst(worst_against), worst_distance, point_copy};
  }
  return result;
}

}  // namespace s2r::pose
