#include "native/scene/outline_fit.h"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

namespace s2r::scene {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<Vec2> rectanglePoints(const Rectangle& r,
                                  int count,
                                  double noise,
                                  std::mt19937& random) {
  std::uniform_real_distribution<double> half(-0.5, 0.5);
  std::normal_distribution<double> blur(0.0, noise);
  const Vec2 eu(std::cos(r.yaw_rad), std::sin(r.yaw_rad)), ev(-eu.y(), eu.x());
  std::vector<Vec2> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(r.center + half(random) * r.size.x() * eu + half(random) * r.size.y() * ev +
                  Vec2(blur(random), blur(random)));
  }
  return out;
}

TEST(ConvexHull, HoldsEveryPointAndTurnsOneWay) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Vec2> points;
    const int count = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i)
      points.emplace_back(static_cast<double>(random() % 12), static_cast<double>(random() % 12));
    const std::vector<Vec2> hull = convexHull(points);
    if (hull.size() < 3)
      continue;
    EXPECT_GT(polygonArea(hull), 0.0);
    for (size_t i = 0; i < hull.size(); ++i) {
      const Vec2 edge = hull[(i + 1) % hull.size()] - hull[i];
      for (const Vec2& p : points) {
        const Vec2 d = p - hull[i];
        EXPECT_GE(edge.x() * d.y() - edge.y() * d.x(), 0.0);
      }
    }
  }
}

TEST(FillHull, FillsARingAndKeepsAConvexMask) {
  Mask ring(21, 21), disc(21, 21);
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 21; ++x) {
      const double r = std::hypot(x - 10, y - 10);
      ring(x, y) = r <= 8.0 && r > 6.0;
      disc(x, y) = r <= 8.0;
    }
  }
  EXPECT_EQ(fillHull(ring).data, disc.data);
  EXPECT_EQ(fillHull(disc).data, disc.data);
  Mask line(5, 5);
  line(2, 1) = line(2, 3) = 1;
  EXPECT_EQ(fillHull(line).data, line.data);
}

TEST(LeastAreaRectangle, RecoversSizeAndTurn) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> side(0.03, 0.2), turn(-kPi, kPi);
  for (int trial = 0; trial < 20; ++trial) {
    const Rectangle truth{{turn(random), turn(random)}, {side(random), side(random)}, turn(random)};
    const auto points = rectanglePoints(truth, 3000, 0.0005, random);
    Rectangle found = sharpenSides(leastAreaRectangle(points, 0.01), points, 0.004);
    if (std::abs(std::remainder(found.yaw_rad - truth.yaw_rad, kPi)) > kPi / 4)
      std::swap(found.size.x(), found.size.y());
    EXPECT_NEAR(found.size.x(), truth.size.x(), 0.002);
    EXPECT_NEAR(found.size.y(), truth.size.y(), 0.002);
    EXPECT_NEAR(std::remainder(found.yaw_rad - truth.yaw_rad, kPi / 2), 0.0, 0.03);
    EXPECT_LT((found.center - truth.center).norm(), 0.002);
  }
}

TEST(SharpenSides, StrayPointsDoNotMoveASide) {
  std::mt19937 random(3);
  const Rectangle truth{{0, 0}, {0.1, 0.06}, 0.2};
  auto points = rectanglePoints(truth, 3000, 0.0005, random);
  std::uniform_real_distribution<double> far(-0.2, 0.2);
  for (int i = 0; i < 60; ++i)
    points.emplace_back(far(random), far(random));
  Rectangle start = truth;
  start.size *= 1.06;
  const Rectangle found = sharpenSides(start, points, 0.004);
  EXPECT_NEAR(found.size.x(), 0.1, 0.0015);
  EXPECT_NEAR(found.size.y(), 0.06, 0.0015);
}

TEST(CompareOutlines, TellsDiscsFromRectangles) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (double aspect : {1.0, 1.2, 2.0, 4.0}) {
    const auto points =
        rectanglePoints({{0.3, 0.1}, {0.05 * aspect, 0.05}, 0.7}, 1500, 0.001, random);
    EXPECT_FALSE(compareOutlines(points, 0.01).round()) << aspect;
  }
  std::vector<Vec2> disc;
  for (int i = 0; i < 2000; ++i) {
    const double r = 0.04 * std::sqrt(unit(random)), a = 2 * kPi * unit(random);
    disc.emplace_back(0.5 + r * std::cos(a), -0.2 + r * std::sin(a));
  }
  const OutlineShape shape = compareOutlines(disc, 0.01);
  EXPECT_TRUE(shape.round());
  const Circle sharp = sharpenCircle(shape.circle, disc, 0.004);
  EXPECT_NEAR(sharp.radius, 0.04, 0.001);
  EXPECT_LT((sharp.center - Vec2(0.5, -0.2)).norm(), 0.001);
}

TEST(FitSphere, RecoversACapAndRefusesTooFewPoints) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::normal_distribution<double> blur(0.0, 0.0005);
  std::vector<Vec3> cap;
  for (int i = 0; i < 500; ++i) {
    const double a = 2 * kPi * unit(random), t = 1.2 * unit(random);
    const Vec3 d(std::sin(t) * std::cos(a), std::sin(t) * std::sin(a), std::cos(t));
    cap.push_back(Vec3(0.4, 0.1, 0.03) + (0.03 + blur(random)) * d);
  }
  const auto found = fitSphere(cap);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->radius, 0.03, 0.0005);
  EXPECT_LT((found->center - Vec3(0.4, 0.1, 0.03)).norm(), 0.0005);
  EXPECT_NEAR(found->rms, 0.0005, 0.0001);
  cap.resize(5);
  EXPECT_FALSE(fitSphere(cap));
}

}  // namespace
}  // namespace s2r::scene
