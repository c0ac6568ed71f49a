#include "native/scene/segment_box.h"

#include <algorithm>
#include <cmath>

#include "native/scene/colour_cut.h"
#include "native/scene/convex_hull.h"
#include "native/scene/join_pieces.h"
#include "native/scene/patch.h"
#include "native/scene/raised_pieces.h"

namespace s2r::scene {

namespace {

// Colours of object and table must be told apart this well before colour may move a border, or
// decide alone.
constexpr double kSeparableForBorder = 0.97;
constexpr double kSeparableForMask = 0.97;
// A less constrained mask must fill the box better by this much to be preferred.
constexpr double kFreerGain = 0.08;
// A redrawn border may cost this much fit: a fattened piece can fill the box better than the thing
// itself.
constexpr double kBorderLoss = 0.1;
constexpr double kColourOnlyGain = 0.1;
// Below this fit a mask is likely another thing than what the box surrounds.
constexpr double kHopelessFit = 0.4;
// A prompt may be padded by up to this share of its shorter side, equally on all sides.
constexpr double kMostPadding = 0.15;
// Edge fattening of block and semi-global stereo, pixels at 640 px image width.
constexpr double kFattening = 4.0;

struct Candidate {
  Mask mask;
  Rule rule = Rule::kNone;
  double fit = 0.0;  // of the box, less for a mask that is mostly gaps
  double separability = 1.0;
};

struct Work {
  const View& view;
  Patch patch;
  PixelBox box;  // in patch pixels
  double fattening_px = kFattening;
  double tolerance_px = 4.0;
  Pieces pieces;
  Raster<Evidence> evidence;
};

void excludePixels(Work& work, const uint8_t* exclude) {
  if (!exclude)
    return;
  for (int y = 0; y < work.patch.depth_m.height; ++y) {
    for (int x = 0; x < work.patch.depth_m.width; ++x) {
      if (exclude[work.view.index(x + work.patch.region.x0, y + work.patch.region.y0)])
        work.patch.depth_m(x, y) = 0.0f;
    }
  }
}

bool isExcluded(const Work& work, const uint8_t* exclude, int x, int y) {
  return exclude && exclude[work.view.index(x + work.patch.region.x0, y + work.patch.region.y0)];
}

Raster<Evidence> gatherEvidence(const Work& work, const Joined& joined, const uint8_t* exclude) {
  const Mask& object = joined.mask;
  Raster<Evidence> evidence(object.width, object.height, Evidence::kUnknown);
  for (int y = 0; y < object.height; ++y) {
    for (int x = 0; x < object.width; ++x) {
      Evidence& e = evidence(x, y);
      if (isExcluded(work, exclude, x, y)) {
        e = Evidence::kOther;
      } else if (object(x, y)) {
        e = Evidence::kObject;
      } else if (joined.straddling(x, y)) {
        e = Evidence::kStraddling;
      } else if (work.pieces.raised(x, y)) {
        e = Evidence::kOther;
      } else if (work.patch.depth_m(x, y) > 0.0f) {
        e = Evidence::kTable;
      }
    }
  }
  return evidence;
}

Mask dilate(const Mask& mask, double radius_px) {
  const Raster<float> d = distanceTo(mask);
  Mask out(mask.width, mask.height);
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = d.data[i] <= radius_px;
  return out;
}

/// The part that edge fattening does not reach, but at least the innermost third.
Mask coreOf(const Mask& object, double reach_px) {
  const Raster<float> depth = distanceTo(invert(object));
  std::vector<float> inner;
  for (size_t i = 0; i < depth.data.size(); ++i) {
    if (object.data[i])
      inner.push_back(depth.data[i]);
  }
  Mask out(object.width, object.height);
  if (inner.empty())
    return out;
  auto at = inner.begin() + static_cast<long>(inner.size() * 2 / 3);
  std::nth_element(inner.begin(), at, inner.end());
  const float limit = std::min(static_cast<float>(reach_px) + 1.0f, *at);
  for (size_t i = 0; i < out.data.size(); ++i)
    out.data[i] = object.data[i] && depth.data[i] >= limit;
  return out;
}

Raster<int8_t> openInBox(const Work& work, const uint8_t* exclude) {
  Raster<int8_t> fixed(work.evidence.width, work.evidence.height, -1);
  for (int y = 0; y < fixed.height; ++y) {
    for (int x = 0; x < fixed.width; ++x) {
      if (work.box.contains(x, y) && !isExcluded(work, exclude, x, y))
        fixed(x, y) = 0;
    }
  }
  return fixed;
}

/// Box fit of a mask. Scattered specks can span a box, so a mask counts less that leaves most of
/// its hull empty, apart from what other things hide.
double fitOf(const Mask& mask, const Work& work) {
  constexpr double kSolid = 0.5;
  const Mask hull = fillHull(mask);
  long own = 0, empty = 0;
  for (size_t i = 0; i < mask.data.size(); ++i) {
    const Evidence e = work.evidence.data[i];
    own += mask.data[i];
    empty += hull.data[i] && !mask.data[i] && (e == Evidence::kTable || e == Evidence::kUnknown);
  }
  if (own == 0)
    return 0.0;
  const double solidity = static_cast<double>(own) / static_cast<double>(own + empty);
  return boxFit(boundsOf(mask), work.box, work.tolerance_px) * std::min(1.0, solidity / kSolid);
}

std::optional<Candidate> byColour(const Work& work, ColourTask task, Rule rule) {
  task.region = work.patch.region;
  task.box = work.box;
  auto cut = cutByColour(work.view, task);
  if (!cut)
    return std::nullopt;
  Candidate out;
  out.fit = fitOf(cut->mask, work);
  out.mask = std::move(cut->mask);
  out.rule = rule;
  out.separability = cut->separability;
  return out;
}

/// Colour decides only near the pieces' border, in the hollow between them and where depth is
/// missing.
std::optional<Candidate> redrawBorder(const Work& work,
                                      const Mask& object,
                                      const Raster<int8_t>& open) {
  ColourTask task;
  task.evidence = work.evidence;
  task.teacher = coreOf(object, work.fattening_px);
  task.fixed = open;
  const Mask near = dilate(object, work.fattening_px);
  const Mask hull = fillHull(object);
  for (size_t i = 0; i < task.fixed.data.size(); ++i) {
    if (task.fixed.data[i] < 0)
      continue;
    if (task.teacher->data[i]) {
      task.fixed.data[i] = 1;
    } else if (!near.data[i] && task.evidence.data[i] != Evidence::kUnknown &&
               !(hull.data[i] && task.evidence.data[i] == Evidence::kTable)) {
      task.fixed.data[i] = -1;
    }
  }
  return byColour(work, std::move(task), Rule::kGeometryAndColour);
}

}  // namespace

const char* nameOf(Rule rule) {
  switch (rule) {
    case Rule::kGeometry:
      return "geometry";
    case Rule::kGeometryAndColour:
      return "geometry+colour";
    case Rule::kColour:
      return "colour";
    case Rule::kNone:
      break;
  }
  return "none";
}

double boxFit(const PixelBox& bounds, const PixelBox& box, double tolerance_px) {
  if (bounds.area() == 0)
    return 0.0;
  auto snap = [&](int value, int to) { return std::abs(value - to) <= tolerance_px ? to : value; };
  const int most = static_cast<int>(kMostPadding * std::min(box.width(), box.height()));
  double best = 0.0;
  for (int pad = 0; pad <= most; ++pad) {
    const PixelBox inner{box.x0 + pad, box.y0 + pad, box.x1 - pad, box.y1 - pad};
    const PixelBox snapped{snap(bounds.x0, inner.x0), snap(bounds.y0, inner.y0),
                           snap(bounds.x1, inner.x1), snap(bounds.y1, inner.y1)};
    best = std::max(best, intersectionOverUnion(snapped, inner));
  }
  return best;
}

Segmentation segmentBox(const View& view, const PixelBox& box, const SegmentOptions& options) {
  Segmentation out;
  out.mask = Mask(view.width, view.height);
  SupportOptions support_options;
  support_options.gravity_known = options.gravity_known;
  support_options.exclude = options.exclude;
  out.support = findSupport(view, box, support_options);

  const int margin = std::max(box.width(), box.height()) / 2 + 20;
  Work work{view, cutPatch(view, growBox(box, margin, margin, view)), {}, {}, {}, {}, {}};
  work.fattening_px = kFattening * std::max(1.0, view.width / 640.0);
  work.tolerance_px =
      3.0 * std::max(1.0, view.width / 640.0) + 0.02 * std::min(box.width(), box.height());
  const PixelBox& region = work.patch.region;
  work.box = {box.x0 - region.x0, box.y0 - region.y0, box.x1 - region.x0, box.y1 - region.y0};
  excludePixels(work, options.exclude);
  PieceOptions piece_options;
  piece_options.min_height_m = options.min_height_m;
  work.pieces = splitRaised(view, work.patch, out.support, piece_options);
  const Joined joined = joinPieces(view, work.patch, work.pieces, work.box, {});
  work.evidence = gatherEvidence(work, joined, options.exclude);

  Candidate best;
  best.mask = joined.mask;
  best.fit = fitOf(joined.mask, work);
  if (areaOf(joined.mask) > 0)
    best.rule = Rule::kGeometry;
  if (options.use_colour && view.rgb) {
    const Raster<int8_t> open = openInBox(work, options.exclude);
    auto prefer = [&](std::optional<Candidate> other, double separable, double gain) {
      if (other && other->separability >= separable && other->fit > best.fit + gain)
        best = std::move(*other);
    };
    if (best.rule != Rule::kNone) {
      prefer(redrawBorder(work, joined.mask, open), kSeparableForBorder, -kBorderLoss);
      if (best.fit + kFreerGain < 1.0) {
        ColourTask task;
        task.evidence = work.evidence;
        task.teacher = coreOf(joined.mask, work.fattening_px);
        task.fixed = open;
        prefer(byColour(work, std::move(task), Rule::kGeometryAndColour), kSeparableForMask,
               kFreerGain);
      }
    }
    if (best.fit + kColourOnlyGain < 1.0) {
      ColourTask task;
      task.evidence = work.evidence;
      std::replace(task.evidence.data.begin(), task.evidence.data.end(), Evidence::kObject,
                   Evidence::kTable);
      task.fixed = open;
      prefer(byColour(work, std::move(task), Rule::kColour), kSeparableForMask, kColourOnlyGain);
    }
  }
  if (best.fit < kHopelessFit) {
    // Nothing parts the object from what it touches: all that is left is to cut at the box.
    Candidate clipped = best;
    for (size_t i = 0; i < clipped.mask.data.size(); ++i)
      clipped.mask.data[i] = joined.mask.data[i] || joined.straddling.data[i];
    clipped.fit = 0.5 * fitOf(clipped.mask, work);
    clipped.rule = Rule::kGeometry;
    clipped.separability = 1.0;
    if (clipped.fit > best.fit)
      best = std::move(clipped);
  }

  for (int y = 0; y < best.mask.height; ++y) {
    for (int x = 0; x < best.mask.width; ++x) {
      if (best.mask(x, y))
        out.mask(x + region.x0, y + region.y0) = 1;
    }
  }
  out.area_px = areaOf(out.mask);
  out.bounds = boundsOf(out.mask);
  if (out.area_px > 0) {
    out.rule = best.rule;
    out.score = best.fit * std::clamp(2.0 * best.separability - 1.0, 0.0, 1.0);
  }
  return out;
}

}  // namespace s2r::scene
