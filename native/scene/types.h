#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace s2r::scene {

using Vec3 = Eigen::Vector3d;
using Vec3f = Eigen::Vector3f;

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Pinhole intrinsics of a rectified image [px]. An integer pixel coordinate is a pixel's centre.
struct Intrinsics {
  double fx_px = 0.0;
  double fy_px = 0.0;
  double cx_px = 0.0;
  double cy_px = 0.0;
};

/// Half-open box of pixels.
struct PixelBox {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;

  [[nodiscard]] int width() const { return x1 > x0 ? x1 - x0 : 0; }
  [[nodiscard]] int height() const { return y1 > y0 ? y1 - y0 : 0; }
  [[nodiscard]] long area() const { return static_cast<long>(width()) * height(); }
  [[nodiscard]] bool contains(int x, int y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
};

[[nodiscard]] inline PixelBox intersect(const PixelBox& a, const PixelBox& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

[[nodiscard]] inline double intersectionOverUnion(const PixelBox& a, const PixelBox& b) {
  const long both = intersect(a, b).area();
  const long any = a.area() + b.area() - both;
  return any > 0 ? static_cast<double>(both) / static_cast<double>(any) : 0.0;
}

/// Row-major image of any element type.
template <typename T>
struct Raster {
  int width = 0;
  int height = 0;
  std::vector<T> data;

  Raster() = default;
  Raster(int w, int h, T value = T{})
      : width(w), height(h), data(static_cast<size_t>(w) * static_cast<size_t>(h), value) {}

  [[nodiscard]] size_t index(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x);
  }
  [[nodiscard]] bool inside(int x, int y) const {
    return x >= 0 && y >= 0 && x < width && y < height;
  }
  T& operator()(int x, int y) { return data[index(x, y)]; }
  const T& operator()(int x, int y) const { return data[index(x, y)]; }
};

using Mask = Raster<uint8_t>;

/// One depth image with its pose, borrowed from the caller. Depth in metres along the optical axis;
/// anything that is not above zero is unknown. `rgb` may be null; `exclude` may be null.
struct View {
  int width = 0;
  int height = 0;
  const float* depth_m = nullptr;
  const uint8_t* rgb = nullptr;
  Intrinsics intrinsics;
  Eigen::Isometry3d X_world_camera = Eigen::Isometry3d::Identity();

  [[nodiscard]] size_t index(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x);
  }
  /// Depth at a pixel, zero where unknown.
  [[nodiscard]] float depth(int x, int y) const {
    const float z = depth_m[index(x, y)];
    return z > 0.0f && std::isfinite(z) ? z : 0.0f;
  }
  [[nodiscard]] Vec3 rayCamera(double u, double v) const {
    return {(u - intrinsics.cx_px) / intrinsics.fx_px, (v - intrinsics.cy_px) / intrinsics.fy_px,
            1.0};
  }
  [[nodiscard]] Vec3 pointWorld(double u, double v, double depth) const {
    return X_world_camera * (rayCamera(u, v) * depth);
  }
  /// Metres that one pixel covers at a depth, across the viewing direction.
  [[nodiscard]] double pixelSize(double depth) const { return depth / intrinsics.fx_px; }
};

/// Plane normal . X = offset_m in world coordinates, unit normal on the camera's side.
struct Plane {
  Vec3 normal = Vec3::UnitZ();
  double offset_m = 0.0;

  [[nodiscard]] double height(const Vec3& p_world) const { return normal.dot(p_world) - offset_m; }
};

/// A cut-out of a view in world coordinates; pixel (x, y) of the rasters is (x + x0, y + y0) of the
/// view.
struct Patch {
  PixelBox region;
  Raster<float> depth_m;  ///< Zero where unknown.
  Raster<Vec3f> p_world;  ///< Only meaningful where depth is known.
};

}  // namespace s2r::scene
