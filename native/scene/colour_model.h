#pragma once

#include <array>
#include <vector>

#include "native/scene/types.h"

namespace s2r::scene {

/// Two chroma axes and a damped brightness, so that the lit and the shaded side of one object stay
/// close.
using Colour = Eigen::Vector3f;

[[nodiscard]] Colour colourFeature(const uint8_t* rgb);

/// Mixture of at most `kComponents` Gaussians with full covariances and a uniform floor for colours
/// never seen. Fitted by splitting along the axis of most spread and a few rounds of
/// expectation-maximisation; no random start, so the same colours give the same model.
class ColourModel {
 public:
  static constexpr int kComponents = 4;

  /// Needs at least 8 colours, else the model stays empty.
  void fit(const std::vector<Colour>& colours);

  [[nodiscard]] bool empty() const { return components_.empty(); }

  [[nodiscard]] float logLikelihood(const Colour& colour) const;

 private:
  struct Component {
    Colour mean = Colour::Zero();
    Eigen::Matrix3f precision = Eigen::Matrix3f::Identity();
    float log_scale = 0.0f;  ///< log of weight and normalisation.
  };
  std::vector<Component> components_;
};

}  // namespace s2r::scene
