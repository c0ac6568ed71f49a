#pragma once

#include <array>

#include "native/scene/types.h"

namespace s2r::scene {

struct MeasureOptions {
  size_t max_points = 0;  ///< At most this many points are returned; 0 = none.
  double support_z_m =
      kNan;  ///< Known height of the surface below; NaN = look for it around the mask.
  /// The depth has true edges. Then the bottom edge of a visible side tells what a stacked thing
  /// stands on, where the ring around it shows the table farther down. Stereo's smeared edges would
  /// fake such contact.
  bool sharp_edges = false;
};

/// Gravity-aligned box, turned by `yaw_rad` about world z; size.x() >= size.y(), size.z() vertical.
struct UprightBox {
  Vec3 center_world = Vec3::Zero();
  Vec3 size_m = Vec3::Zero();
  double yaw_rad = 0.0;
  bool yaw_defined = false;
};

struct Geometry {
  Vec3 centroid_world = Vec3::Zero();
  double top_z_m = 0.0;
  std::optional<double> support_z_m;
  Vec3 extents_m = Vec3::Zero();
  std::array<Vec3, 3> principal_axes;
  UprightBox upright_box;
  size_t point_count = 0;
  double confidence = 0.0;
  std::vector<float> points_world;
};

/// Measures what is visible under `mask` (view-sized). Empty where fewer than 12 of its pixels have
/// depth.
///
/// Points that float off the surface, and those that lie on the support although the object rises
/// well above it (stereo gives a dark side the table's depth), are dropped. The upright box comes
/// from the least-area rectangle of the rest seen from above, sides placed where the density
/// halves; round outlines and balls are fitted as such and have no yaw.
[[nodiscard]] std::optional<Geometry> measureGeometry(const View& view,
                                                      const uint8_t* mask,
                                                      const MeasureOptions& options);

}  // namespace s2r::scene
