#include "native/scene/colour_cut.h"

#include <gtest/gtest.h>

#include <random>

#include "native/scene/binary_cut.h"
#include "native/scene/colour_model.h"
#include "native/scene/patch.h"

namespace s2r::scene {
namespace {

double energy(const Mask& mask,
              const Raster<float>& cost,
              const Raster<float>& wx,
              const Raster<float>& wy) {
  double sum = 0.0;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (mask(x, y))
        sum += cost(x, y);
      if (x + 1 < mask.width && mask(x, y) != mask(x + 1, y))
        sum += wx(x, y);
      if (y + 1 < mask.height && mask(x, y) != mask(x, y + 1))
        sum += wy(x, y);
    }
  }
  return sum;
}

TEST(CutBinary, ReachesTheLeastEnergyOfAllLabellings) {
  std::mt19937 random(6);
  std::uniform_real_distribution<float> price(-1.0f, 1.0f), weight(0.0f, 0.8f);
  constexpr int kWidth = 4, kHeight = 3;
  for (int trial = 0; trial < 30; ++trial) {
    Raster<float> cost(kWidth, kHeight), wx(kWidth, kHeight), wy(kWidth, kHeight);
    Raster<int8_t> fixed(kWidth, kHeight, 0);
    for (size_t i = 0; i < cost.data.size(); ++i) {
      cost.data[i] = price(random);
      wx.data[i] = weight(random);
      wy.data[i] = weight(random);
      if (random() % 6 == 0)
        fixed.data[i] = random() % 2 ? 1 : -1;
    }
    double least = 1e9;
    for (unsigned code = 0; code < (1u << (kWidth * kHeight)); ++code) {
      Mask mask(kWidth, kHeight);
      bool legal = true;
      for (size_t i = 0; i < mask.data.size(); ++i) {
        mask.data[i] = (code >> i) & 1u;
        legal = legal && (fixed.data[i] == 0 || (fixed.data[i] > 0) == (mask.data[i] != 0));
      }
      if (legal)
        least = std::min(least, energy(mask, cost, wx, wy));
    }
    const Mask found = cutBinary(cost, wx, wy, fixed, 2000);
    EXPECT_NEAR(energy(found, cost, wx, wy), least, 1e-3) << trial;
    for (size_t i = 0; i < found.data.size(); ++i) {
      if (fixed.data[i] != 0)
        EXPECT_EQ(found.data[i] != 0, fixed.data[i] > 0);
    }
  }
}

TEST(ColourModel, PrefersItsOwnColoursAndRepeats) {
  std::mt19937 random(7);
  auto around = [&](int r, int g, int b) {
    auto near = [&](int v) {
      return static_cast<uint8_t>(std::clamp(v + static_cast<int>(random() % 21) - 10, 0, 255));
    };
    const uint8_t rgb[3] = {near(r), near(g), near(b)};
    return colourFeature(rgb);
  };
  std::vector<Colour> warm, cold;
  for (int i = 0; i < 400; ++i) {
    warm.push_back(i % 2 ? around(200, 40, 30) : around(220, 190, 40));
    cold.push_back(around(40, 60, 190));
  }
  ColourModel a, b, again;
  a.fit(warm);
  b.fit(cold);
  again.fit(warm);
  for (size_t i = 0; i < warm.size(); ++i) {
    EXPECT_GT(a.logLikelihood(warm[i]), b.logLikelihood(warm[i]));
    EXPECT_GT(b.logLikelihood(cold[i]), a.logLikelihood(cold[i]));
    EXPECT_EQ(a.logLikelihood(warm[i]), again.logLikelihood(warm[i]));
  }
  // A shaded side of the same paint stays nearer to it than to another paint.
  const uint8_t shaded[3] = {110, 22, 17};
  EXPECT_GT(a.logLikelihood(colourFeature(shaded)), b.logLikelihood(colourFeature(shaded)));
  ColourModel few;
  few.fit({warm.begin(), warm.begin() + 5});
  EXPECT_TRUE(few.empty());
}

TEST(ColourModel, SurvivesOneSingleColour) {
  ColourModel model;
  const uint8_t grey[3] = {90, 90, 90};
  model.fit(std::vector<Colour>(50, colourFeature(grey)));
  EXPECT_FALSE(model.empty());
  EXPECT_TRUE(std::isfinite(model.logLikelihood(colourFeature(grey))));
}

TEST(DistanceTo, CountsStepsToTheNearestPixel) {
  Mask mask(7, 5);
  mask(1, 2) = 1;
  const Raster<float> d = distanceTo(mask);
  EXPECT_EQ(d(1, 2), 0.0f);
  EXPECT_EQ(d(4, 2), 3.0f);
  EXPECT_EQ(d(3, 4), 3.0f);
  EXPECT_EQ(d(6, 1), 5.5f);
  EXPECT_GT(distanceTo(Mask(3, 3))(1, 1), 1e5f);
}

TEST(CutByColour, FindsAPatchThatGeometryDoesNotSee) {
  constexpr int kSize = 80;
  std::mt19937 random(9);
  std::vector<uint8_t> rgb(kSize * kSize * 3);
  Mask truth(kSize, kSize);
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      truth(x, y) = x >= 25 && x < 52 && y >= 30 && y < 55;
      const int grain = static_cast<int>(random() % 30);
      const int table[3] = {130, 105, 80}, mat[3] = {30, 120, 60};
      for (int k = 0; k < 3; ++k)
        rgb[static_cast<size_t>((y * kSize + x) * 3 + k)] =
            static_cast<uint8_t>((truth(x, y) ? mat : table)[k] + grain);
    }
  }
  View view;
  view.width = view.height = kSize;
  view.rgb = rgb.data();
  ColourTask task;
  task.region = {0, 0, kSize, kSize};
  task.box = {22, 27, 55, 58};
  task.evidence = Raster<Evidence>(kSize, kSize, Evidence::kTable);
  task.fixed = Raster<int8_t>(kSize, kSize, -1);
  for (int y = task.box.y0; y < task.box.y1; ++y) {
    for (int x = task.box.x0; x < task.box.x1; ++x)
      task.fixed(x, y) = 0;
  }
  const auto found = cutByColour(view, task);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mask.data, truth.data);
  EXPECT_GT(found->separability, 0.97);
}

}  // namespace
}  // namespace s2r::scene
