// Synthetic rectified pairs with exact disparities, for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace s2r::stereo {

struct TestPair {
  int width;
  int height;
  std::vector<uint8_t> left;
  std::vector<uint8_t> right;
  std::vector<float> disparity;  // of the left image

  float truth(int x, int y) const { return disparity[static_cast<size_t>(y * width + x)]; }
};

// Smooth random texture that is defined everywhere: a sum of cosines with periods of 3 to 24
// pixels.
class Texture {
 public:
  explicit Texture(uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (auto& wave : waves_) {
      const double period = 3 * std::pow(8.0, uniform(random));
      const double angle = 2 * M_PI * uniform(random);
      wave = {2 * M_PI / period * std::cos(angle), 2 * M_PI / period * std::sin(angle),
              2 * M_PI * uniform(random)};
    }
  }

  double at(double u, double v) const {
    double sum = 0;
    for (const auto& wave : waves_)
      sum += std::cos(wave.u * u + wave.v * v + wave.phase);
    return 128 + 110 * sum / std::sqrt(kWaves) * 0.45;
  }

 private:
  struct Wave {
    double u;
    double v;
    double phase;
  };
  static constexpr int kWaves = 40;
  Wave waves_[kWaves];
};

inline uint8_t sampleOf(double value) {
  return static_cast<uint8_t>(std::lround(std::min(255.0, std::max(0.0, value))));
}

// A surface whose disparity is a function of the left image's column and row, at most 0.5 px
// steeper per column. The texture is glued to the left image; the right one is found by inverting x
// - d(x, y).
inline TestPair smoothPair(int width,
                           int height,
                           const std::function<double(double, double)>& disparity,
                           double noise = 0,
                           uint32_t seed = 1) {
  TestPair pair{width, height, {}, {}, {}};
  const Texture texture(seed);
  std::mt19937 random(seed + 1);
  std::normal_distribution<double> normal(0, 1);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      pair.disparity.push_back(static_cast<float>(disparity(x, y)));
      pair.left.push_back(sampleOf(texture.at(x, y) + noise * normal(random)));
      double source = x;
      for (int i = 0; i < 60; ++i)
        source = x + disparity(source, y);
      pair.right.push_back(sampleOf(texture.at(source, y) + noise * normal(random)));
    }
  }
  return pair;
}

// A flat square in front of a flat wall, whole disparities, each with its own texture.
inline TestPair squarePair(int width, int height, int wall, int square, int x0, int y0, int side) {
  TestPair pair{width, height, {}, {}, {}};
  const Texture behind(11);
  const Texture front(12);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto inside = [&](int column) {
        return column >= x0 && column < x0 + side && y >= y0 && y < y0 + side;
      };
      pair.disparity.push_back(static_cast<float>(inside(x) ? square : wall));
      pair.left.push_back(sampleOf(inside(x) ? front.at(x, y) : behind.at(x, y)));
      pair.right.push_back(
          sampleOf(inside(x + square) ? front.at(x + square, y) : behind.at(x + wall, y)));
    }
  }
  return pair;
}

}  // namespace s2r::stereo
