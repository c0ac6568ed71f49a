#include "native/scene/colour_model.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace s2r::scene {

namespace {

constexpr size_t kMaxColours = 3000;
constexpr int kRounds = 6;
constexpr float kFloorShare = 0.03f;
/// Volume that the features can take, for the uniform floor.
constexpr float kFeatureVolume = 1.0f;

Eigen::Matrix3f leastSpread() {
  return Colour(0.02f * 0.02f, 0.02f * 0.02f, 0.03f * 0.03f).asDiagonal();
}

struct Moments {
  float weight = 0.0f;
  Colour mean = Colour::Zero();
  Eigen::Matrix3f cov = Eigen::Matrix3f::Zero();
};

Moments momentsOf(const std::vector<Colour>& colours, const std::vector<float>& weights) {
  Moments m;
  for (size_t i = 0; i < colours.size(); ++i) {
    m.weight += weights[i];
    m.mean += weights[i] * colours[i];
  }
  if (m.weight <= 0.0f)
    return m;
  m.mean /= m.weight;
  for (size_t i = 0; i < colours.size(); ++i) {
    const Colour d = colours[i] - m.mean;
    m.cov += weights[i] * d * d.transpose();
  }
  m.cov = m.cov / m.weight + leastSpread();
  return m;
}

}  // namespace

Colour colourFeature(const uint8_t* rgb) {
  const float r = rgb[0], g = rgb[1], b = rgb[2];
  const float sum =
      r + g + b + 24.0f;  // the constant keeps noise in the dark from looking like colour
  return {(r - g) / sum, 0.5f * (r + g - 2.0f * b) / sum, 0.4f * std::sqrt((r + g + b) / 765.0f)};
}

void ColourModel::fit(const std::vector<Colour>& all) {
  components_.clear();
  if (all.size() < 8)
    return;
  std::vector<Colour> colours;
  const size_t stride = (all.size() + kMaxColours - 1) / kMaxColours;
  for (size_t i = 0; i < all.size(); i += stride)
    colours.push_back(all[i]);

  // Split the cluster of most spread in two until there are enough.
  std::vector<std::vector<float>> share(1, std::vector<float>(colours.size(), 1.0f));
  while (static_cast<int>(share.size()) < kComponents) {
    size_t widest = 0;
    float most = 0.0f;
    Eigen::Vector3f axis = Eigen::Vector3f::UnitX();
    Colour centre = Colour::Zero();
    for (size_t k = 0; k < share.size(); ++k) {
      const Moments m = momentsOf(colours, share[k]);
      const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3f> eigen(m.cov);
      const float spread = m.weight * (eigen.eigenvalues()(2) - 0.0009f);
      if (spread > most) {
        most = spread;
        widest = k;
        axis = eigen.eigenvectors().col(2);
        centre = m.mean;
      }
    }
    if (most < 0.0004f * static_cast<float>(colours.size()))
      break;
    share.emplace_back(colours.size(), 0.0f);
    for (size_t i = 0; i < colours.size(); ++i) {
      if (share[widest][i] > 0.0f && axis.dot(colours[i] - centre) > 0.0f) {
        share[widest][i] = 0.0f;
        share.back()[i] = 1.0f;
      }
    }
  }

  for (int round = 0; round < kRounds; ++round) {
    components_.clear();
    for (const auto& weights : share) {
      const Moments m = momentsOf(colours, weights);
      if (m.weight < 4.0f)
        continue;
      Component c;
      c.mean = m.mean;
      c.precision = m.cov.inverse();
      const float proportion = m.weight / static_cast<float>(colours.size());
      c.log_scale =
          std::log(proportion) - 0.5f * std::log(m.cov.determinant()) - 2.7568f;  // 1.5 log 2 pi
      components_.push_back(c);
    }
    if (components_.size() < 2)
      return;
    share.assign(components_.size(), std::vector<float>(colours.size(), 0.0f));
    for (size_t i = 0; i < colours.size(); ++i) {
      float total = 1e-12f;
      for (size_t k = 0; k < components_.size(); ++k) {
        const Colour d = colours[i] - components_[k].mean;
        share[k][i] =
            std::exp(components_[k].log_scale - 0.5f * d.dot(components_[k].precision * d));
        total += share[k][i];
      }
      for (auto& weights : share)
        weights[i] /= total;
    }
  }
}

float ColourModel::logLikelihood(const Colour& colour) const {
  float density = 0.0f;
  for (const Component& c : components_) {
    const Colour d = colour - c.mean;
    density += std::exp(c.log_scale - 0.5f * d.dot(c.precision * d));
  }
  return std::log((1.0f - kFloorShare) * density + kFloorShare / kFeatureVolume);
}

}  // namespace s2r::scene
