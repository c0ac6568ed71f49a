"""The UR5e as MJCF: nested bodies whose frames are the Denavit-Hartenberg frames.

Body i carries frame i, and its hinge turns about z of frame i-1. With all joints at zero, frame i stands in
frame i-1 at Trans_z(d) Trans_x(a) Rot_x(alpha); the hinge therefore is, in the body's own frame, the line
through (-a, -d sin(alpha), -d cos(alpha)) along (0, sin(alpha), cos(alpha)). An arm whose joint zero is off
by theta stands turned by Rot_z(theta) in frame i-1; seen from the body the hinge stays where it is.

The servo is a stiff position loop with the torque limits of the joints. Velocity feed-forward is in the
command (see motion.py), gravity is compensated in every link.
"""

from __future__ import annotations

import math

from . import ur5e
from .mjcf_text import element, numbers

# Stiffness [Nm/rad], damping [Nm s/rad] and reflected rotor inertia [kg m2] of the joint servos.
SERVO_KP = (30000.0, 30000.0, 20000.0, 4000.0, 4000.0, 3000.0)
SERVO_KV = (500.0, 500.0, 300.0, 50.0, 50.0, 35.0)
ARMATURE = (0.5, 0.5, 0.3, 0.1, 0.1, 0.1)
JOINT_DAMPING = 1.0

# Housings that overlap where they meet; every other pair of links collides.
EXCLUDED_PAIRS = ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5), (4, 6), (5, 6))


def link_name(link: int) -> str:
    return f"link{link}"


def _capsule_geoms(link: int) -> list[str]:
    return [
        element(
            "geom",
            class_="arm_collision",
            name=f"arm_{c.name}",
            fromto=numbers((*c.p0_m, *c.p1_m)),
            size=numbers((c.radius_m,)),
            material="arm_dark" if c.name in ("elbow", "upper_arm_root", "wrist_2", "base") else "arm_light",
        )
        for c in ur5e.CAPSULES
        if c.link == link
    ]


def _visual_details(link: int) -> list[str]:
    """Joint caps in the maker's blue: seen, never touched."""
    caps = {
        1: [((0.0, 0.0, -0.052), (0.0, 0.0, -0.066), 0.046)],
        2: [((0.425, 0.0, 0.186), (0.425, 0.0, 0.201), 0.046), ((0.0, 0.0, 0.18), (0.0, 0.0, 0.194), 0.042)],
        4: [((0.0, 0.034, 0.0), (0.0, 0.044, 0.0), 0.03)],
        5: [((0.0, -0.034, 0.0), (0.0, -0.044, 0.0), 0.03)],
    }
    return [
        element(
            "geom",
            class_="seen_only",
            type="cylinder",
            fromto=numbers((*p, *q)),
            size=numbers((r,)),
            material="arm_cap",
        )
        for p, q, r in caps.get(link, [])
    ]


def arm_body(tool: str, deltas: ur5e.DhDeltas = ur5e.NOMINAL) -> str:
    """The arm's body tree, base at the world's origin; ``tool`` is put into the flange body."""
    inner = tool
    for link in range(6, 0, -1):
        row = link - 1
        a, d = ur5e.DH_A_M[row] + deltas.a_m[row], ur5e.DH_D_M[row] + deltas.d_m[row]
        alpha, theta = ur5e.DH_ALPHA_RAD[row] + deltas.alpha_rad[row], deltas.theta_rad[row]
        ca, sa = math.cos(alpha), math.sin(alpha)
        inertia = ur5e.LINK_INERTIAS[row]
        limit = ur5e.POSITION_LIMIT_RAD[row]
        children = [
            element("inertial", pos=inertia.com_m, mass=inertia.mass_kg, fullinertia=inertia.tensor),
            element(
                "joint",
                name=f"joint{link}",
                type="hinge",
                pos=(-a, -d * sa, -d * ca),
                axis=(0.0, sa, ca),
                range=(-limit, limit),
                armature=ARMATURE[row],
                damping=JOINT_DAMPING,
            ),
            *_capsule_geoms(link),
            *_visual_details(link),
            inner,
        ]
        inner = element(
            "body",
            children,
            name=link_name(link),
            pos=(a * math.cos(theta), a * math.sin(theta), d),
            quat=(
                math.cos(theta / 2) * math.cos(alpha / 2),
                math.cos(theta / 2) * math.sin(alpha / 2),
                math.sin(theta / 2) * math.sin(alpha / 2),
                math.sin(theta / 2) * math.cos(alpha / 2),
            ),
            gravcomp="1",
        )
    return element("body", [*_capsule_geoms(0), inner], name=link_name(0))


def arm_excludes(extra_link6: tuple[str, ...]) -> str:
    pairs = [(link_name(a), link_name(b)) for a, b in EXCLUDED_PAIRS]
    pairs += [(link_name(link), body) for body in extra_link6 for link in (5, 6)]
    return "".join(element("exclude", body1=a, body2=b) for a, b in pairs)


def arm_actuators() -> str:
    out = []
    for joint in range(6):
        torque, limit = ur5e.TORQUE_LIMIT_NM[joint], ur5e.POSITION_LIMIT_RAD[joint]
        out.append(
            element(
                "position",
                name=f"servo{joint + 1}",
                joint=f"joint{joint + 1}",
                kp=SERVO_KP[joint],
                kv=SERVO_KV[joint],
                forcerange=(-torque, torque),
                # Room past the joint's range: the command carries velocity feed-forward, and the range itself
                # is checked.
                ctrlrange=(-limit - 1.0, limit + 1.0),
            )
        )
    return "".join(out)
