#include "native/scene/raised_pieces.h"

#include <algorithm>
#include <array>
#include <deque>

#include "native/scene/patch.h"
#include "native/scene/surface_normals.h"

namespace s2r::scene {

namespace {

constexpr int kMinPieceArea = 12;
constexpr std::array<std::array<int, 2>, 4> kNeighbours{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};

bool joined(const View& view, const Patch& patch, int xa, int ya, int xb, int yb, double noise_m) {
  const float za = patch.depth_m(xa, ya);
  const float zb = patch.depth_m(xb, yb);
  return za > 0.0f && zb > 0.0f && std::abs(za - zb) <= depthJump(view, std::min(za, zb), noise_m);
}

/// Gives unlabelled raised pixels to the piece that reaches them first over a joined surface.
void spread(const View& view, const Patch& patch, double noise_m, Pieces& out) {
  std::deque<std::array<int, 2>> front;
  for (int y = 0; y < out.label.height; ++y) {
    for (int x = 0; x < out.label.width; ++x) {
      if (out.label(x, y) >= 0)
        front.push_back({x, y});
    }
  }
  while (!front.empty()) {
    const auto [x, y] = front.front();
    front.pop_front();
    for (const auto& [dx, dy] : kNeighbours) {
      const int xn = x + dx;
      const int yn = y + dy;
      if (!out.label.inside(xn, yn) || out.label(xn, yn) >= 0 || !out.raised(xn, yn))
        continue;
      if (!joined(view, patch, x, y, xn, yn, noise_m))
        continue;
      out.label(xn, yn) = out.label(x, y);
      front.push_back({xn, yn});
    }
  }
}

void measurePieces(Pieces& out) {
  for (Piece& piece : out.pieces)
    piece = {0, {out.label.width, out.label.height, 0, 0}};
  for (int y = 0; y < out.label.height; ++y) {
    for (int x = 0; x < out.label.width; ++x) {
      const int label = out.label(x, y);
      if (label < 0)
        continue;
      Piece& piece = out.pieces[static_cast<size_t>(label)];
      ++piece.area;
      piece.bounds = {std::min(piece.bounds.x0, x), std::min(piece.bounds.y0, y),
                      std::max(piece.bounds.x1, x + 1), std::max(piece.bounds.y1, y + 1)};
    }
  }
}

}  // namespace

Mask concaveEdges(const View& view,
                  const Patch& patch,
                  const Raster<Vec3f>& normals,
                  int radius_px,
                  double noise_m,
                  double threshold) {
  constexpr std::array<std::array<int, 2>, 4> kDirections{{{1, 0}, {0, 1}, {1, 1}, {1, -1}}};
  Mask edges(patch.depth_m.width, patch.depth_m.height);
  for (int y = 0; y < edges.height; ++y) {
    for (int x = 0; x < edges.width; ++x) {
      const float z = patch.depth_m(x, y);
      if (z <= 0.0f)
        continue;
      const double jump = depthJump(view, z, noise_m) * 0.5 * radius_px;
      for (const auto& [dx, dy] : kDirections) {
        const int reach = dx != 0 && dy != 0 ? (radius_px * 3 + 2) / 4 : radius_px + 1;
        const int xa = x - dx * reach, ya = y - dy * reach;
        const int xb = x + dx * reach, yb = y + dy * reach;
        if (!edges.inside(xa, ya) || !edges.inside(xb, yb))
          continue;
        const Vec3f& na = normals(xa, ya);
        const Vec3f& nb = normals(xb, yb);
        if (na.isZero() || nb.isZero())
          continue;
        if (std::abs(patch.depth_m(xa, ya) - z) > jump ||
            std::abs(patch.depth_m(xb, yb) - z) > jump)
          continue;
        const Vec3f d = (patch.p_world(xb, yb) - patch.p_world(xa, ya)).normalized();
        if ((na - nb).dot(d) > static_cast<float>(threshold)) {
          edges(x, y) = 1;
          break;
        }
      }
    }
  }
  return edges;
}

Pieces splitRaised(const View& view,
                   const Patch& patch,
                   const std::optional<Support>& support,
                   const PieceOptions& options) {
  const int width = patch.depth_m.width;
  const int height = patch.depth_m.height;
  const double noise_m = support ? support->noise_m : 0.002;
  Pieces out;
  out.label = Raster<int>(width, height, -1);
  out.raised = Mask(width, height);
  const double threshold = std::max(options.min_height_m, std::min(3.0 * noise_m, 0.02));
  for (size_t i = 0; i < out.raised.data.size(); ++i) {
    if (patch.depth_m.data[i] <= 0.0f)
      continue;
    out.raised.data[i] =
        !support || support->plane.height(patch.p_world.data[i].cast<double>()) > threshold;
  }
  const int radius = radiusInPixels(view, patch, options.edge_scale_m);
  const Raster<Vec3f> normals = estimateNormals(view, patch, radius, noise_m, &out.raised);
  const Mask edges = concaveEdges(view, patch, normals, radius, noise_m, options.concave_threshold);

  std::vector<std::array<int, 2>> stack;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!out.raised(x, y) || edges(x, y) || out.label(x, y) != -1)
        continue;
      const int label = static_cast<int>(out.pieces.size());
      std::vector<size_t> members;
      stack.assign(1, {x, y});
      out.label(x, y) = label;
      while (!stack.empty()) {
        const auto [px, py] = stack.back();
        stack.pop_back();
        members.push_back(out.label.index(px, py));
        for (const auto& [dx, dy] : kNeighbours) {
          const int xn = px + dx, yn = py + dy;
          if (!out.label.inside(xn, yn) || out.label(xn, yn) != -1)
            continue;
          if (!out.raised(xn, yn) || edges(xn, yn))
            continue;
          if (!joined(view, patch, px, py, xn, yn, noise_m))
            continue;
          out.label(xn, yn) = label;
          stack.push_back({xn, yn});
        }
      }
      if (static_cast<int>(members.size()) >= kMinPieceArea) {
        out.pieces.push_back({});
      } else {
        for (size_t i : members)
          out.label.data[i] = -2;  // too small: open to its neighbours below
      }
    }
  }
  std::replace(out.label.data.begin(), out.label.data.end(), -2, -1);
  spread(view, patch, noise_m, out);
  measurePieces(out);
  return out;
}

}  // namespace s2r::scene
