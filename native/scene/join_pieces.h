#pragma once

#include "native/scene/raised_pieces.h"

namespace s2r::scene {

struct JoinOptions {
  double min_inside = 0.85;  ///< Share of a piece's pixels that must lie in the box.
  double min_straddling =
      0.4;  ///< Share of the box that a piece must fill to be maybe two objects in one.
};

struct Joined {
  Mask mask;        ///< Patch-sized.
  Mask straddling;  ///< Pixels in the box of pieces that lie partly outside: maybe two objects that
                    ///< no edge parts.
  double box_fit = 0.0;  ///< Intersection over union of the mask's bounds and the box.
};

/// The union of pieces whose bounds fill `box` (patch pixels) best: from the piece that alone fits
/// best, every further piece that improves the fit joins; then the pieces within the bounds that do
/// not stand in front of the union (a cup's inside joins, a thing that stands on a box does not).
[[nodiscard]] Joined joinPieces(const View& view,
                                const Patch& patch,
                                const Pieces& pieces,
                                const PixelBox& box,
                                const JoinOptions& options);

}  // namespace s2r::scene
