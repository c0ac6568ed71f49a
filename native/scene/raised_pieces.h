#pragma once

#include "native/scene/support_plane.h"
#include "native/scene/types.h"

namespace s2r::scene {

struct PieceOptions {
  double min_height_m = 0.008;
  double edge_scale_m = 0.009;     ///< Half distance over which two faces are compared.
  double concave_threshold = 0.5;  ///< See `concaveEdges`.
};

/// One connected part of what stands on the support, cut at depth jumps and concave edges.
struct Piece {
  long area = 0;
  PixelBox bounds;  ///< In patch pixels.
};

struct Pieces {
  Raster<int> label;  ///< Index into `pieces`, -1 = none.
  std::vector<Piece> pieces;
  Mask raised;  ///< Non-zero where the height above the support passes the threshold.
};

/// Pixels where the surface folds inwards. Two points d apart on either side see each other above
/// their own tangent planes: (n_a - n_b) . (p_b - p_a) / |p_b - p_a| is 2 sin(fold / 2) for a
/// symmetric fold.
[[nodiscard]] Mask concaveEdges(const View& view,
                                const Patch& patch,
                                const Raster<Vec3f>& normals,
                                int radius_px,
                                double noise_m,
                                double threshold);

/// Splits what rises above the support into pieces. Without a support everything with depth is
/// raised.
[[nodiscard]] Pieces splitRaised(const View& view,
                                 const Patch& patch,
                                 const std::optional<Support>& support,
                                 const PieceOptions& options);

}  // namespace s2r::scene
