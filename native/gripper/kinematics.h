// Geometry of the Pika gripper: motor angle to opening and back.
#pragma once

#include <optional>

namespace s2r::gripper {

// Openings a caller may ask for, in metres.
inline constexpr double kMaxCommandOpeningM = 0.095;
// Mechanical stop: no command goes past it, in radians.
inline constexpr double kMaxCommandAngleRad = 1.67;
// The linkage folds back past this angle: the opening shrinks again, so the inverse ends here.
inline constexpr double kMonotoneEndRad = 2.2122;

// Opening between the fingertips in metres for a motor angle in radians (0 closed, growing while it
// opens). Crank of 32.5 mm and rod of 58 mm whose end slides 14.56 mm beside the crank's centre,
// 43.99 degrees from the dead point at angle 0; as in the vendor's published linkage formula.
[[nodiscard]] double openingFromAngle(double angle_rad);

// The angle in [0, kMonotoneEndRad] of an opening in metres; nothing where the linkage has none.
// Agrees with openingFromAngle to 1e-12 rad.
[[nodiscard]] std::optional<double> angleFromOpening(double opening_m);

// d opening / d angle in metres per radian.
[[nodiscard]] double openingSlope(double angle_rad);

}  // namespace s2r::gripper
