#include "native/camera/registration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace s2r::camera {
namespace {

Intrinsics pinhole(int width, int height, double f) {
  return {width, height, f, f, (width - 1) / 2.0, (height - 1) / 2.0, Distortion::kNone, 0, {}};
}

TEST(Registration, UnitsOfATenthOfAMillimetre) {
  const uint16_t counts[] = {0, 1, 5000, 65535};
  float depth[4];
  metresOf(counts, 4, 0.0001, depth);
  EXPECT_TRUE(std::isnan(depth[0]));
  EXPECT_FLOAT_EQ(depth[1], 0.0001f);
  EXPECT_FLOAT_EQ(depth[2], 0.5f);
  EXPECT_FLOAT_EQ(depth[3], 6.5535f);
}

TEST(Registration, OneImagerNeedsNoRegistration) {
  const Intrinsics k = pinhole(64, 48, 60);
  const DepthRegistration registration(k, k, {});
  EXPECT_TRUE(registration.isIdentity());
  std::vector<uint16_t> counts(64 * 48, 700);
  counts[5] = 0;
  std::vector<float> out(64 * 48);
  registration.run(counts.data(), 0.001, out.data());
  EXPECT_TRUE(std::isnan(out[5]));
  EXPECT_FLOAT_EQ(out[6], 0.7f);
}

// A slanted plane seen by a rotated, shifted camera: at every target pixel the depth of the plane
// along that ray.
TEST(Registration, APlaneStaysAPlane) {
  const Intrinsics depth = pinhole(320, 240, 300), target = pinhole(320, 240, 340);
  Transform X;
  const double angle = 0.06;
  X.r[0] = std::cos(angle);
  X.r[2] = std::sin(angle);
  X.r[6] = -std::sin(angle);
  X.r[8] = std::cos(angle);
  X.t[0] = 0.015;
  X.t[1] = -0.004;
  X.t[2] = 0.01;
  // n . p = d in the depth camera's frame.
  const double n[3] = {0.2, -0.1, 1}, d = 0.8;
  std::vector<uint16_t> counts(320 * 240);
  for (int v = 0; v < 240; ++v) {
    for (int u = 0; u < 320; ++u) {
      const double x = (u - depth.cx) / depth.fx, y = (v - depth.cy) / depth.fy;
      counts[static_cast<size_t>(v * 320 + u)] =
          static_cast<uint16_t>(std::lround(d / (n[0] * x + n[1] * y + n[2]) / 0.0001));
    }
  }
  std::vector<float> out(320 * 240);
  DepthRegistration(depth, target, X).run(counts.data(), 0.0001, out.data());
  int known = 0;
  for (int v = 10; v < 230; ++v) {
    for (int u = 30; u < 290; ++u) {
      const float z = out[static_cast<size_t>(v * 320 + u)];
      if (std::isnan(z))
        continue;
      ++known;
      const double p[3] = {(u - target.cx) / target.fx * z - X.t[0],
                           (v - target.cy) / target.fy * z - X.t[1], z - X.t[2]};
      double q[3];  // back in the depth camera's frame
      for (int i = 0; i < 3; ++i)
        q[i] = X.r[i] * p[0] + X.r[3 + i] * p[1] + X.r[6 + i] * p[2];
      // Half a pixel of the depth image on a slope of 0.2, and the nearer of two overlapping
      // pixels.
      ASSERT_NEAR((n[0] * q[0] + n[1] * q[1] + n[2] * q[2]), d, 0.0015);
    }
  }
  EXPECT_GT(known, 220 * 260 * 0.98);
}

TEST(Registration, TheNearerSurfaceHides) {
  const Intrinsics k = pinhole(64, 48, 60);
  Transform X;
  X.t[0] = -0.1;  // the target looks from 10 cm to the right
  std::vector<uint16_t> counts(64 * 48, 2000);
  for (int v = 10; v < 38; ++v) {
    for (int u = 28; u < 40; ++u)
      counts[static_cast<size_t>(v * 64 + u)] = 500;
  }
  std::vector<float> out(64 * 48);
  DepthRegistration(k, k, X).run(counts.data(), 0.001, out.data());
  // The block moves 12 px to the left, the wall 3 px.
  EXPECT_FLOAT_EQ(out[20 * 64 + 20], 0.5f);
  EXPECT_FLOAT_EQ(out[20 * 64 + 10], 2.0f);
  // What the block hid from the depth camera stays unknown.
  EXPECT_TRUE(std::isnan(out[20 * 64 + 32]));
}

TEST(Registration, ABentTargetIsRefused) {
  Intrinsics bent = pinhole(64, 48, 60);
  bent.model = Distortion::kBrownConrady;
  bent.coeffs[0] = 0.1;
  EXPECT_THROW(DepthRegistration(pinhole(64, 48, 60), bent, {}), CameraError);
}

}  // namespace
}  // namespace s2r::camera
