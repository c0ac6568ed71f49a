"""Linkage of the gripper: motor angle [rad] to opening [m] and back.

A crank of 32.5 mm drives a rod of 58 mm whose end slides 14.56 mm beside the crank's centre; at angle 0 the
crank stands 180 - 43.99 degrees from its dead point. The published formula of the vendor's drivers.
"""

from __future__ import annotations

import math

CRANK_M = 0.0325
ROD_M = 0.058
SLIDE_OFFSET_M = 0.01456
ZERO_RAD = math.radians(180.0 - 43.99)
MONOTONE_END_RAD = 2.2122
MECHANICAL_STOP_RAD = 1.67


def _half_width(angle_rad: float) -> float:
    crank_rad = ZERO_RAD - angle_rad
    height_m = CRANK_M * math.sin(crank_rad) - SLIDE_OFFSET_M
    return math.sqrt(ROD_M**2 - height_m**2) + CRANK_M * math.cos(crank_rad)


def opening_of(angle_rad: float) -> float:
    """Opening between the fingertips [m]."""
    return 2.0 * (_half_width(angle_rad) - _half_width(0.0))


def angle_of(opening_m: float) -> float:
    """The angle [rad] of an opening, which is clamped to what the linkage reaches."""
    low, high = 0.0, MONOTONE_END_RAD
    for _ in range(40):
        middle = 0.5 * (low + high)
        if opening_of(middle) < opening_m:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def slope_of(angle_rad: float) -> float:
    """d opening / d angle [m/rad]."""
    h = 1e-5
    return (opening_of(angle_rad + h) - opening_of(angle_rad - h)) / (2.0 * h)
