#include "native/scene/outline_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <numbers>

namespace s2r::scene {

namespace {

constexpr double kPi = std::numbers::pi;

double quantile(std::vector<double>& values, double share) {
  const auto last = static_cast<double>(values.size() - 1);
  auto at = values.begin() + std::lround(std::clamp(share, 0.0, 1.0) * last);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<double> along(const std::vector<Vec2>& points, double angle_rad) {
  const Vec2 axis(std::cos(angle_rad), std::sin(angle_rad));
  std::vector<double> out(points.size());
  for (size_t i = 0; i < points.size(); ++i)
    out[i] = axis.dot(points[i]);
  return out;
}

Rectangle rectangleAt(const std::vector<Vec2>& points, double yaw_rad, double trim) {
  std::vector<double> u = along(points, yaw_rad);
  std::vector<double> v = along(points, yaw_rad + 0.5 * kPi);
  const double u0 = quantile(u, trim), u1 = quantile(u, 1.0 - trim);
  const double v0 = quantile(v, trim), v1 = quantile(v, 1.0 - trim);
  Rectangle r;
  r.yaw_rad = yaw_rad;
  r.size = {u1 - u0, v1 - v0};
  const double cu = 0.5 * (u0 + u1), cv = 0.5 * (v0 + v1);
  r.center = {cu * std::cos(yaw_rad) - cv * std::sin(yaw_rad),
              cu * std::sin(yaw_rad) + cv * std::cos(yaw_rad)};
  return r;
}

/// Where a body ends, looking outwards to the right along sorted coordinates. A side face seen
/// edge-on heaps its points up at one coordinate: then that heap's median. Otherwise where the
/// density drops to half of the middle's.
double rightEdge(const std::vector<double>& sorted,
                 double middle_low,
                 double middle_high,
                 double blur_m,
                 double fallback) {
  auto from = [&](double a) { return std::lower_bound(sorted.begin(), sorted.end(), a); };
  auto count = [&](double a, double b) { return static_cast<double>(from(b) - from(a)); };
  const double inside = count(middle_low, middle_high) / (middle_high - middle_low);
  if (inside <= 0.0)
    return fallback;
  constexpr double kHeap = 1.8;  // times the inside's density
  const double step = 0.1 * blur_m;
  auto density = [&](double at) { return count(at - 0.5 * blur_m, at + 0.5 * blur_m) / blur_m; };
  double outer = fallback + 3.0 * blur_m;
  double last = density(outer);
  std::optional<double> edge;
  double peak = 0.0, peak_at = 0.0;
  for (double at = outer - step; at > fallback - 4.0 * blur_m; at -= step) {
    const double here = density(at);
    if (!edge && here >= 0.5 * inside) {
      const double t = here > last ? (here - 0.5 * inside) / (here - last) : 0.0;
      edge = at + std::clamp(t, 0.0, 1.0) * step;
    }
    if (edge && at < *edge - 1.5 * blur_m)
      break;
    if (here > peak) {
      peak = here;
      peak_at = at;
    }
    last = here;
  }
  if (!edge)
    return fallback;
  if (peak < kHeap * inside)
    return *edge;
  const auto first = from(peak_at - 0.5 * blur_m);
  return *(first + (from(peak_at + 0.5 * blur_m) - first) / 2);
}

}  // namespace

Rectangle leastAreaRectangle(const std::vector<Vec2>& points, double trim) {
  Rectangle best;
  double least = std::numeric_limits<double>::infinity();
  auto consider = [&](double yaw_rad) {
    const Rectangle r = rectangleAt(points, yaw_rad, trim);
    const double area = r.size.x() * r.size.y();
    if (area < least) {
      least = area;
      best = r;
    }
  };
  const double degree = kPi / 180.0;
  for (int i = 0; i < 45; ++i)
    consider(2.0 * i * degree);
  for (double step : {1.0, 0.5, 0.25, 0.1}) {
    const double centre = best.yaw_rad;
    consider(centre - step * degree);
    consider(centre + step * degree);
  }
  return best;
}

Rectangle sharpenSides(const Rectangle& start, const std::vector<Vec2>& points, double blur_m) {
  std::vector<double> u = along(points, start.yaw_rad);
  std::vector<double> v = along(points, start.yaw_rad + 0.5 * kPi);
  const Vec2 eu(std::cos(start.yaw_rad), std::sin(start.yaw_rad));
  const Vec2 ev(-eu.y(), eu.x());
  const double cu = eu.dot(start.center), cv = ev.dot(start.center);
  auto sides = [&](const std::vector<double>& value, const std::vector<double>& other,
                   double centre, double half, double other_centre, double other_half) {
    std::vector<double> right, left;
    for (size_t i = 0; i < value.size(); ++i) {
      if (std::abs(other[i] - other_centre) > 0.85 * other_half)
        continue;  // corners would blur the side
      right.push_back(value[i]);
      left.push_back(-value[i]);
    }
    std::sort(right.begin(), right.end());
    std::sort(left.begin(), left.end());
    const double high =
        rightEdge(right, centre - 0.7 * half, centre + 0.7 * half, blur_m, centre + half);
    const double low =
        -rightEdge(left, -centre - 0.7 * half, -centre + 0.7 * half, blur_m, -centre + half);
    return std::pair{low, high};
  };
  const auto [u0, u1] = sides(u, v, cu, 0.5 * start.size.x(), cv, 0.5 * start.size.y());
  const auto [v0, v1] = sides(v, u, cv, 0.5 * start.size.y(), cu, 0.5 * start.size.x());
  Rectangle out = start;
  out.size = {std::max(0.0, u1 - u0), std::max(0.0, v1 - v0)};
  out.center = 0.5 * (u0 + u1) * eu + 0.5 * (v0 + v1) * ev;
  return out;
}

OutlineShape compareOutlines(const std::vector<Vec2>& points, double trim) {
  constexpr int kDirections = 72;
  Eigen::VectorXd reach(kDirections);
  auto angle = [](int k) { return 2.0 * kPi * k / kDirections; };
  for (int k = 0; k < kDirections; ++k) {
    std::vector<double> values = along(points, angle(k));
    reach(k) = quantile(values, 1.0 - trim);
  }
  OutlineShape out;
  Eigen::MatrixXd round(kDirections, 3);
  for (int k = 0; k < kDirections; ++k)
    round.row(k) << std::cos(angle(k)), std::sin(angle(k)), 1.0;
  const Eigen::VectorXd circle = round.colPivHouseholderQr().solve(reach);
  out.circle_rms = (round * circle - reach).norm() / std::sqrt(kDirections);
  out.circle = {{circle(0), circle(1)}, circle(2)};
  out.rectangle_rms = std::numeric_limits<double>::infinity();
  Eigen::MatrixXd box(kDirections, 4);
  for (int degree = 0; degree < 90; degree += 3) {
    const double yaw = degree * kPi / 180.0;
    for (int k = 0; k < kDirections; ++k) {
      box.row(k) << std::cos(angle(k)), std::sin(angle(k)), std::abs(std::cos(angle(k) - yaw)),
          std::abs(std::sin(angle(k) - yaw));
    }
    const Eigen::VectorXd fit = box.colPivHouseholderQr().solve(reach);
    out.rectangle_rms =
        std::min(out.rectangle_rms, (box * fit - reach).norm() / std::sqrt(kDirections));
  }
  return out;
}

Circle sharpenCircle(const Circle& start, const std::vector<Vec2>& points, double blur_m) {
  constexpr int kSectors = 16;
  constexpr size_t kLeastInSector = 12;
  Circle circle = start;
  for (int round = 0; round < 3; ++round) {
    // In squared radius a uniform disc has uniform density, so the straight side's rule applies.
    std::vector<std::vector<double>> squared(kSectors);
    const double r2 = circle.radius * circle.radius;
    for (const Vec2& p : points) {
      const Vec2 d = p - circle.center;
      const int k = static_cast<int>((std::atan2(d.y(), d.x()) + kPi) / (2.0 * kPi) * kSectors);
      squared[static_cast<size_t>(std::clamp(k, 0, kSectors - 1))].push_back(d.squaredNorm());
    }
    std::vector<Vec2> rim;
    for (int k = 0; k < kSectors; ++k) {
      auto& values = squared[static_cast<size_t>(k)];
      if (values.size() < kLeastInSector)
        continue;
      std::sort(values.begin(), values.end());
      const double edge = rightEdge(values, 0.05 * r2, 0.7 * r2, 2.0 * circle.radius * blur_m, r2);
      const double angle = (k + 0.5) / kSectors * 2.0 * kPi - kPi;
      rim.push_back(circle.center +
                    std::sqrt(std::max(0.0, edge)) * Vec2(std::cos(angle), std::sin(angle)));
    }
    if (rim.size() < kSectors / 2)
      return circle;
    // Algebraic circle, twice: the second time without the rim points that lie off the first.
    for (int pass = 0; pass < 2; ++pass) {
      Eigen::MatrixXd rows(static_cast<Eigen::Index>(rim.size()), 3);
      Eigen::VectorXd right(static_cast<Eigen::Index>(rim.size()));
      for (size_t i = 0; i < rim.size(); ++i) {
        const auto row = static_cast<Eigen::Index>(i);
        const Vec2 d = rim[i] - circle.center;
        const double off = std::abs(d.norm() - circle.radius);
        const double weight = pass == 0 || off < 2.0 * blur_m ? 1.0 : 0.0;
        rows.row(row) << weight * 2.0 * d.x(), weight * 2.0 * d.y(), weight;
        right(row) = weight * d.squaredNorm();
      }
      const Eigen::Vector3d solved = rows.colPivHouseholderQr().solve(right);
      const double squared_radius = solved(2) + solved.head<2>().squaredNorm();
      if (!solved.allFinite() || squared_radius <= 0.0)
        return circle;
      circle = {circle.center + solved.head<2>(), std::sqrt(squared_radius)};
    }
  }
  return circle;
}

std::optional<Sphere> fitSphere(const std::vector<Vec3>& points) {
  if (points.size() < 10)
    return std::nullopt;
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : points)
    mean += p / static_cast<double>(points.size());
  Eigen::Matrix4d normal = Eigen::Matrix4d::Zero();
  Eigen::Vector4d right = Eigen::Vector4d::Zero();
  for (const Vec3& p : points) {
    const Vec3 d = p - mean;
    const Eigen::Vector4d row(2.0 * d.x(), 2.0 * d.y(), 2.0 * d.z(), 1.0);
    normal += row * row.transpose();
    right += row * d.squaredNorm();
  }
  const Eigen::Vector4d solved = normal.ldlt().solve(right);
  if (!solved.allFinite())
    return std::nullopt;
  const double squared = solved(3) + solved.head<3>().squaredNorm();
  if (!(squared > 0.0))
    return std::nullopt;
  Sphere s{mean + solved.head<3>(), std::sqrt(squared), 0.0};
  for (int round = 0; round < 3; ++round) {
    normal.setZero();
    right.setZero();
    double sum = 0.0;
    for (const Vec3& p : points) {
      const Vec3 d = p - s.center;
      const double length = d.norm();
      if (length < 1e-9)
        continue;
      const double residual = length - s.radius;
      sum += residual * residual;
      Eigen::Vector4d row;
      row << -d / length, -1.0;
      normal += row * row.transpose();
      right -= row * residual;
    }
    s.rms = std::sqrt(sum / static_cast<double>(points.size()));
    if (round == 2)
      break;
    const Eigen::Vector4d step = normal.ldlt().solve(right);
    if (!step.allFinite())
      return std::nullopt;
    s.center += step.head<3>();
    s.radius += step(3);
  }
  return s;
}

}  // namespace s2r::scene
