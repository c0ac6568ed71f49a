#include "native/pose/cartesian_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace s2r::pose {
namespace {

constexpr double kSamePose = 1e-7;           // metres (or weighted radians) that are no motion
constexpr double kLargestBlendShare = 0.45;  // of a leg, so that two corners of it never meet
constexpr double kStopCosine = -0.5;         // cosine of a turn of 120 degrees

}  // namespace

Transform PathSection::along(const Leg& leg, double ds) {
  Transform X = leg.start;
  X.translation() += leg.p_rate * ds;
  X.linear() = rotationOf(leg.w_rate * ds) * leg.start.linear();
  return X;
}

Transform PathSection::corner(const Leg& before, const Leg& after, double blend, double t) {
  // Quintic Bezier with control points at -1, -0.6, -0.2 of the blend on the leg before and 0.2,
  // 0.6, 1 on the leg after.
  const double m = 1 - t;
  const double b0 = m * m * m * m * m, b1 = 5 * t * m * m * m * m, b2 = 10 * t * t * m * m * m;
  const double b3 = 10 * t * t * t * m * m, b4 = 5 * t * t * t * t * m, b5 = t * t * t * t * t;
  const double before_weight = -blend * (b0 + 0.6 * b1 + 0.2 * b2);
  const double after_weight = blend * (0.2 * b3 + 0.6 * b4 + b5);
  Transform X = after.start;
  X.translation() += before_weight * before.p_rate + after_weight * after.p_rate;
  X.linear() = rotationOf(before_weight * before.w_rate + after_weight * after.w_rate) *
               after.start.linear();
  return X;
}

Transform PathSection::pose(double s) const {
  s = std::clamp(s, 0.0, length_);
  size_t i = 0;
  while (i + 1 < legs_.size() && s >= legs_[i + 1].begin) {
    ++i;
  }
  const Leg& leg = legs_[i];
  const double ds = s - leg.begin;
  if (i > 0 && ds < leg.blend_before) {
    return corner(legs_[i - 1], leg, leg.blend_before, 0.5 + 0.5 * ds / leg.blend_before);
  }
  if (i + 1 < legs_.size()) {
    const double blend = legs_[i + 1].blend_before;
    const double left = legs_[i + 1].begin - s;
    if (left < blend) {
      return corner(leg, legs_[i + 1], blend, 0.5 - 0.5 * left / blend);
    }
  }
  return along(leg, ds);
}

double PathSection::shortestCorner() const {
  double shortest = std::numeric_limits<double>::infinity();
  for (const Leg& leg : legs_) {
    if (leg.blend_before > 0) {
      shortest = std::min(shortest, 2 * leg.blend_before);
    }
  }
  return shortest;
}

std::vector<PathSection> splitPath(const Transform& start,
                                   const std::vector<Transform>& poses,
                                   double blend_m) {
  std::vector<PathSection> sections;
  Transform previous = start;
  std::vector<int> waiting;  // poses equal to the start, before anything moves
  for (size_t i = 0; i < poses.size(); ++i) {
    PathSection::Leg leg;
    leg.start = previous;
    const Vec3 dp = poses[i].translation() - previous.translation();
    const Vec3 dw = rotationBetween(previous.linear(), poses[i].linear());
    leg.length = std::hypot(dp.norm(), kMetresPerRadian * dw.norm());
    const int index = static_cast<int>(i);
    if (leg.length < kSamePose) {
      if (sections.empty()) {
        waiting.push_back(index);
      } else {
        sections.back().passed_.push_back({index, sections.back().length_});
      }
      continue;
    }
    leg.p_rate = dp / leg.length;
    leg.w_rate = dw / leg.length;
    bool stop = sections.empty();
    if (!stop) {
      const PathSection::Leg& before = sections.back().legs_.back();
      const double cosine = before.p_rate.dot(leg.p_rate) +
                            kMetresPerRadian * kMetresPerRadian * before.w_rate.dot(leg.w_rate);
      leg.blend_before =
          std::min({blend_m, kLargestBlendShare * before.length, kLargestBlendShare * leg.length});
      stop = cosine < kStopCosine || leg.blend_before < kSamePose;
    }
    if (stop) {
      sections.emplace_back();
      leg.blend_before = 0;
    }
    PathSection& section = sections.back();
    leg.begin = section.length_;
    section.length_ += leg.length;
    section.legs_.push_back(leg);
    for (const int early : waiting) {
      section.passed_.push_back({early, 0});
    }
    waiting.clear();
    section.passed_.push_back({index, section.length_});
    previous = poses[i];
  }
  return sections;
}

}  // namespace s2r::pose
