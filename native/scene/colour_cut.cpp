#include "native/scene/colour_cut.h"

#include <algorithm>
#include <cmath>

#include "native/scene/binary_cut.h"
#include "native/scene/colour_model.h"
#include "native/scene/patch.h"

namespace s2r::scene {

namespace {

constexpr float kMaxVote = 4.0f;  // one pixel's colour can be worth at most this
constexpr float kSmoothness = 2.0f;
constexpr float kLeastWeight = 0.15f;
constexpr int kRounds = 3;
constexpr int kIterations = 120;

struct Setting {
  Raster<Colour> colour;
  Raster<float> weight_x, weight_y;
  Raster<float> prior;  // cost by geometry alone, negative = object
  Raster<int8_t> fixed;
};

void weighBoundaries(Setting& s) {
  double sum = 0.0;
  long count = 0;
  auto step = [&](int x, int y, int dx, int dy) {
    return (s.colour(x + dx, y + dy) - s.colour(x, y)).squaredNorm();
  };
  for (int y = 0; y + 1 < s.colour.height; ++y) {
    for (int x = 0; x + 1 < s.colour.width; ++x) {
      sum += step(x, y, 1, 0) + step(x, y, 0, 1);
      count += 2;
    }
  }
  const float scale =
      count > 0 && sum > 0.0 ? static_cast<float>(0.5 * static_cast<double>(count) / sum) : 0.0f;
  s.weight_x = Raster<float>(s.colour.width, s.colour.height, 0.0f);
  s.weight_y = s.weight_x;
  auto weight = [&](float d2) {
    return kSmoothness * (kLeastWeight + (1.0f - kLeastWeight) * std::exp(-scale * d2));
  };
  for (int y = 0; y < s.colour.height; ++y) {
    for (int x = 0; x < s.colour.width; ++x) {
      if (x + 1 < s.colour.width)
        s.weight_x(x, y) = weight(step(x, y, 1, 0));
      if (y + 1 < s.colour.height)
        s.weight_y(x, y) = weight(step(x, y, 0, 1));
    }
  }
}

Mask select(const Raster<Evidence>& evidence, Evidence kind) {
  Mask out(evidence.width, evidence.height);
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = evidence.data[i] == kind;
  return out;
}

/// Geometry is trusted more the farther a pixel lies from the piece's border, where stereo fattens
/// edges.
void weighGeometry(Setting& s, const Raster<Evidence>& evidence) {
  const Mask object = select(evidence, Evidence::kObject);
  const Raster<float> to_object = distanceTo(object);
  const Raster<float> to_rest = distanceTo(invert(object));
  s.prior = Raster<float>(evidence.width, evidence.height, 0.0f);
  for (size_t i = 0; i < s.prior.data.size(); ++i) {
    switch (evidence.data[i]) {
      case Evidence::kObject:
        s.prior.data[i] = -std::min(3.0f, 0.35f * to_rest.data[i]);
        break;
      case Evidence::kTable:
        s.prior.data[i] = std::min(1.0f, 0.1f * to_object.data[i]);
        break;
      case Evidence::kOther:
        s.prior.data[i] = std::min(3.0f, 0.3f * to_object.data[i]);
        break;
      case Evidence::kStraddling:
        s.prior.data[i] = 2.0f;
        break;
      case Evidence::kUnknown:
        s.prior.data[i] = 0.1f;
        break;
    }
  }
}

std::vector<Colour> coloursOf(const Setting& s, const Mask& mask) {
  std::vector<Colour> out;
  for (size_t i = 0; i < mask.data.size(); ++i) {
    if (mask.data[i])
      out.push_back(s.colour.data[i]);
  }
  return out;
}

Mask unexplained(const Setting& s,
                 const Mask& candidates,
                 const ColourModel& background,
                 const std::vector<Colour>& taught) {
  std::vector<float> own;
  for (const Colour& c : taught)
    own.push_back(background.logLikelihood(c));
  auto at = own.begin() + static_cast<long>(own.size() / 20);
  std::nth_element(own.begin(), at, own.end());
  Mask out(candidates.width, candidates.height);
  for (size_t i = 0; i < out.data.size(); ++i) {
    out.data[i] = candidates.data[i] && background.logLikelihood(s.colour.data[i]) < *at;
  }
  return out;
}

}  // namespace

std::optional<ColourCut> cutByColour(const View& view, const ColourTask& task) {
  const int width = task.evidence.width;
  const int height = task.evidence.height;
  const PixelBox& box = task.box;
  Setting s;
  s.colour = Raster<Colour>(width, height, Colour::Zero());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      s.colour(x, y) =
          colourFeature(view.rgb + 3 * view.index(x + task.region.x0, y + task.region.y0));
    }
  }
  weighBoundaries(s);
  weighGeometry(s, task.evidence);
  Mask around(width, height), within(width, height);
  const int ring = std::max(12, std::max(box.width(), box.height()) / 3);
  const PixelBox near{box.x0 - ring, box.y0 - ring, box.x1 + ring, box.y1 + ring};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const Evidence e = task.evidence(x, y);
      around(x, y) = !box.contains(x, y) && near.contains(x, y) && e == Evidence::kTable;
      within(x, y) = box.contains(x, y) && e != Evidence::kOther;
    }
  }
  const std::vector<Colour> background_colours = coloursOf(s, around);
  ColourModel background;
  background.fit(background_colours);
  if (background.empty())
    return std::nullopt;

  Mask teacher =
      task.teacher ? *task.teacher : unexplained(s, within, background, background_colours);
  // Nothing outside the box is open; one pixel of it keeps the boundary's price.
  const PixelBox open =
      intersect({box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1}, {0, 0, width, height});
  ColourCut out;
  ColourModel object;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Colour> object_colours = coloursOf(s, teacher);
    object.fit(object_colours);
    if (object.empty())
      return std::nullopt;
    auto vote = [&](const Colour& c) {
      return object.logLikelihood(c) - background.logLikelihood(c);
    };
    Raster<float> cost = s.prior;
    for (size_t i = 0; i < cost.data.size(); ++i) {
      if (task.fixed.data[i] == 0)
        cost.data[i] -= std::clamp(vote(s.colour.data[i]), -kMaxVote, kMaxVote);
    }
    const Mask cut = cutBinary(crop(cost, open), crop(s.weight_x, open), crop(s.weight_y, open),
                               crop(task.fixed, open), kIterations);
    out.mask = Mask(width, height);
    for (int y = 0; y < cut.height; ++y) {
      for (int x = 0; x < cut.width; ++x)
        out.mask(x + open.x0, y + open.y0) = cut(x, y);
    }
    auto share = [&](const std::vector<Colour>& colours, bool positive) {
      const auto right = std::count_if(colours.begin(), colours.end(), [&](const Colour& c) {
        return (vote(c) > 0.0f) == positive;
      });
      return static_cast<double>(right) / static_cast<double>(colours.size());
    };
    out.separability = 0.5 * (share(object_colours, true) + share(background_colours, false));
    teacher = out.mask;
  }
  return out;
}

}  // namespace s2r::scene
