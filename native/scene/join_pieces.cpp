#include "native/scene/join_pieces.h"

#include <algorithm>

#include "native/scene/patch.h"

namespace s2r::scene {

namespace {

// A piece whose border meets the union across a depth step, itself on the near side, for this share
// or more of the border stands on or before it.
constexpr double kInFrontShare = 0.25;
constexpr int kBorderReach_px = 3;

PixelBox unite(const PixelBox& a, const PixelBox& b) {
  if (a.area() == 0)
    return b;
  if (b.area() == 0)
    return a;
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

struct Inside {
  long area = 0;
  PixelBox bounds;  // of the part within the box
};

std::vector<Inside> measureInside(const Pieces& pieces, const PixelBox& box) {
  std::vector<Inside> inside(pieces.pieces.size());
  const PixelBox visible = intersect(box, {0, 0, pieces.label.width, pieces.label.height});
  for (int y = visible.y0; y < visible.y1; ++y) {
    for (int x = visible.x0; x < visible.x1; ++x) {
      const int label = pieces.label(x, y);
      if (label < 0)
        continue;
      Inside& part = inside[static_cast<size_t>(label)];
      ++part.area;
      part.bounds = unite(part.bounds, {x, y, x + 1, y + 1});
    }
  }
  return inside;
}

/// Whether piece `label` stands before the pieces already taken.
bool inFront(const View& view,
             const Patch& patch,
             const Pieces& pieces,
             int label,
             const std::vector<bool>& taken) {
  const PixelBox& b = pieces.pieces[static_cast<size_t>(label)].bounds;
  long border = 0, before = 0;
  for (int y = b.y0; y < b.y1; ++y) {
    for (int x = b.x0; x < b.x1; ++x) {
      if (pieces.label(x, y) != label)
        continue;
      for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
        if (pieces.label.inside(x + dx, y + dy) && pieces.label(x + dx, y + dy) == label)
          continue;
        ++border;
        for (int step = 1; step <= kBorderReach_px; ++step) {
          const int xn = x + dx * step, yn = y + dy * step;
          if (!pieces.label.inside(xn, yn))
            break;
          const int other = pieces.label(xn, yn);
          if (other < 0 || other == label || !taken[static_cast<size_t>(other)])
            continue;
          const double z = patch.depth_m(x, y);
          before += patch.depth_m(xn, yn) - z > depthJump(view, z, 0.0);
          break;
        }
      }
    }
  }
  return border > 0 && static_cast<double>(before) >= kInFrontShare * static_cast<double>(border);
}

}  // namespace

Joined joinPieces(const View& view,
                  const Patch& patch,
                  const Pieces& pieces,
                  const PixelBox& box,
                  const JoinOptions& options) {
  const size_t count = pieces.pieces.size();
  const std::vector<Inside> inside = measureInside(pieces, box);
  Joined out;
  out.mask = Mask(patch.depth_m.width, patch.depth_m.height);
  out.straddling = out.mask;
  std::vector<bool> straddles(count, false);
  std::vector<size_t> open;
  for (size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(inside[i].area) /
                         static_cast<double>(std::max(1L, pieces.pieces[i].area));
    if (share >= options.min_inside)
      open.push_back(i);
    const double filled =
        static_cast<double>(inside[i].area) / static_cast<double>(std::max(1L, box.area()));
    straddles[i] = share < options.min_inside && filled >= options.min_straddling;
  }
  std::vector<bool> taken(count, false);
  PixelBox bounds;
  while (true) {
    size_t best = count;
    double best_fit = out.box_fit + 1e-9;
    for (size_t i : open) {
      if (taken[i])
        continue;
      const double fit = intersectionOverUnion(unite(bounds, inside[i].bounds), box);
      if (fit > best_fit) {
        best_fit = fit;
        best = i;
      }
    }
    if (best == count)
      break;
    taken[best] = true;
    bounds = unite(bounds, inside[best].bounds);
    out.box_fit = best_fit;
  }
  std::vector<size_t> fillers;
  for (size_t i : open) {
    if (taken[i] || intersect(inside[i].bounds, bounds).area() != inside[i].bounds.area())
      continue;
    if (!inFront(view, patch, pieces, static_cast<int>(i), taken))
      fillers.push_back(i);
  }
  for (size_t i : fillers)
    taken[i] = true;

  for (int y = 0; y < out.mask.height; ++y) {
    for (int x = 0; x < out.mask.width; ++x) {
      const int label = pieces.label(x, y);
      if (label < 0 || !box.contains(x, y))
        continue;
      out.mask(x, y) = taken[static_cast<size_t>(label)];
      out.straddling(x, y) = straddles[static_cast<size_t>(label)];
    }
  }
  return out;
}

}  // namespace s2r::scene
