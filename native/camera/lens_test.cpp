#include "native/camera/lens.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace s2r::camera {
namespace {

Intrinsics lens(Distortion model, std::array<double, 5> coeffs) {
  Intrinsics k{640, 480, 600, 605, 317.3, 242.8, model, 0, {}};
  std::copy(coeffs.begin(), coeffs.end(), k.coeffs);
  return k;
}

const std::array<double, 5> kBent = {-0.055, 0.066, 0.0008, -0.0011, -0.021};

// OpenCV's plumb_bob written out in another way: distortion in polar form plus the tangential pair.
void plumbBob(const Intrinsics& k, double x, double y, double& u, double& v) {
  const double r = std::hypot(x, y);
  const double radial = 1 + k.coeffs[0] * std::pow(r, 2) + k.coeffs[1] * std::pow(r, 4) +
                        k.coeffs[4] * std::pow(r, 6);
  u = k.fx * (x * radial + 2 * k.coeffs[2] * x * y + k.coeffs[3] * (3 * x * x + y * y)) + k.cx;
  v = k.fy * (y * radial + k.coeffs[2] * (x * x + 3 * y * y) + 2 * k.coeffs[3] * x * y) + k.cy;
}

TEST(Lens, BrownConradyIsOpenCvsModel) {
  const Intrinsics k = lens(Distortion::kBrownConrady, kBent);
  for (double x = -0.5; x <= 0.5; x += 0.05) {
    for (double y = -0.4; y <= 0.4; y += 0.05) {
      double u = 0, v = 0, u_ref = 0, v_ref = 0;
      projectRay(k, x, y, u, v);
      plumbBob(k, x, y, u_ref, v_ref);
      EXPECT_NEAR(u, u_ref, 1e-9);
      EXPECT_NEAR(v, v_ref, 1e-9);
    }
  }
}

TEST(Lens, ModifiedDiffersFromOpenCvOnlyThroughTheTangentialTerms) {
  const Intrinsics k = lens(Distortion::kModifiedBrownConrady, kBent);
  double u = 0, v = 0, u_ref = 0, v_ref = 0;
  projectRay(k, 0.5, 0.4, u, v);
  plumbBob(k, 0.5, 0.4, u_ref, v_ref);
  EXPECT_GT(std::hypot(u - u_ref, v - v_ref), 1e-3);
  auto radial_only = kBent;
  radial_only[2] = radial_only[3] = 0;
  const Intrinsics same = lens(Distortion::kInverseBrownConrady, radial_only);
  projectRay(same, 0.5, 0.4, u, v);
  plumbBob(same, 0.5, 0.4, u_ref, v_ref);
  EXPECT_NEAR(u, u_ref, 1e-9);
  EXPECT_NEAR(v, v_ref, 1e-9);
}

TEST(Lens, RayOfPixelInvertsEveryModelOverTheWholeImage) {
  for (const Distortion model :
       {Distortion::kNone, Distortion::kBrownConrady, Distortion::kModifiedBrownConrady,
        Distortion::kInverseBrownConrady}) {
    const Intrinsics k = lens(model, kBent);
    for (int v = -1; v <= 480; v += 13) {
      for (int u = -1; u <= 640; u += 13) {
        double x = 0, y = 0, u_again = 0, v_again = 0;
        ASSERT_TRUE(rayOfPixel(k, u, v, x, y));
        projectRay(k, x, y, u_again, v_again);
        ASSERT_NEAR(u_again, u, 1e-6) << nameOf(model);
        ASSERT_NEAR(v_again, v, 1e-6) << nameOf(model);
      }
    }
  }
}

TEST(Lens, NoRayBeyondTheFoldOfAModel) {
  const Intrinsics k = lens(Distortion::kBrownConrady, {-0.4, 0, 0, 0, 0});
  double x = 0, y = 0;
  EXPECT_FALSE(rayOfPixel(k, 5000, 242.8, x, y));
}

TEST(Lens, RefusesWhatNoPinholeImageCanBeMadeOf) {
  Intrinsics k = lens(Distortion::kKannalaBrandt4, kBent);
  EXPECT_THROW(checkIntrinsics(k, "x"), CameraError);
  k = lens(Distortion::kNone, kBent);
  k.fx = 0;
  EXPECT_THROW(checkIntrinsics(k, "x"), CameraError);
  k.fx = std::nan("");
  EXPECT_THROW(checkIntrinsics(k, "x"), CameraError);
  k = lens(Distortion::kNone, kBent);
  k.width = 0;
  EXPECT_THROW(checkIntrinsics(k, "x"), CameraError);
}

// A scene that is a function of the ray: drawn through the lens, rectified, compared with the
// pinhole's drawing.
TEST(Lens, RectificationGivesThePinholeImage) {
  const auto shade = [](double x, double y) {
    return 128 + 60 * std::sin(9 * x) + 50 * std::cos(8 * y + x);
  };
  for (const Distortion model : {Distortion::kBrownConrady, Distortion::kModifiedBrownConrady}) {
    const Intrinsics k = lens(model, kBent);
    std::vector<uint8_t> bent(640 * 480 * 3), flat(640 * 480 * 3);
    for (int v = 0; v < 480; ++v) {
      for (int u = 0; u < 640; ++u) {
        double x = 0, y = 0;
        ASSERT_TRUE(rayOfPixel(k, u, v, x, y));
        for (int c = 0; c < 3; ++c)
          bent[static_cast<size_t>((v * 640 + u) * 3 + c)] =
              static_cast<uint8_t>(std::lround(shade(x, y)) - 5 * c);
      }
    }
    RemapTable(k).image(bent.data(), 3, flat.data());
    int compared = 0;
    for (int v = 20; v < 460; ++v) {
      for (int u = 20; u < 620; ++u) {
        const double wanted = shade((u - k.cx) / k.fx, (v - k.cy) / k.fy);
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(flat[static_cast<size_t>((v * 640 + u) * 3 + c)], wanted - 5 * c, 1.6);
        ++compared;
      }
    }
    EXPECT_EQ(compared, 440 * 600);
  }
}

TEST(Lens, RemapOfAPinholeIsTheImageItself) {
  Intrinsics k = lens(Distortion::kNone, {});
  k.width = 31;
  k.height = 17;
  std::vector<uint8_t> from(31 * 17), to(31 * 17);
  std::mt19937 random(1);
  for (auto& value : from)
    value = static_cast<uint8_t>(random());
  RemapTable(k).image(from.data(), 1, to.data());
  EXPECT_EQ(from, to);
}

TEST(Lens, DepthIsNeverMixed) {
  const Intrinsics k = lens(Distortion::kBrownConrady, {-0.2, 0.05, 0, 0, 0});
  std::vector<uint16_t> from(640 * 480), to(640 * 480);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = i % 640 < 320 ? 500 : 2000;
  RemapTable(k).depth(from.data(), to.data());
  for (const uint16_t z : to)
    ASSERT_TRUE(z == 0 || z == 500 || z == 2000);
}

}  // namespace
}  // namespace s2r::camera
