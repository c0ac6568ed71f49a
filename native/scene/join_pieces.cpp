#include "native/scene/join_pieces.h"

#include <algorithm>
#include <numeric>

#include "native/scene/patch.h"

namespace s2r::scene {

namespace {

PixelBox unite(const PixelBox& a, const PixelBox& b) {
  if (a.area() == 0)
    return b;
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

}  // namespace

Joined joinPieces(const View& view,
                  const Patch& patch,
                  const Pieces& pieces,
                  const PixelBox& box,
                  const JoinOptions& options) {
  (void)view;
  const size_t count = pieces.pieces.size();
  std::vector<long> inside(count, 0);
  std::vector<PixelBox> clipped(count, {pieces.label.width, pieces.label.height, 0, 0});
  for (int y = std::max(0, box.y0); y < std::min(box.y1, pieces.label.height); ++y) {
    for (int x = std::max(0, box.x0); x < std::min(box.x1, pieces.label.width); ++x) {
      const int label = pieces.label(x, y);
      if (label < 0)
        continue;
      ++inside[static_cast<size_t>(label)];
      clipped[static_cast<size_t>(label)] =
          unite(clipped[static_cast<size_t>(label)].x1 ? clipped[static_cast<size_t>(label)]
                                                       : PixelBox{x, y, x + 1, y + 1},
                {x, y, x + 1, y + 1});
    }
  }
  std::vector<size_t> open;
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<double>(inside[i]) >=
        options.min_inside * static_cast<double>(pieces.pieces[i].area))
      open.push_back(i);
  }
  Joined out;
  out.mask = Mask(patch.depth_m.width, patch.depth_m.height);
  if (open.empty())
    return out;
  std::vector<bool> taken(count, false);
  PixelBox bounds;
  double fit = 0.0;
  while (true) {
    size_t best = count;
    double best_fit = fit + 1e-9;
    for (size_t i : open) {
      if (taken[i])
        continue;
      const double f = intersectionOverUnion(unite(bounds, clipped[i]), box);
      if (f > best_fit) {
        best_fit = f;
        best = i;
      }
    }
    if (best == count)
      break;
    taken[best] = true;
    bounds = unite(bounds, clipped[best]);
    fit = best_fit;
  }
  for (size_t i : open) {
    if (intersect(clipped[i], bounds).area() == clipped[i].area())
      taken[i] = true;
  }
  for (int y = 0; y < out.mask.height; ++y) {
    for (int x = 0; x < out.mask.width; ++x) {
      const int label = pieces.label(x, y);
      out.mask(x, y) = label >= 0 && taken[static_cast<size_t>(label)] && box.contains(x, y);
    }
  }
  out.box_fit = fit;
  return out;
}

}  // namespace s2r::scene
