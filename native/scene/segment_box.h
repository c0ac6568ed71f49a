#pragma once

#include <string>

#include "native/scene/support_plane.h"
#include "native/scene/types.h"

namespace s2r::scene {

struct SegmentOptions {
  bool gravity_known = true;
  double min_height_m = 0.008;
  bool use_colour = true;            ///< Ignored where the view has no colour.
  const uint8_t* exclude = nullptr;  ///< View-sized, non-zero = not the object. May be null.
};

enum class Rule { kNone, kGeometry, kGeometryAndColour, kColour };

/// The rule's public name.
[[nodiscard]] const char* nameOf(Rule rule);

struct Segmentation {
  Mask mask;  ///< View-sized.
  long area_px = 0;
  PixelBox bounds;
  Rule rule = Rule::kNone;
  double score = 0.0;  ///< 0..1: box fit times how well colours separate where colour decided.
  std::optional<Support> support;
};

/// Mask of the object that `box` (within the view, at least 2 x 2 pixels) surrounds.
///
/// What rises above the support is cut into pieces and joined to fill the box. Colour then redraws
/// the border within the reach of stereo's edge fattening. A freer colour cut, and one that ignores
/// the pieces (things without height), replace that only where they fill the box clearly better.
[[nodiscard]] Segmentation segmentBox(const View& view,
                                      const PixelBox& box,
                                      const SegmentOptions& options);

/// How well `bounds` fills `box`: intersection over union, with sides within `tolerance_px` taken
/// as equal and the box shrunk by whatever common margin suits best, since prompts are padded.
[[nodiscard]] double boxFit(const PixelBox& bounds, const PixelBox& box, double tolerance_px);

}  // namespace s2r::scene
