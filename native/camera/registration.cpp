#include "native/camera/registration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/camera/lens.h"

namespace s2r::camera {

namespace {

// Nearer than this to the target's plane a point is not drawn: its rectangle would have no bound.
constexpr float kNearestM = 0.01f;
// A pixel spans a few pixels of the target; more than this is a corner near the plane of the
// camera.
constexpr int kLargestSpanPx = 32;

bool isIdentityTransform(const Transform& X) {
  const Transform identity;
  for (int i = 0; i < 9; ++i) {
    if (std::abs(X.r[i] - identity.r[i]) > 1e-7)
      return false;
  }
  return std::abs(X.t[0]) < 1e-6 && std::abs(X.t[1]) < 1e-6 && std::abs(X.t[2]) < 1e-6;
}

}  // namespace

void metresOf(const uint16_t* counts, size_t pixels, double units_m, float* depth_m) {
  const auto units = static_cast<float>(units_m);
  for (size_t i = 0; i < pixels; ++i) {
    depth_m[i] = counts[i] == 0 ? std::numeric_limits<float>::quiet_NaN()
                                : static_cast<float>(counts[i]) * units;
  }
}

DepthRegistration::DepthRegistration(const Intrinsics& depth,
                                     const Intrinsics& target,
                                     const Transform& X_target_depth)
    : depth_(depth), target_(target), X_target_depth_(X_target_depth) {
  checkIntrinsics(depth, "depth image");
  checkIntrinsics(target, "left image");
  if (!isPinhole(target))
    throw CameraError("camera_calibration", "depth is registered to a rectified image only");
  identity_ = isIdentityTransform(X_target_depth) && isPinhole(depth) &&
              pinholeOf(depth) == pinholeOf(target);
  if (identity_)
    return;
  const size_t pixels = static_cast<size_t>(depth.width) * static_cast<size_t>(depth.height);
  corner_rays_.resize(pixels * 6);
  centre_z_.resize(pixels);
  const double* r = X_target_depth.r;
  size_t i = 0;
  for (int v = 0; v < depth.height; ++v) {
    for (int u = 0; u < depth.width; ++u, ++i) {
      bool ok = true;
      for (int corner = 0; corner < 2; ++corner) {
        double x = 0, y = 0;
        const double shift = corner == 0 ? -0.5 : 0.5;
        ok = rayOfPixel(depth, u + shift, v + shift, x, y) && ok;
        float* ray = &corner_rays_[i * 6 + static_cast<size_t>(corner) * 3];
        ray[0] = static_cast<float>(r[0] * x + r[1] * y + r[2]);
        ray[1] = static_cast<float>(r[3] * x + r[4] * y + r[5]);
        ray[2] = static_cast<float>(r[6] * x + r[7] * y + r[8]);
      }
      double x = 0, y = 0;
      ok = rayOfPixel(depth, u, v, x, y) && ok;
      // A pixel without a ray is never drawn: NaN fails the test on its depth.
      centre_z_[i] = ok ? static_cast<float>(r[6] * x + r[7] * y + r[8])
                        : std::numeric_limits<float>::quiet_NaN();
    }
  }
}

bool DepthRegistration::matches(const Intrinsics& depth,
                                const Intrinsics& target,
                                const Transform& X_target_depth) const {
  return depth == depth_ && target == target_ && X_target_depth == X_target_depth_;
}

void DepthRegistration::run(const uint16_t* counts, double units_m, float* out) const {
  const size_t pixels = static_cast<size_t>(depth_.width) * static_cast<size_t>(depth_.height);
  if (identity_) {
    metresOf(counts, pixels, units_m, out);
    return;
  }
  const size_t target_pixels =
      static_cast<size_t>(target_.width) * static_cast<size_t>(target_.height);
  std::fill_n(out, target_pixels, std::numeric_limits<float>::infinity());
  const auto units = static_cast<float>(units_m);
  const auto tx = static_cast<float>(X_target_depth_.t[0]);
  const auto ty = static_cast<float>(X_target_depth_.t[1]);
  const auto tz = static_cast<float>(X_target_depth_.t[2]);
  const auto fx = static_cast<float>(target_.fx), fy = static_cast<float>(target_.fy);
  // Half a pixel, so that truncation of what is not negative rounds to the nearest centre.
  const auto cx = static_cast<float>(target_.cx) + 0.5f;
  const auto cy = static_cast<float>(target_.cy) + 0.5f;
  const auto width = static_cast<float>(target_.width);
  const auto height = static_cast<float>(target_.height);
  for (size_t i = 0; i < pixels; ++i) {
    if (counts[i] == 0)
      continue;
    const float z = static_cast<float>(counts[i]) * units;
    const float z_target = centre_z_[i] * z + tz;
    const float* ray = &corner_rays_[i * 6];
    const float z0 = ray[2] * z + tz, z1 = ray[5] * z + tz;
    if (!(z_target > kNearestM && z0 > kNearestM && z1 > kNearestM))
      continue;
    const float u0 = fx * (ray[0] * z + tx) / z0 + cx, v0 = fy * (ray[1] * z + ty) / z0 + cy;
    const float u1 = fx * (ray[3] * z + tx) / z1 + cx, v1 = fy * (ray[4] * z + ty) / z1 + cy;
    const float left = std::min(u0, u1), right = std::max(u0, u1);
    const float top = std::min(v0, v1), bottom = std::max(v0, v1);
    if (!(right >= 0 && bottom >= 0 && left < width && top < height))
      continue;
    const int first_u = std::max(0, static_cast<int>(std::floor(left)));
    const int last_u = std::min(target_.width - 1, static_cast<int>(right));
    const int first_v = std::max(0, static_cast<int>(std::floor(top)));
    const int last_v = std::min(target_.height - 1, static_cast<int>(bottom));
    if (last_u - first_u > kLargestSpanPx || last_v - first_v > kLargestSpanPx)
      continue;
    for (int v = first_v; v <= last_v; ++v) {
      float* row = out + static_cast<size_t>(v) * static_cast<size_t>(target_.width);
      for (int u = first_u; u <= last_u; ++u)
        row[u] = std::min(row[u], z_target);
    }
  }
  for (size_t i = 0; i < target_pixels; ++i) {
    if (std::isinf(out[i]))
      out[i] = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace s2r::camera
