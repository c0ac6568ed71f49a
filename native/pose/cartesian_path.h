// Geometry of a TCP path: straight legs with evenly interpolated rotation, corners rounded or
// stopped at.
#pragma once

#include <vector>

#include "native/pose/kinematics.h"

namespace s2r::pose {

// Metres that a radian of rotation counts for in the length of a path.
inline constexpr double kMetresPerRadian = 0.1;

// A smooth stretch of path, from rest to rest. Its parameter s is length: translation and rotation
// (weighted) of the legs, so that |dp/ds|^2 + (kMetresPerRadian |w|)^2 = 1 on straight parts.
//
// A corner is rounded from `blend` before to `blend` after it by a quintic curve of the
// displacement and rotation from the corner pose. Its control points lie evenly on the legs, so
// that position, rate and second derivative are continuous and two legs in one line stay a straight
// line.
class PathSection {
 public:
  struct Passed {
    int pose_index;
    double s;
  };
  [[nodiscard]] Transform pose(double s) const;
  [[nodiscard]] double length() const { return length_; }
  // Length of the shortest rounded corner; infinity when there is none.
  [[nodiscard]] double shortestCorner() const;
  [[nodiscard]] const std::vector<Passed>& passed() const { return passed_; }
  [[nodiscard]] int lastPose() const { return passed_.back().pose_index; }

 private:
  friend std::vector<PathSection> splitPath(const Transform&,
                                            const std::vector<Transform>&,
                                            double);
  struct Leg {
    Transform start = Transform::Identity();
    Vec3 p_rate = Vec3::Zero(), w_rate = Vec3::Zero();  // per unit of s, world axes
    double begin = 0, length = 0;
    double blend_before = 0;  // radius of the corner at the leg's start
  };
  static Transform along(const Leg& leg, double ds);
  static Transform corner(const Leg& before, const Leg& after, double blend, double t);

  std::vector<Leg> legs_;
  std::vector<Passed> passed_;
  double length_ = 0;
};

// Splits the way from `start` through `poses` into sections that end where the path must stop: at
// the last pose, at turns of more than 120 degrees, everywhere when blend_m is 0. Poses equal to
// the one before are passed in the same moment. Empty when no pose differs from the start.
[[nodiscard]] std::vector<PathSection> splitPath(const Transform& start,
                                                 const std::vector<Transform>& poses,
                                                 double blend_m);

}  // namespace s2r::pose
