// A tree of balls over a point cloud, for the smallest distance between a convex shape and the
// points.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "native/pose/shapes.h"

namespace s2r::pose {

class PointTree {
 public:
  PointTree() = default;
  explicit PointTree(std::vector<Vec3> points);

  struct Nearest {
    double distance_m = std::numeric_limits<double>::infinity();
    Vec3 point = Vec3::Zero();
  };
  // The nearest point of the cloud within `cutoff_m` of the shape's surface (deepest when inside);
  // infinity when there is none.
  [[nodiscard]] Nearest nearest(const Shape& shape, double cutoff_m) const;
  [[nodiscard]] const std::vector<Vec3>& points() const { return points_; }
  [[nodiscard]] bool empty() const { return points_.empty(); }

 private:
  struct Node {
    Vec3 center = Vec3::Zero();
    double radius = 0;
    uint32_t begin = 0, end = 0;
    int32_t left = -1, right = -1;  // -1: a leaf
  };
  int32_t build(uint32_t begin, uint32_t end);
  void search(int32_t index, const Shape& shape, Nearest& best) const;

  std::vector<Vec3> points_;
  std::vector<Node> nodes_;
};

// Points sorted into cubic cells.
class CellMap {
 public:
  CellMap(const std::vector<Vec3>& points, double cell_m);
  // Points that have at least `min_neighbours` others in their cell and the 26 around it.
  [[nodiscard]] std::vector<Vec3> withoutStrays(int min_neighbours) const;
  // True when a stored point lies within `radius_m` (at most the cell's edge) of `point`.
  [[nodiscard]] bool anyWithin(const Vec3& point, double radius_m) const;
  // One point of each cell, the first stored.
  [[nodiscard]] std::vector<Vec3> firsts() const;

 private:
  [[nodiscard]] int countAround(const Vec3& point) const;
  [[nodiscard]] int64_t keyOf(const Vec3& point, int dx = 0, int dy = 0, int dz = 0) const;
  // Index of the cell with this key, or the number of cells.
  [[nodiscard]] size_t find(int64_t key) const;
  double inverse_cell_;
  std::vector<Vec3> points_;      // grouped by cell
  std::vector<int64_t> keys_;     // of the cells, rising
  std::vector<uint32_t> starts_;  // of each cell's points, and the end
};

}  // namespace s2r::pose
