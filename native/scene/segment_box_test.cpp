#include "native/scene/segment_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "native/scene/patch.h"
#include "native/scene/test_support/data.h"
#include "native/scene/test_support/pcd.h"
#include "native/scene/test_support/ray_caster.h"

namespace s2r::scene {
namespace {

using test::Body;
using test::Shape;
using test::Shot;
using test::Stage;

Mask toMask(const std::vector<uint8_t>& pixels, int width, int height) {
  Mask mask(width, height);
  mask.data = pixels;
  return mask;
}

double overlap(const Mask& a, const Mask& b) {
  long both = 0, any = 0;
  for (size_t i = 0; i < a.data.size(); ++i) {
    both += a.data[i] && b.data[i];
    any += a.data[i] || b.data[i];
  }
  return any > 0 ? static_cast<double>(both) / static_cast<double>(any) : 0.0;
}

TEST(SegmentBox, RecordedTabletopScenes) {
  const std::string folder = test::dataFolder("mosd");
  if (folder.empty())
    GTEST_SKIP() << "no folder mosd under the data folder: labelled tabletop scenes are not tested";
  std::vector<double> overlaps;
  for (int k = 0; k <= 44; k += 4 * std::min(3, test::kThinning)) {
    const test::LabelledScene scene =
        test::readLabelledPcd(folder + "/learn" + std::to_string(k) + ".pcd");
    const View view = scene.view();
    std::set<uint32_t> objects;
    for (uint32_t label : scene.label) {
      if (label >= 20)
        objects.insert(label / 10);
    }
    ASSERT_FALSE(objects.empty());
    for (uint32_t object : objects) {
      Mask truth(scene.width, scene.height);
      for (size_t i = 0; i < truth.data.size(); ++i)
        truth.data[i] = scene.label[i] / 10 == object;
      SegmentOptions options;
      options.gravity_known = false;
      const Segmentation found = segmentBox(view, growBox(boundsOf(truth), 3, 3, view), options);
      overlaps.push_back(overlap(truth, found.mask));
    }
  }
  double mean = 0.0;
  for (double o : overlaps)
    mean += o / static_cast<double>(overlaps.size());
  RecordProperty("objects", static_cast<int>(overlaps.size()));
  RecordProperty("mean_iou", std::to_string(mean));
  std::printf("mean IoU %.3f over %zu objects, worst %.3f\n", mean, overlaps.size(),
              *std::min_element(overlaps.begin(), overlaps.end()));
  EXPECT_GE(mean, 0.93);  // measured 0.970; the project asks for 0.80
}

/// A table with boxes, cylinders and balls in saturated colours, seen from above as stereo would
/// measure it.
Stage randomStage(std::mt19937& random) {
  auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  constexpr std::array<std::array<uint8_t, 3>, 5> kColours{
      {{215, 30, 25}, {25, 165, 40}, {25, 50, 215}, {240, 205, 25}, {130, 40, 155}}};
  Stage stage;
  for (int i = 0; i < 6; ++i) {
    Body body;
    body.shape = static_cast<Shape>(i % 3);
    const double side = uniform(0.03, 0.06);
    body.size = {side, body.shape == Shape::kBox ? uniform(0.03, 0.06) : side,
                 body.shape == Shape::kBall ? side : uniform(0.03, 0.08)};
    body.yaw_rad = uniform(-1.5, 1.5);
    body.center = {-0.15 + 0.15 * (i % 3) + uniform(-0.02, 0.02),
                   -0.08 + 0.16 * (i / 3) + uniform(-0.02, 0.02), 0.5 * body.size.z()};
    body.rgb = kColours[static_cast<size_t>(random() % kColours.size())];
    stage.bodies.push_back(body);
  }
  stage.lookAt({0, 0, 0}, uniform(0.7, 1.0), -1.57, uniform(1.2, 1.55));
  return stage;
}

TEST(SegmentBox, StereoDepthOfColouredObjects) {
  std::mt19937 random(3);
  std::vector<double> with_colour, without;
  for (int k = 0; k < std::max(1, 8 / test::kThinning); ++k) {
    Shot shot = test::shoot(randomStage(random));
    test::degradeLikeStereo(shot, 0.06, 0.15, 3, random);
    const View view = shot.view();
    for (int body = 1; body <= 6; ++body) {
      const Mask truth = toMask(shot.maskOf(body), shot.width, shot.height);
      const PixelBox box = growBox(boundsOf(truth), 2, 2, view);
      SegmentOptions options;
      with_colour.push_back(overlap(truth, segmentBox(view, box, options).mask));
      options.use_colour = false;
      without.push_back(overlap(truth, segmentBox(view, box, options).mask));
    }
  }
  auto mean = [](const std::vector<double>& v) {
    double sum = 0.0;
    for (double x : v)
      sum += x;
    return sum / static_cast<double>(v.size());
  };
  std::printf("mean IoU %.3f with colour, %.3f by geometry alone, %zu objects\n", mean(with_colour),
              mean(without), without.size());
  EXPECT_GE(mean(with_colour), 0.93);
  EXPECT_GE(mean(without), 0.65);
  EXPECT_GT(mean(with_colour), mean(without));
}

TEST(SegmentBox, CoveredBlockIsNotPartOfTheOneBelow) {
  Stage stage;
  stage.bodies = {{Shape::kBox, {0, 0, 0.02}, {0.10, 0.10, 0.04}, 0.3, {200, 180, 40}},
                  {Shape::kBox, {0.005, 0, 0.065}, {0.04, 0.04, 0.05}, 0.1, {200, 180, 40}}};
  stage.lookAt({0, 0, 0}, 0.8, -1.57, 1.55);
  const Shot shot = test::shoot(stage);
  const View view = shot.view();
  const Mask lower = toMask(shot.maskOf(1), shot.width, shot.height);
  SegmentOptions options;
  options.use_colour = false;  // both have one colour: only geometry can tell
  const Segmentation found = segmentBox(view, growBox(boundsOf(lower), 2, 2, view), options);
  EXPECT_GE(overlap(lower, found.mask), 0.85);
}

TEST(SegmentBox, FlushNeighboursAreCutAtTheBox) {
  Stage stage;  // one flat top over two blocks of one colour: no evidence parts them but the box
  stage.bodies = {{Shape::kBox, {-0.03, 0, 0.02}, {0.06, 0.06, 0.04}, 0.0, {40, 120, 200}},
                  {Shape::kBox, {0.03, 0, 0.02}, {0.06, 0.06, 0.04}, 0.0, {40, 120, 200}}};
  stage.lookAt({0, 0, 0}, 0.8, -1.57, 1.55);
  const Shot shot = test::shoot(stage);
  const View view = shot.view();
  const Mask left = toMask(shot.maskOf(1), shot.width, shot.height);
  SegmentOptions options;
  options.use_colour = false;
  const Segmentation found = segmentBox(view, growBox(boundsOf(left), 2, 2, view), options);
  EXPECT_GE(overlap(left, found.mask), 0.85);
  EXPECT_LE(found.score, 0.5);
}

TEST(SegmentBox, CupIncludesItsInside) {
  Stage stage;  // a wall of blocks around a floor
  for (int i = 0; i < 12; ++i) {
    const double a = i * 0.5236;
    stage.bodies.push_back({Shape::kBox,
                            {0.04 * std::cos(a), 0.04 * std::sin(a), 0.03},
                            {0.006, 0.0225, 0.06},
                            a,
                            {30, 60, 200}});
  }
  stage.bodies.push_back(
      {Shape::kCylinder, {0, 0, 0.006}, {0.076, 0.076, 0.012}, 0.0, {30, 60, 200}});
  stage.lookAt({0, 0, 0}, 0.8, -1.57, 1.1);
  const Shot shot = test::shoot(stage);
  const View view = shot.view();
  Mask truth(shot.width, shot.height);
  for (size_t i = 0; i < truth.data.size(); ++i)
    truth.data[i] = shot.owner[i] != 0;
  for (bool colour : {true, false}) {
    SegmentOptions options;
    options.use_colour = colour;
    EXPECT_GE(overlap(truth, segmentBox(view, growBox(boundsOf(truth), 2, 2, view), options).mask),
              0.9)
        << colour;
  }
}

TEST(SegmentBox, NothingToSeeGivesAnEmptyMask) {
  Stage stage;
  stage.lookAt({0, 0, 0}, 0.8, 0.0, 1.2);
  Shot shot = test::shoot(stage);
  Segmentation found = segmentBox(shot.view(), {300, 200, 340, 240}, {});
  EXPECT_EQ(found.area_px, 0);
  EXPECT_EQ(found.rule, Rule::kNone);
  EXPECT_EQ(found.bounds.x1, 0);
  ASSERT_TRUE(found.support);
  EXPECT_NEAR(found.support->plane.offset_m, 0.0, 1e-4);

  std::fill(shot.depth_m.begin(), shot.depth_m.end(), std::numeric_limits<float>::quiet_NaN());
  SegmentOptions blind;
  blind.use_colour = false;
  found = segmentBox(shot.view(), {0, 0, 640, 480}, blind);
  EXPECT_EQ(found.area_px, 0);
  EXPECT_FALSE(found.support);
}

TEST(SegmentBox, SurvivesAnyBoxAndDepth) {
  std::mt19937 random(8);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 40; ++trial) {
    const int width = 2 + below(60), height = 2 + below(60);
    std::vector<float> depth(static_cast<size_t>(width * height));
    std::vector<uint8_t> rgb(depth.size() * 3), exclude(depth.size());
    constexpr float kOdd[] = {0.0f,
                              -1.0f,
                              std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              1e-30f,
                              1e30f};
    for (float& z : depth)
      z = below(4) == 0 ? kOdd[below(6)] : 0.5f + 0.001f * static_cast<float>(below(300));
    for (uint8_t& c : rgb)
      c = static_cast<uint8_t>(random());
    for (uint8_t& e : exclude)
      e = below(10) == 0;
    View view;
    view.width = width;
    view.height = height;
    view.depth_m = depth.data();
    view.rgb = rgb.data();
    view.intrinsics = {50, 50, width / 2.0, height / 2.0};
    const int x0 = below(width - 1), y0 = below(height - 1);
    SegmentOptions options;
    options.gravity_known = trial % 2 == 0;
    options.exclude = trial % 3 == 0 ? exclude.data() : nullptr;
    const PixelBox box{x0, y0, x0 + 2 + below(width - x0 - 1), y0 + 2 + below(height - y0 - 1)};
    const Segmentation found = segmentBox(view, intersect(box, {0, 0, width, height}), options);
    EXPECT_EQ(found.area_px, areaOf(found.mask));
    for (size_t i = 0; i < depth.size(); ++i) {
      if (!found.mask.data[i])
        continue;
      EXPECT_TRUE(box.contains(static_cast<int>(i) % width, static_cast<int>(i) / width));
      EXPECT_FALSE(options.exclude && exclude[i]);
    }
  }
}

TEST(BoxFit, IgnoresAnEvenMarginButNotAMissingSide) {
  const PixelBox box{0, 0, 100, 60};
  EXPECT_DOUBLE_EQ(boxFit({6, 6, 94, 54}, box, 2), 1.0);
  EXPECT_DOUBLE_EQ(boxFit({0, 0, 100, 60}, box, 2), 1.0);
  EXPECT_LT(boxFit({0, 0, 60, 60}, box, 2), 0.7);
  EXPECT_DOUBLE_EQ(boxFit({}, box, 2), 0.0);
}

TEST(Pcd, LzfLiteralsAndOverlappingReferences) {
  // "ab" as literals, then a reference of 7 bytes that starts 2 back and so repeats itself.
  const std::vector<uint8_t> packed{0x01, 'a', 'b', 0xA0, 0x01};
  const std::vector<uint8_t> expected{'a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a'};
  EXPECT_EQ(test::decompressLzf(packed, 9), expected);
  EXPECT_THROW((void)test::decompressLzf({0x20, 0x05}, 3), std::runtime_error);
  EXPECT_THROW((void)test::decompressLzf({0x05, 'a'}, 6), std::runtime_error);
}

}  // namespace
}  // namespace s2r::scene
