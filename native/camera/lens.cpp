#include "native/camera/lens.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace s2r::camera {

namespace {

constexpr int kNewtonSteps = 40;
constexpr double kConverged = 1e-12;

bool tangentialOnScaled(Distortion model) {
  return model == Distortion::kModifiedBrownConrady || model == Distortion::kInverseBrownConrady;
}

struct Bent {
  double x, y;
  double dxx, dxy, dyx, dyy;  // derivatives of (x, y) after distortion by (x, y) before
};

Bent bend(const Intrinsics& k, double x, double y) {
  if (k.model == Distortion::kNone)
    return {x, y, 1, 0, 0, 1};
  const double k1 = k.coeffs[0], k2 = k.coeffs[1], p1 = k.coeffs[2], p2 = k.coeffs[3];
  const double k3 = k.coeffs[4];
  const double r2 = x * x + y * y;
  const double f = 1 + r2 * (k1 + r2 * (k2 + r2 * k3));
  const double f_r2 = k1 + r2 * (2 * k2 + r2 * 3 * k3);
  const double fx = 2 * x * f_r2, fy = 2 * y * f_r2;
  // (a, b): the point that the tangential terms are taken at, with its derivatives.
  double a = x, b = y, ax = 1, ay = 0, bx = 0, by = 1;
  if (tangentialOnScaled(k.model)) {
    a = x * f;
    b = y * f;
    ax = f + x * fx;
    ay = x * fy;
    bx = y * fx;
    by = f + y * fy;
  }
  Bent out{};
  out.x = x * f + 2 * p1 * a * b + p2 * (r2 + 2 * a * a);
  out.y = y * f + 2 * p2 * a * b + p1 * (r2 + 2 * b * b);
  out.dxx = f + x * fx + 2 * p1 * (ax * b + a * bx) + p2 * (2 * x + 4 * a * ax);
  out.dxy = x * fy + 2 * p1 * (ay * b + a * by) + p2 * (2 * y + 4 * a * ay);
  out.dyx = y * fx + 2 * p2 * (ax * b + a * bx) + p1 * (2 * x + 4 * b * bx);
  out.dyy = f + y * fy + 2 * p2 * (ay * b + a * by) + p1 * (2 * y + 4 * b * by);
  return out;
}

}  // namespace

void checkIntrinsics(const Intrinsics& k, const char* whose) {
  const std::string name = std::string(whose) + ": ";
  if (k.width < 1 || k.height < 1 || k.width > 8192 || k.height > 8192) {
    throw CameraError("camera_calibration", name + "image of " + std::to_string(k.width) + " x " +
                                                std::to_string(k.height) +
                                                " pixels; 1 to 8192 on a side are handled");
  }
  const bool finite = std::isfinite(k.fx) && std::isfinite(k.fy) && std::isfinite(k.cx) &&
                      std::isfinite(k.cy) &&
                      std::all_of(std::begin(k.coeffs), std::end(k.coeffs),
                                  [](double c) { return std::isfinite(c); });
  if (!finite || k.fx <= 0 || k.fy <= 0) {
    throw CameraError("camera_calibration",
                      name + "focal lengths " + std::to_string(k.fx) + " and " +
                          std::to_string(k.fy) +
                          " px and all coefficients must be finite, focal lengths above 0: "
                          "the device holds no usable calibration; recalibrate it");
  }
  if (k.model == Distortion::kFtheta || k.model == Distortion::kKannalaBrandt4) {
    throw CameraError("camera_calibration",
                      name + "distortion model " + nameOf(k.model) +
                          " is a fisheye's; a pinhole image of it is not made");
  }
}

bool isPinhole(const Intrinsics& k) {
  return k.model == Distortion::kNone ||
         std::all_of(std::begin(k.coeffs), std::end(k.coeffs), [](double c) { return c == 0; });
}

void projectRay(const Intrinsics& k, double x, double y, double& u, double& v) {
  const Bent bent = bend(k, x, y);
  u = k.fx * bent.x + k.cx;
  v = k.fy * bent.y + k.cy;
}

bool rayOfPixel(const Intrinsics& k, double u, double v, double& x, double& y) {
  const double x_wanted = (u - k.cx) / k.fx;
  const double y_wanted = (v - k.cy) / k.fy;
  x = x_wanted;
  y = y_wanted;
  if (isPinhole(k))
    return true;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const Bent bent = bend(k, x, y);
    const double ex = bent.x - x_wanted, ey = bent.y - y_wanted;
    if (ex * ex + ey * ey < kConverged * kConverged)
      return true;
    const double det = bent.dxx * bent.dyy - bent.dxy * bent.dyx;
    if (!(det > 1e-9))
      return false;  // past the fold of the model: several rays share this pixel
    x -= (bent.dyy * ex - bent.dxy * ey) / det;
    y -= (bent.dxx * ey - bent.dyx * ex) / det;
  }
  return false;
}

Intrinsics pinholeOf(const Intrinsics& k) {
  Intrinsics out = k;
  out.model = Distortion::kNone;
  std::fill(std::begin(out.coeffs), std::end(out.coeffs), 0.0);
  return out;
}

RemapTable::RemapTable(const Intrinsics& k) : source_(k), target_(pinholeOf(k)) {
  checkIntrinsics(k, "rectification");
  entries_.reserve(static_cast<size_t>(k.width) * static_cast<size_t>(k.height));
  for (int row = 0; row < k.height; ++row) {
    for (int column = 0; column < k.width; ++column) {
      double u = 0, v = 0;
      projectRay(k, (column - k.cx) / k.fx, (row - k.cy) / k.fy, u, v);
      // Half a pixel beyond the border still belongs to the border's pixel.
      if (!(u >= -0.5 && v >= -0.5 && u < k.width - 0.5 && v < k.height - 0.5)) {
        entries_.push_back({kOutside, kOutside, 0, 0});
        continue;
      }
      const auto nearest = static_cast<int32_t>(std::floor(v + 0.5)) * k.width +
                           static_cast<int32_t>(std::floor(u + 0.5));
      u = std::clamp(u, 0.0, k.width - 1.0);
      v = std::clamp(v, 0.0, k.height - 1.0);
      const int u0 = std::min(static_cast<int>(u), std::max(0, k.width - 2));
      const int v0 = std::min(static_cast<int>(v), std::max(0, k.height - 2));
      entries_.push_back({v0 * k.width + u0, nearest,
                          static_cast<uint16_t>(std::lround((u - u0) * 256)),
                          static_cast<uint16_t>(std::lround((v - v0) * 256))});
    }
  }
}

template <int kChannels>
void RemapTable::blend(const uint8_t* from, uint8_t* to) const {
  // An image of one column or row has no neighbour there; its weight is 0 then.
  const ptrdiff_t right = source_.width > 1 ? kChannels : 0;
  const ptrdiff_t below = source_.height > 1 ? ptrdiff_t{source_.width} * kChannels : 0;
  for (const Entry& entry : entries_) {
    if (entry.first == kOutside) {
      std::memset(to, 0, kChannels);
    } else {
      const uint8_t* p = from + ptrdiff_t{entry.first} * kChannels;
      const uint32_t s = entry.right, t = entry.below;
      for (int c = 0; c < kChannels; ++c, ++p) {
        const uint32_t a = p[0] * (256 - s) + p[right] * s;
        const uint32_t b = p[below] * (256 - s) + p[below + right] * s;
        to[c] = static_cast<uint8_t>((a * (256 - t) + b * t + (1u << 15)) >> 16);
      }
    }
    to += kChannels;
  }
}

void RemapTable::image(const uint8_t* from, int channels, uint8_t* to) const {
  if (channels == 3)
    blend<3>(from, to);
  else
    blend<1>(from, to);
}

void RemapTable::depth(const uint16_t* from, uint16_t* to) const {
  for (const Entry& entry : entries_)
    *to++ = entry.nearest == kOutside ? uint16_t{0} : from[entry.nearest];
}

}  // namespace s2r::camera
