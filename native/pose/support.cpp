#include "native/pose/support.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace s2r::pose {
namespace {

constexpr double kCell_m = 0.005;
constexpr double kAboveHint_m = 0.020, kBelowHint_m = 0.150;
constexpr double kBearing_m = 0.006;    // cells this far below the support still bear
constexpr double kTableBand_m = 0.006;  // a surface this near the table is the table
constexpr double kTableHint_m = 0.020;
constexpr double kLeastSeen = 0.15;  // share of the footprint that must be seen away from the table
constexpr size_t kLeastPoints = 2;   // in a cell

bool inside(const Footprint& f, double x, double y) {
  const double u = x / (0.5 * f.size_m.x()), v = y / (0.5 * f.size_m.y());
  return f.round ? u * u + v * v <= 1 : std::abs(u) <= 1 && std::abs(v) <= 1;
}

}  // namespace

Support findSupport(const std::vector<Vec3>& points,
                    const Footprint& footprint,
                    double hint_z_m,
                    std::optional<double> table_z_m) {
  const double c = std::cos(footprint.yaw_rad), s = std::sin(footprint.yaw_rad);
  const int nx = std::max(1, static_cast<int>(std::ceil(footprint.size_m.x() / kCell_m)));
  const int ny = std::max(1, static_cast<int>(std::ceil(footprint.size_m.y() / kCell_m)));
  const double cell_x = footprint.size_m.x() / nx, cell_y = footprint.size_m.y() / ny;
  std::vector<std::vector<double>> cells(static_cast<size_t>(nx) * ny);
  for (const Vec3& p : points) {
    if (p.z() < hint_z_m - kBelowHint_m || p.z() > hint_z_m + kAboveHint_m) {
      continue;
    }
    const double dx = p.x() - footprint.center_world_m.x(),
                 dy = p.y() - footprint.center_world_m.y();
    const double x = c * dx + s * dy, y = c * dy - s * dx;
    if (inside(footprint, x, y)) {
      const int i =
          std::clamp(static_cast<int>((x + 0.5 * footprint.size_m.x()) / cell_x), 0, nx - 1);
      const int j =
          std::clamp(static_cast<int>((y + 0.5 * footprint.size_m.y()) / cell_y), 0, ny - 1);
      cells[static_cast<size_t>(i) * ny + j].push_back(p.z());
    }
  }
  struct Cell {
    double x, y, z;
  };
  std::vector<Cell> seen;
  int total = 0;
  for (int i = 0; i < nx; ++i) {
    for (int j = 0; j < ny; ++j) {
      const double x = (i + 0.5) * cell_x - 0.5 * footprint.size_m.x();
      const double y = (j + 0.5) * cell_y - 0.5 * footprint.size_m.y();
      total += inside(footprint, x, y) ? 1 : 0;
      std::vector<double>& zs = cells[static_cast<size_t>(i) * ny + j];
      if (zs.size() >= kLeastPoints) {
        std::ranges::nth_element(zs, zs.begin() + static_cast<std::ptrdiff_t>(zs.size() / 2));
        seen.push_back({x, y, zs[zs.size() / 2]});
      }
    }
  }
  Support out;
  total = std::max(total, 1);
  out.seen_share = std::min(1.0, static_cast<double>(seen.size()) / total);
  const bool table_meant = table_z_m && std::abs(hint_z_m - *table_z_m) <= kTableHint_m;
  if (seen.empty() || (out.seen_share < kLeastSeen && table_meant)) {
    if (!table_meant) {
      out.reason =
          "no surface was seen under the object's footprint: look again from where the place is "
          "visible, or choose another pixel";
      return out;
    }
    double highest = std::max(*table_z_m, hint_z_m);
    for (const Cell& cell : seen) {
      highest = std::max(highest, cell.z);
    }
    out.found = true;
    out.z_m = highest;
    out.seen_share = 1;
    return out;
  }
  std::ranges::sort(seen, {}, &Cell::z);
  out.z_m = seen[(seen.size() - 1) * 95 / 100].z;
  if (table_z_m) {
    out.z_m = std::max(out.z_m, *table_z_m);
    if (out.z_m - *table_z_m <= kTableBand_m) {
      out.found = true;  // level with the table all around
      out.seen_share = 1;
      return out;
    }
  }
  if (out.seen_share < kLeastSeen) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer,
                  "only %.0f %% of the surface under the object's footprint was seen, %.0f %% are "
                  "needed: look again from elsewhere, or choose another pixel",
                  100 * out.seen_share, 100 * kLeastSeen);
    out.reason = buffer;
    return out;
  }
  // The largest angle, seen from the footprint's centre, that holds no bearing cell.
  std::vector<double> angles;
  for (const Cell& cell : seen) {
    if (cell.z >= out.z_m - kBearing_m) {
      angles.push_back(std::atan2(cell.y, cell.x));
    }
  }
  std::ranges::sort(angles);
  double gap = angles.front() + 2 * kPi - angles.back();
  for (size_t i = 1; i < angles.size(); ++i) {
    gap = std::max(gap, angles[i] - angles[i - 1]);
  }
  if (angles.size() < 3 || gap > kPi) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer,
                  "the surface under the object's footprint is uneven: at %.4f m only one side "
                  "would carry it and it would tip",
                  out.z_m);
    out.reason = buffer;
    return out;
  }
  out.found = true;
  return out;
}

}  // namespace s2r::pose
