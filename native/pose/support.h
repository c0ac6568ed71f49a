// The surface that would carry an object set down at a place, from the observed cloud.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "native/pose/model.h"

namespace s2r::pose {

struct Footprint {
  Eigen::Vector2d center_world_m = Eigen::Vector2d::Zero();
  double yaw_rad = 0;
  Eigen::Vector2d size_m = Eigen::Vector2d::Zero();
  bool round = false;  // the ellipse inscribed in the rectangle
};

struct Support {
  bool found = false;
  std::string reason;
  double z_m = 0;
  double seen_share = 0;  // of the footprint's cells
};

// Height of the highest part of the surface meant by `hint_z_m` under the footprint.
//
// Points are gathered in cells of 5 mm; a cell's height is the median of its points, so that single
// wrong depths do not count. Cells up to 20 mm above the hint belong to the surface; higher ones
// are walls or other objects, which the collision check sees. The support is the 95th percentile of
// the surface's cells. It must carry the object: no half-plane through the footprint's centre may
// be without a cell within 6 mm of that height. Where the surface is the table (or nothing was seen
// and the hint says table) unseen cells count as table.
[[nodiscard]] Support findSupport(const std::vector<Vec3>& points,
                                  const Footprint& footprint,
                                  double hint_z_m,
                                  std::optional<double> table_z_m);

}  // namespace s2r::pose
