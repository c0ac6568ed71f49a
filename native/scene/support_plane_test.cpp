#include "native/scene/support_plane.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "native/scene/patch.h"
#include "native/scene/raised_pieces.h"
#include "native/scene/support_ring.h"
#include "native/scene/surface_normals.h"
#include "native/scene/test_support/ray_caster.h"

namespace s2r::scene {
namespace {

using test::Shape;
using test::Shot;
using test::Stage;

Stage blockOnTable() {
  Stage stage;
  stage.bodies = {{Shape::kBox, {0, 0, 0.05}, {0.12, 0.09, 0.1}, 0.4, {200, 40, 30}}};
  stage.lookAt({0, 0, 0.03}, 0.8, 0.3, 0.9);
  return stage;
}

TEST(FindSupport, TableUnderABlockWithNoise) {
  std::mt19937 random(1);
  Shot shot = test::shoot(blockOnTable());
  test::addDepthNoise(shot, 0.0015, random);
  for (bool gravity_known : {true, false}) {
    SupportOptions options;
    options.gravity_known = gravity_known;
    const auto found = findSupport(shot.view(), {280, 180, 360, 300}, options);
    ASSERT_TRUE(found);
    EXPECT_GT(found->plane.normal.z(), std::cos(0.005));
    EXPECT_NEAR(found->plane.offset_m, 0.0, 0.0005);
    EXPECT_NEAR(found->noise_m, 0.0015 * std::sin(0.9), 0.0004);
  }
}

TEST(FindSupport, UnknownGravityFindsATiltedTable) {
  Shot shot = test::shoot(blockOnTable());
  shot.X_world_camera = Eigen::Isometry3d::Identity();
  SupportOptions options;
  options.gravity_known = false;
  const auto found = findSupport(shot.view(), {280, 180, 360, 300}, options);
  ASSERT_TRUE(found);
  EXPECT_LT(found->plane.normal.z(), -0.7);  // towards a camera that looks along +z
  options.gravity_known = true;
  EXPECT_FALSE(findSupport(shot.view(), {280, 180, 360, 300}, options));
}

TEST(FindSupport, NothingWithoutDepthAndTheSameTwice) {
  Shot shot = test::shoot(blockOnTable());
  const auto a = findSupport(shot.view(), {280, 180, 360, 300}, {});
  const auto b = findSupport(shot.view(), {280, 180, 360, 300}, {});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->plane.normal, b->plane.normal);
  std::fill(shot.depth_m.begin(), shot.depth_m.end(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(findSupport(shot.view(), {280, 180, 360, 300}, {}));
}

TEST(EstimateNormals, FacesOfABlock) {
  const Stage stage = blockOnTable();
  const Shot shot = test::shoot(stage);
  const View view = shot.view();
  const Patch patch = cutPatch(view, {0, 0, 640, 480});
  const Raster<Vec3f> normals = estimateNormals(view, patch, 3, 0.0);
  const std::vector<uint8_t> block = shot.maskOf(1);
  int up = 0, sideways = 0, rest = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    if (!block[i])
      continue;
    const float nz = normals.data[i].z();
    up += nz > 0.99f;
    sideways += std::abs(nz) < 0.05f;
    rest += nz <= 0.99f && std::abs(nz) >= 0.05f;
  }
  EXPECT_GT(up, 1000);
  EXPECT_GT(sideways, 1000);
  EXPECT_LT(rest, (up + sideways) / 3);  // only along edges
}

TEST(SplitRaised, TouchingBlocksComeApartAtTheFold) {
  Stage stage;  // a low block against a high one: a concave fold, no depth jump
  stage.bodies = {{Shape::kBox, {0.00, 0, 0.05}, {0.06, 0.12, 0.10}, 0.0, {200, 40, 30}},
                  {Shape::kBox, {0.07, 0, 0.02}, {0.08, 0.12, 0.04}, 0.0, {200, 40, 30}}};
  stage.lookAt({0.03, 0, 0.03}, 0.7, 0.0, 0.9);
  const Shot shot = test::shoot(stage);
  const View view = shot.view();
  const auto support = findSupport(view, {200, 140, 440, 340}, {});
  ASSERT_TRUE(support);
  const Patch patch = cutPatch(view, {0, 0, 640, 480});
  const Pieces pieces = splitRaised(view, patch, support, {});
  std::array<std::map<int, long>, 3> owners;
  for (size_t i = 0; i < pieces.label.data.size(); ++i) {
    if (pieces.label.data[i] >= 0)
      ++owners[shot.owner[i]][pieces.label.data[i]];
  }
  auto main = [](const std::map<int, long>& counts) {
    return std::max_element(counts.begin(), counts.end(),
                            [](auto& a, auto& b) { return a.second < b.second; })
        ->first;
  };
  ASSERT_FALSE(owners[1].empty());
  ASSERT_FALSE(owners[2].empty());
  EXPECT_NE(main(owners[1]), main(owners[2]));
}

TEST(SupportAround, HeightAndNoiseOfTheRing) {
  std::mt19937 random(4);
  Shot shot = test::shoot(blockOnTable());
  test::addDepthNoise(shot, 0.001, random);
  const View view = shot.view();
  const Patch patch = cutPatch(view, {0, 0, 640, 480});
  Mask mask(640, 480);
  mask.data = shot.maskOf(1);
  const auto ring = supportAround(view, patch, mask, 0.06);
  ASSERT_TRUE(ring);
  EXPECT_NEAR(ring->z_m, 0.0, 0.0005);
  EXPECT_NEAR(ring->noise_m, 0.001 * std::sin(0.9), 0.0004);
  EXPECT_FALSE(supportAround(view, patch, mask, -0.5));
}

}  // namespace
}  // namespace s2r::scene
