"""Numbers of the parallel gripper: a Pika-like jaw with two sliding fingers, and its place on the flange.

The TCP lies between the fingertips, in the plane of the finger ends: +z is the approach, +y the closing
direction. Stroke and usable opening follow the vendor's description (two 50 mm slides) and its driver (95
mm). The vendor publishes no force: 20 N at the default current and 40 N at most are the figures that its
users report, so they are this model's, not a data sheet's.
"""

from __future__ import annotations

import numpy as np

from .ur5e import CollisionCapsule

STROKE_M = 0.1
MAX_OPENING_M = 0.095
MAX_FORCE_N = 40.0
DEFAULT_FORCE_N = 20.0
MIN_FORCE_N = 2.0
MAX_SPEED_M_S = 0.25
DEFAULT_SPEED_M_S = 0.15
MIN_SPEED_M_S = 0.005

FLANGE_TO_TCP_M = 0.17
FINGER_LENGTH_M = 0.065
FINGER_WIDTH_M = 0.022
FINGER_THICKNESS_M = 0.012

BODY_MASS_KG = 0.55
FINGER_MASS_KG = 0.05

X_FLANGE_TCP = np.eye(4)
X_FLANGE_TCP[2, 3] = FLANGE_TO_TCP_M

# The jaw's body rides on the flange (link 6): a neck, the rail across +y, and the pair of wrist cameras.
BODY_CAPSULES = (
    CollisionCapsule(6, (0.0, 0.0, 0.01), (0.0, 0.0, 0.045), 0.035, "gripper_neck"),
    CollisionCapsule(6, (0.0, -0.05, 0.072), (0.0, 0.05, 0.072), 0.03, "gripper_rail"),
    CollisionCapsule(6, (0.062, -0.03, 0.038), (0.062, 0.03, 0.038), 0.012, "wrist_cameras"),
)
