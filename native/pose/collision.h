// Arm, gripper and held object against table, zones, obstacles, an observed cloud and each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "native/pose/kinematics.h"
#include "native/pose/point_tree.h"

namespace s2r::pose {

struct Zone {
  std::string name;
  OrientedBox box;
};
struct Obstacle {
  std::string name;
  Capsule capsule;
};

struct Scene {
  std::optional<double> table_z_m;
  std::vector<Zone> zones;
  std::vector<Obstacle> obstacles;
  std::vector<float> cloud_world_m;           // N x 3
  std::vector<float> exclude_points_world_m;  // N x 3
  double exclude_radius_m = 0.006;
  std::vector<OrientedBox> exclude_boxes;
  double arm_clearance_m = 0.010;
  double tool_clearance_m = 0.002;
  double table_tolerance_m = 0.008;  // points up to this above the table are its surface
  int min_neighbours = 2;            // fewer within a centimetre: a stray point
};

// A scene made ready for distance queries.
class SceneIndex {
 public:
  explicit SceneIndex(const Scene& scene);

  std::optional<double> table_z_m;
  std::vector<std::string> zone_names, obstacle_names;
  std::vector<Shape> zones, obstacles;
  PointTree cloud;
  double arm_clearance_m, tool_clearance_m;
};

// Every finite point of a cloud of N x 3 floats.
[[nodiscard]] std::vector<Vec3> finitePoints(const std::vector<float>& xyz);

struct Tool {
  double opening_m = 0;
  std::optional<HeldObject> held;
};

struct Hit {
  std::string what, against;
  double distance_m = 0;
  std::optional<Vec3> point_world_m;
};

// Pairs of the model's capsules that overlap wherever the joints stand: housings that meet by
// construction, told by random configurations.
[[nodiscard]] std::vector<std::pair<int, int>> findTouchingCapsules(const ArmModel& model);

// Distances beyond this are not measured.
inline constexpr double kFarClearance_m = 0.05;

// Checks configurations of one arm with one tool state against one scene. Not shared between
// threads.
class CollisionChecker {
 public:
  CollisionChecker(const ArmModel& model, const SceneIndex& scene, Tool tool);

  struct Result {
    std::optional<Hit> hit;  // the worst violation of a clearance
    double clearance_m =
        kFarClearance_m;  // smallest distance, but for bodies that are just parting
  };
  // One configuration on its own.
  [[nodiscard]] Result check(const Frames& frames, const Transform& X_world_tcp);

  // A path: bodies that violate a clearance where it starts may part, but may neither press deeper
  // nor, once apart, touch again.
  void startPath(const Frames& frames, const Transform& X_world_tcp);
  [[nodiscard]] Result checkNext(const Frames& frames, const Transform& X_world_tcp);

  // Upper bound of how far any point of arm or tool moves when joint i turns by one radian.
  [[nodiscard]] const Joints& reach() const { return reach_; }

  // Gripper and held object alone, at a TCP pose (no arm): for choosing poses before joints are
  // known.
  [[nodiscard]] Result checkTool(const Transform& X_world_tcp);

 private:
  struct Body {
    Shape shape;
    int owner;  // 0 to 5 links, then kGripper and on
  };
  struct Allowance {
    int key;
    double distance_m;
  };
  void placeArm(const Frames& frames);
  void placeTool(const Transform& X_world_tcp);
  template <typename Visit>
  void visitScene(Visit visit) const;
  template <typename Visit>
  void visitSelf(Visit visit) const;
  template <typename Visit>
  void visitSceneOf(const Body& body, Visit visit) const;
  [[nodiscard]] std::string nameOf(int owner) const;
  [[nodiscard]] std::string nameOfAgainst(int against) const;
  [[nodiscard]] double clearanceOf(int owner) const;
  void fillReach(const ArmModel& model);

  const ArmModel& model_;
  const SceneIndex& scene_;
  Tool tool_;
  std::vector<Body> bodies_;
  size_t first_tool_ = 0;  // bodies from here on ride on the TCP
  std::vector<std::pair<int, int>> self_pairs_;
  std::vector<Allowance> allowances_;
  Joints reach_ = Joints::Zero();
};

}  // namespace s2r::pose
