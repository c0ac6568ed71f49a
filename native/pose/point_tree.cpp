#include "native/pose/point_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace s2r::pose {
namespace {

constexpr uint32_t kLeafPoints = 12;
// Coordinates beyond this are no measurement of a workspace and would overflow a cell's key.
constexpr double kFarthest_m = 1000;

}  // namespace

PointTree::PointTree(std::vector<Vec3> points) : points_(std::move(points)) {
  if (!points_.empty()) {
    nodes_.reserve(2 * points_.size() / kLeafPoints + 8);
    build(0, static_cast<uint32_t>(points_.size()));
  }
}

int32_t PointTree::build(uint32_t begin, uint32_t end) {
  Vec3 low = points_[begin], high = points_[begin];
  for (uint32_t i = begin + 1; i < end; ++i) {
    low = low.cwiseMin(points_[i]);
    high = high.cwiseMax(points_[i]);
  }
  Node node;
  node.begin = begin;
  node.end = end;
  node.center = 0.5 * (low + high);
  double radius2 = 0;
  for (uint32_t i = begin; i < end; ++i) {
    radius2 = std::max(radius2, (points_[i] - node.center).squaredNorm());
  }
  node.radius = std::sqrt(radius2);
  const auto index = static_cast<int32_t>(nodes_.size());
  nodes_.push_back(node);
  if (end - begin > kLeafPoints) {
    int axis = 0;
    (high - low).maxCoeff(&axis);
    const uint32_t middle = begin + (end - begin) / 2;
    std::nth_element(points_.begin() + begin, points_.begin() + middle, points_.begin() + end,
                     [axis](const Vec3& a, const Vec3& b) { return a[axis] < b[axis]; });
    const int32_t left = build(begin, middle);
    const int32_t right = build(middle, end);
    nodes_[index].left = left;
    nodes_[index].right = right;
  }
  return index;
}

void PointTree::search(int32_t index, const Shape& shape, Nearest& best) const {
  const Node& node = nodes_[index];
  if (node.left < 0) {
    for (uint32_t i = node.begin; i < node.end; ++i) {
      const double d = distanceToPoint(shape, points_[i]);
      if (d < best.distance_m) {
        best = {d, points_[i]};
      }
    }
    return;
  }
  double near = distanceToPoint(shape, nodes_[node.left].center) - nodes_[node.left].radius;
  double far = distanceToPoint(shape, nodes_[node.right].center) - nodes_[node.right].radius;
  int32_t first = node.left, second = node.right;
  if (far < near) {
    std::swap(near, far);
    std::swap(first, second);
  }
  if (near < best.distance_m) {
    search(first, shape, best);
  }
  if (far < best.distance_m) {
    search(second, shape, best);
  }
}

PointTree::Nearest PointTree::nearest(const Shape& shape, double cutoff_m) const {
  Nearest best;
  best.distance_m = cutoff_m;
  if (!nodes_.empty()) {
    const Node& root = nodes_[0];
    if ((root.center - shape.center).norm() - root.radius - shape.bound < cutoff_m) {
      search(0, shape, best);
    }
  }
  if (best.distance_m >= cutoff_m) {
    best.distance_m = std::numeric_limits<double>::infinity();
  }
  return best;
}

CellMap::CellMap(const std::vector<Vec3>& points, double cell_m) : inverse_cell_(1 / cell_m) {
  std::vector<std::pair<int64_t, uint32_t>> order(points.size());
  for (uint32_t i = 0; i < points.size(); ++i) {
    order[i] = {keyOf(points[i]), i};
  }
  std::ranges::sort(order);
  points_.reserve(points.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    points_.push_back(points[order[i].second]);
    if (i == 0 || order[i].first != order[i - 1].first) {
      starts_.push_back(i);
      keys_.push_back(order[i].first);
    }
  }
  starts_.push_back(static_cast<uint32_t>(points_.size()));
}

size_t CellMap::find(int64_t key) const {
  const auto found = std::ranges::lower_bound(keys_, key);
  return found != keys_.end() && *found == key ? static_cast<size_t>(found - keys_.begin())
                                               : keys_.size();
}

int64_t CellMap::keyOf(const Vec3& point, int dx, int dy, int dz) const {
  constexpr int64_t kBits = 21, kMask = (int64_t{1} << kBits) - 1;
  const Vec3 p = point.cwiseMax(-kFarthest_m).cwiseMin(kFarthest_m) * inverse_cell_;
  const int64_t x = static_cast<int64_t>(std::floor(p.x())) + dx;
  const int64_t y = static_cast<int64_t>(std::floor(p.y())) + dy;
  const int64_t z = static_cast<int64_t>(std::floor(p.z())) + dz;
  return ((x & kMask) << (2 * kBits)) | ((y & kMask) << kBits) | (z & kMask);
}

int CellMap::countAround(const Vec3& point) const {
  int count = 0;
  for (int dx = -1; dx <= 1; ++dx) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dz = -1; dz <= 1; ++dz) {
        const size_t cell = find(keyOf(point, dx, dy, dz));
        if (cell < keys_.size()) {
          count += static_cast<int>(starts_[cell + 1] - starts_[cell]);
        }
      }
    }
  }
  return count;
}

bool CellMap::anyWithin(const Vec3& point, double radius_m) const {
  for (int dx = -1; dx <= 1; ++dx) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dz = -1; dz <= 1; ++dz) {
        const size_t cell = find(keyOf(point, dx, dy, dz));
        if (cell == keys_.size()) {
          continue;
        }
        for (uint32_t i = starts_[cell]; i < starts_[cell + 1]; ++i) {
          if ((points_[i] - point).squaredNorm() <= radius_m * radius_m) {
            return true;
          }
        }
      }
    }
  }
  return false;
}

std::vector<Vec3> CellMap::withoutStrays(int min_neighbours) const {
  std::vector<Vec3> out;
  out.reserve(points_.size());
  for (size_t cell = 0; cell < keys_.size(); ++cell) {
    const uint32_t begin = starts_[cell], end = starts_[cell + 1];
    if (static_cast<int>(end - begin) > min_neighbours ||
        countAround(points_[begin]) > min_neighbours) {
      out.insert(out.end(), points_.begin() + begin, points_.begin() + end);
    }
  }
  return out;
}

std::vector<Vec3> CellMap::firsts() const {
  std::vector<Vec3> out;
  out.reserve(starts_.size());
  for (size_t cell = 0; cell < keys_.size(); ++cell) {
    out.push_back(points_[starts_[cell]]);
  }
  return out;
}

}  // namespace s2r::pose
