#pragma once

#include <random>
#include <vector>

#include "native/scene/types.h"

namespace s2r::scene::test {

enum class Shape { kBox, kCylinder, kBall };

/// A convex body. Box: `size` are its full sides, turned by `yaw_rad` about z. Cylinder: size.x()
/// is the diameter, size.z() the height. Ball: size.x() is the diameter.
struct Body {
  Shape shape = Shape::kBox;
  Vec3 center = Vec3::Zero();
  Vec3 size = Vec3::Constant(0.05);
  double yaw_rad = 0.0;
  std::array<uint8_t, 3> rgb{200, 40, 30};
};

/// Bodies on the table z = 0, seen by one camera.
struct Stage {
  std::vector<Body> bodies;
  std::array<uint8_t, 3> table_rgb{150, 125, 95};
  int width = 640;
  int height = 480;
  Intrinsics intrinsics{515.0, 515.0, 319.5, 239.5};
  Eigen::Isometry3d X_world_camera = Eigen::Isometry3d::Identity();

  /// Looks at `target` from `distance_m` away, `elevation_rad` above the horizon.
  void lookAt(const Vec3& target, double distance_m, double azimuth_rad, double elevation_rad);
};

/// What the camera sees, exactly.
struct Shot {
  int width = 0;
  int height = 0;
  std::vector<float> depth_m;
  std::vector<uint8_t> rgb;
  std::vector<uint8_t> owner;  ///< 0 = table or nothing, k = bodies[k - 1].
  Intrinsics intrinsics;
  Eigen::Isometry3d X_world_camera;

  [[nodiscard]] View view() const;
  [[nodiscard]] std::vector<uint8_t> maskOf(int body) const;
};

/// Casts one ray per pixel centre; shades faces and strews darker marks over every surface.
[[nodiscard]] Shot shoot(const Stage& stage);

/// Gaussian noise along the optical axis.
void addDepthNoise(Shot& shot, double sigma_m, std::mt19937& random);

/// What block stereo does to a depth image: disparity of `baseline_m` with correlated noise of
/// `sigma_px`, foreground grown by `fatten_px`, and holes of unknown depth on the left of nearer
/// surfaces.
void degradeLikeStereo(Shot& shot,
                       double baseline_m,
                       double sigma_px,
                       int fatten_px,
                       std::mt19937& random);

}  // namespace s2r::scene::test
