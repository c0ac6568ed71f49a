// Depth registered to another camera: every depth pixel is lifted to a point, carried to the target
// camera and drawn there as the rectangle that its corners span; the nearest depth of a pixel
// stays. Unlike the library's own align block the value stored is the depth in the target's frame.
#pragma once

#include <cstdint>
#include <vector>

#include "native/camera/types.h"

namespace s2r::camera {

// Depth image (counts) to metres along the depth camera's own axis; NaN where the sensor has none.
void metresOf(const uint16_t* counts, size_t pixels, double units_m, float* depth_m);

class DepthRegistration {
 public:
  // `target` is a pinhole; X_target_depth takes points of the depth camera to the target camera.
  DepthRegistration(const Intrinsics& depth,
                    const Intrinsics& target,
                    const Transform& X_target_depth);

  [[nodiscard]] bool matches(const Intrinsics& depth,
                             const Intrinsics& target,
                             const Transform& X_target_depth) const;
  // True where both images are of one imager and one geometry: then nothing has to be carried over.
  [[nodiscard]] bool isIdentity() const { return identity_; }

  // out: target width * height, metres along the target's axis, NaN unknown.
  void run(const uint16_t* counts, double units_m, float* out) const;

 private:
  Intrinsics depth_;
  Intrinsics target_;
  Transform X_target_depth_;
  bool identity_ = false;
  // For the two corners of every depth pixel: the ray, rotated into the target's frame (x, y, z).
  std::vector<float> corner_rays_;
  std::vector<float> centre_z_;
};

}  // namespace s2r::camera
