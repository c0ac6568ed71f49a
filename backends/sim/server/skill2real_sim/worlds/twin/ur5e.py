"""Numbers of the UR5e: kinematics, masses, limits and the collision model.

Frame i is the Denavit-Hartenberg frame after joint i; frame 0 is the base, which is the world of the twin.
Every vector below is written in the frame of its link, so a reader can lay it beside the manufacturer's
table.

Sources: Universal Robots, "DH parameters for calculations of kinematics and dynamics" (lengths, masses,
centres of mass) and the manufacturer's robot description for UR5e (inertia tensors, joint torques, housing
offsets 0.138 m and 0.007 m). The manufacturer publishes no joint acceleration or jerk limit: those are this
simulator's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

DH_A_M = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0)
DH_D_M = (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)
DH_ALPHA_RAD = (math.pi / 2, 0.0, 0.0, math.pi / 2, -math.pi / 2, 0.0)

JOINT_COUNT = 6
POSITION_LIMIT_RAD = (2 * math.pi, 2 * math.pi, math.pi, 2 * math.pi, 2 * math.pi, 2 * math.pi)
VELOCITY_LIMIT_RAD_S = (math.pi,) * 6
ACCELERATION_LIMIT_RAD_S2 = (8.0,) * 6
JERK_LIMIT_RAD_S3 = (80.0,) * 6
TORQUE_LIMIT_NM = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)

# Folded back over the base, tool down, clear of what the top-down pair sees of the work area.
HOME_Q_RAD = (-2.133, -2.168, 1.704, -1.107, -math.pi / 2, 1.008)

# A wrist transducer of this class is read to a few newtons; below these a contact is not told from motion.
CONTACT_FORCE_DEFAULT_N = 30.0
CONTACT_TORQUE_DEFAULT_NM = 5.0
# After a contact the arm brakes as hard as a reflex may, not as gently as a planned stop.
CONTACT_BRAKE_RAD_S2 = (25.0,) * 6
PROTECTIVE_FORCE_N = 150.0
PROTECTIVE_LINK_FORCE_N = 150.0
PROTECTIVE_TRACKING_RAD = 0.1


@dataclass(frozen=True)
class LinkInertia:
    """Mass [kg], centre of mass [m] and tensor about it [kg m2] as xx yy zz xy xz yz, in the link's frame."""

    mass_kg: float
    com_m: tuple[float, float, float]
    tensor: tuple[float, float, float, float, float, float]


LINK_INERTIAS = (
    LinkInertia(
        3.761, (0.0, -0.02561, 0.00193), (0.0070021, 0.00648091, 0.00657286, 7.3e-7, -1.053e-5, 4.9994e-4)
    ),
    LinkInertia(
        8.058, (0.2125, 0.0, 0.11336), (0.01505885, 0.33388086, 0.33247207, -5.4e-5, 5.63e-6, -1.81e-6)
    ),
    LinkInertia(
        2.846, (0.15, 0.0, 0.0265), (0.00399632, 0.07879254, 0.0784851, -1.365e-5, 1.37272e-3, -6.6e-6)
    ),
    LinkInertia(
        1.37, (0.0, -0.0018, 0.01634), (0.00165491, 0.00135962, 0.00126279, -2.82e-6, -4.38e-6, 1.0157e-4)
    ),
    LinkInertia(
        1.3, (0.0, 0.0018, 0.01634), (0.00135617, 0.00127827, 0.00096614, -2.74e-6, 4.44e-6, -5.048e-5)
    ),
    LinkInertia(0.365, (0.0, 0.0, -0.001159), (0.00018694, 0.00018908, 0.00025756, 6e-8, -1.7e-7, -9.2e-7)),
)


@dataclass(frozen=True)
class CollisionCapsule:
    """Capsule on ``link`` (0 base to 6 flange): axis ends and radius in metres, in that link's frame."""

    link: int
    p0_m: tuple[float, float, float]
    p1_m: tuple[float, float, float]
    radius_m: float
    name: str


CAPSULES = (
    CollisionCapsule(0, (0.0, 0.0, 0.03), (0.0, 0.0, 0.075), 0.075, "base"),
    CollisionCapsule(1, (0.0, -0.04, 0.0), (0.0, 0.0, 0.03), 0.062, "shoulder"),
    CollisionCapsule(2, (0.425, 0.0, 0.09), (0.425, 0.0, 0.138), 0.062, "upper_arm_root"),
    CollisionCapsule(2, (0.425, 0.0, 0.138), (0.0, 0.0, 0.138), 0.052, "upper_arm"),
    CollisionCapsule(2, (0.0, 0.0, 0.08), (0.0, 0.0, 0.138), 0.055, "elbow"),
    CollisionCapsule(3, (0.3922, 0.0, 0.007), (0.0, 0.0, 0.007), 0.043, "forearm"),
    CollisionCapsule(4, (0.0, -0.1, 0.0), (0.0, 0.0, 0.0), 0.042, "wrist_1"),
    CollisionCapsule(5, (0.0, 0.06, 0.0), (0.0, 0.0, 0.0), 0.042, "wrist_2"),
    CollisionCapsule(6, (0.0, 0.0, -0.045), (0.0, 0.0, -0.03), 0.038, "wrist_3"),
)


@dataclass(frozen=True)
class DhDeltas:
    """What one arm's Denavit-Hartenberg rows differ by from the nominal ones, joint by joint.

    As in the manufacturer's calibration they are added: theta = q + theta_rad, and so on.
    """

    theta_rad: tuple[float, ...] = (0.0,) * 6
    a_m: tuple[float, ...] = (0.0,) * 6
    d_m: tuple[float, ...] = (0.0,) * 6
    alpha_rad: tuple[float, ...] = (0.0,) * 6


NOMINAL = DhDeltas()


def dh_matrix(joint: int, q_rad: float, deltas: DhDeltas = NOMINAL) -> np.ndarray:
    """X of frame ``joint`` (0-based row) in its predecessor: Rot_z(q) Trans_z(d) Trans_x(a) Rot_x(alpha)."""
    theta, alpha = q_rad + deltas.theta_rad[joint], DH_ALPHA_RAD[joint] + deltas.alpha_rad[joint]
    ct, st = math.cos(theta), math.sin(theta)
    ca, sa = math.cos(alpha), math.sin(alpha)
    a, d = DH_A_M[joint] + deltas.a_m[joint], DH_D_M[joint] + deltas.d_m[joint]
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
