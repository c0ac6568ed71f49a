// The camera models that RealSense devices name, and what is done with them: projection, its
// inverse, tables that turn a distorted image into a pinhole image.
//
// With x = X/Z, y = Y/Z, r2 = x^2 + y^2, f = 1 + k1 r2 + k2 r2^2 + k3 r2^3:
//   brown_conrady                       x' = x f + 2 p1 x y + p2 (r2 + 2 x^2)        (OpenCV's
//   plumb_bob)
//                                       y' = y f + 2 p2 x y + p1 (r2 + 2 y^2)
//   modified_/inverse_brown_conrady     the same with x f and y f in place of x and y in the
//   tangential
//                                       terms (r2 stays that of x and y); not OpenCV's model where
//                                       p1 or p2 != 0
// and u = fx x' + cx, v = fy y' + cy. So librealsense (2.54 and later) projects; all three are
// inverted here by Newton steps on the same formula, not by a fixed number of rounds.
#pragma once

#include <span>
#include <vector>

#include "native/camera/types.h"

namespace s2r::camera {

// Throws camera_calibration for sizes, focal lengths or models that no pinhole image can be made
// of.
void checkIntrinsics(const Intrinsics& k, const char* whose);

[[nodiscard]] bool isPinhole(const Intrinsics& k);

// Point on the plane Z = 1 to pixel.
void projectRay(const Intrinsics& k, double x, double y, double& u, double& v);
// Pixel to the point on the plane Z = 1. False where the model has no inverse there.
[[nodiscard]] bool rayOfPixel(const Intrinsics& k, double u, double v, double& x, double& y);

// The pinhole camera that a rectified image has: same size, focal lengths and centre, no
// distortion.
[[nodiscard]] Intrinsics pinholeOf(const Intrinsics& k);

// For each pixel of the pinhole image, where it lies in the distorted one; built once per
// calibration.
class RemapTable {
 public:
  explicit RemapTable(const Intrinsics& k);
  [[nodiscard]] const Intrinsics& source() const { return source_; }
  [[nodiscard]] const Intrinsics& target() const { return target_; }

  // Bilinear to 1/256 pixel, 1 or 3 channels interleaved; pixels that lie outside the source become
  // 0.
  void image(const uint8_t* from, int channels, uint8_t* to) const;
  // Nearest pixel: depths of two surfaces are never mixed. Outside the source: 0.
  void depth(const uint16_t* from, uint16_t* to) const;

 private:
  Intrinsics source_;
  Intrinsics target_;
  // Where the four neighbours begin (none: kOutside), their weights of 1/256, and the nearest
  // pixel.
  struct Entry {
    int32_t first;
    int32_t nearest;
    uint16_t right, below;
  };
  static constexpr int32_t kOutside = -1;
  template <int kChannels>
  void blend(const uint8_t* from, uint8_t* to) const;

  std::vector<Entry> entries_;
};

}  // namespace s2r::camera
