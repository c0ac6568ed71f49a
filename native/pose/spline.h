// Natural cubic spline through increasing abscissae: twice continuously differentiable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace s2r::pose {

template <typename Value>
class Spline {
 public:
  Spline() = default;
  // At least two points; x strictly increasing.
  Spline(std::vector<double> x, std::vector<Value> y) : x_(std::move(x)), y_(std::move(y)) {
    const size_t n = x_.size();
    second_.assign(n, Value(y_[0] * 0.0));
    if (n < 3) {
      return;
    }
    // Thomas algorithm for the second derivatives.
    std::vector<double> c(n, 0.0);
    for (size_t i = 1; i + 1 < n; ++i) {
      const double h0 = x_[i] - x_[i - 1], h1 = x_[i + 1] - x_[i];
      const Value rhs = ((y_[i + 1] - y_[i]) / h1 - (y_[i] - y_[i - 1]) / h0) * 6.0;
      const double pivot = 2 * (h0 + h1) - h0 * c[i - 1];
      c[i] = h1 / pivot;
      second_[i] = (rhs - second_[i - 1] * h0) / pivot;
    }
    for (size_t i = n - 2; i >= 1; --i) {
      second_[i] = second_[i] - second_[i + 1] * c[i];
    }
  }

  [[nodiscard]] Value at(double x) const {
    const size_t i = interval(x);
    const double h = x_[i + 1] - x_[i], a = (x_[i + 1] - x) / h, b = 1 - a;
    return y_[i] * a + y_[i + 1] * b +
           (second_[i] * (a * a * a - a) + second_[i + 1] * (b * b * b - b)) * (h * h / 6);
  }
  [[nodiscard]] const std::vector<double>& x() const { return x_; }

 private:
  [[nodiscard]] size_t interval(double x) const {
    const auto above = std::upper_bound(x_.begin(), x_.end(), x);
    const auto index = static_cast<size_t>(std::max<std::ptrdiff_t>(above - x_.begin() - 1, 0));
    return std::min(index, x_.size() - 2);
  }
  std::vector<double> x_;
  std::vector<Value> y_, second_;
};

}  // namespace s2r::pose
