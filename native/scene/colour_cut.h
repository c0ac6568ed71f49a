#pragma once

#include "native/scene/types.h"

namespace s2r::scene {

/// What geometry says of each pixel of a patch, before colour speaks.
enum class Evidence : uint8_t {
  kUnknown,     ///< No depth.
  kTable,       ///< On the support, as far as depth can tell.
  kObject,      ///< In a piece that belongs to the box's object.
  kStraddling,  ///< Raised, in a piece that lies partly in the box: geometry cannot tell.
  kOther,       ///< Raised, in a piece that does not belong.
};

/// One question to `cutByColour`. All rasters cover `region` of the view; `box` is in their pixels.
struct ColourTask {
  PixelBox region;
  PixelBox box;
  Raster<Evidence> evidence;
  /// Pixels that teach the object's colour; empty = what in the box the background's colours do not
  /// explain.
  std::optional<Mask> teacher;
  Raster<int8_t> fixed;  ///< +1 in the mask, -1 not, 0 open; nothing outside the box is open.
};

struct ColourCut {
  Mask mask;
  /// Share of training pixels that the two models tell apart, mean of both classes: 0.5 is
  /// guessing.
  double separability = 0.5;
};

/// Draws the mask by colour, with geometry as a prior that grows with the distance from the pieces'
/// borders. The background is taught by kTable pixels around the box. Empty where either class has
/// too few pixels.
[[nodiscard]] std::optional<ColourCut> cutByColour(const View& view, const ColourTask& task);

}  // namespace s2r::scene
