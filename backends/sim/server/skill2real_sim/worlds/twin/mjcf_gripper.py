"""The jaw as MJCF: a body on the flange and two coupled slides, driven as one width.

The two fingers are tied by a joint equality and driven through a tendon whose length is the opening in
metres, so the actuator's command is an opening and its force is the force between the fingers. The fingertips
end in a soft bumper (it stands 4 mm proud of the pads): what the tips meet head-on meets rubber, what the
pads hold meets a stiff contact with torsional friction (the settings that hold an object for minutes without
visible creep).
"""

from __future__ import annotations

from . import pika
from .mjcf_text import element, numbers

FINGER_ARMATURE = 0.2
WIDTH_KP = 4000.0
WIDTH_KV = 60.0

# Reference acceleration per metre of depth and per metre per second of speed.
TIP_SOLREF = (-1500.0, -15.0)
TIP_SOLIMP = "0.5 0.5 0.001"

BODY = "gripper"
FINGERS = ("finger_left", "finger_right")
PAD_FACE_RELIEF_M = 0.0006


def _finger(name: str, side: float) -> str:
    """One finger; its body frame is the TCP frame at full closure, its pad faces the TCP."""
    width, length, thick = pika.FINGER_WIDTH_M / 2, pika.FINGER_LENGTH_M, pika.FINGER_THICKNESS_M
    pad_depth = 0.005
    geoms = [
        # Backing plate, set back from the pad's face.
        element(
            "geom",
            class_="finger_plate",
            size=(width * 0.9, (thick - pad_depth) / 2, (length - 0.004) / 2),
            pos=(0.0, side * (thick + pad_depth) / 2, -(length + 0.004) / 2),
        ),
        # Rubber end.
        element(
            "geom",
            class_="finger_tip",
            name=f"{name}_tip",
            size=(width, (thick - PAD_FACE_RELIEF_M) / 2, 0.004),
            pos=(0.0, side * (thick + PAD_FACE_RELIEF_M) / 2, -0.004),
        ),
    ]
    for centre, half in ((-0.0175, 0.0135), (-0.045, 0.0135)):
        geoms.append(
            element(
                "geom",
                class_="finger_pad",
                size=(width, pad_depth / 2, half),
                pos=(0.0, side * pad_depth / 2, centre),
            )
        )
    slide = element(
        "joint",
        name=name,
        type="slide",
        axis=(0.0, side, 0.0),
        range=(0.0, pika.STROKE_M / 2),
        damping="5",
        armature=FINGER_ARMATURE,
    )
    # A light solid bar for the mass; geoms of the finger are massless.
    inertial = element(
        "inertial",
        pos=(0.0, side * thick / 2, -length / 2),
        mass=pika.FINGER_MASS_KG,
        diaginertia=(2.0e-5, 2.0e-5, 4.0e-6),
    )
    return element(
        "body", [inertial, slide, *geoms], name=name, pos=(0.0, 0.0, pika.FLANGE_TO_TCP_M), gravcomp="1"
    )


def gripper_body(cameras: str) -> str:
    """The jaw's body, for the flange body; ``cameras`` are camera elements in the TCP frame."""
    geoms = [
        element(
            "geom",
            class_="arm_collision",
            name=f"arm_{c.name}",
            fromto=numbers((*c.p0_m, *c.p1_m)),
            size=numbers((c.radius_m,)),
            material="jaw",
        )
        for c in pika.BODY_CAPSULES
    ]
    lenses = [
        element(
            "geom",
            class_="seen_only",
            type="cylinder",
            # The lens ends behind the optical centre (z = 0.055 in the flange's frame), so it is never in its
            # own view.
            fromto=numbers((0.062, y, 0.04, 0.062, y, 0.052)),
            size=numbers((0.007,)),
            material="lens",
        )
        for y in (-0.015, 0.015)
    ]
    tcp = element(
        "body",
        [element("site", name="tcp", size="0.003", group="4"), cameras],
        name="tcp",
        pos=(0, 0, pika.FLANGE_TO_TCP_M),
    )
    inertial = element(
        "inertial", pos=(0.004, 0.0, 0.06), mass=pika.BODY_MASS_KG, diaginertia=(1.3e-3, 7.0e-4, 1.1e-3)
    )
    return element(
        "body",
        [inertial, *geoms, *lenses, tcp, _finger(FINGERS[0], 1.0), _finger(FINGERS[1], -1.0)],
        name=BODY,
        gravcomp="1",
    )


def tip_pairs(surface: str, friction: float) -> str:
    """Contacts of the rubber ends with a fixed surface.

    The engine scales contact stiffness with the masses that meet; between the whole arm (some 30 kg as the
    tip feels it) and the table that would be as hard as steel. Here the rubber gives about 15 kN/m, as a
    fingertip does, which is what lets a careful approach end as a contact and not as a crash.
    """
    return "".join(
        element(
            "pair",
            geom1=surface,
            geom2=f"{name}_tip",
            condim="4",
            friction=(friction, friction, 0.02, 0.001, 0.001),
            solref=TIP_SOLREF,
            solimp=TIP_SOLIMP,
        )
        for name in FINGERS
    )


def gripper_excludes() -> str:
    pairs = [(BODY, FINGERS[0]), (BODY, FINGERS[1]), FINGERS]
    return "".join(element("exclude", body1=a, body2=b) for a, b in pairs)


def gripper_coupling() -> str:
    joints = "".join(element("joint", joint=name, coef="1") for name in FINGERS)
    tendon = element("tendon", [element("fixed", [joints], name="width")])
    equality = element(
        "equality",
        [
            element(
                "joint",
                joint1=FINGERS[0],
                joint2=FINGERS[1],
                polycoef="0 1 0 0 0",
                solref="0.004 1",
                solimp="0.95 0.99 0.001",
            )
        ],
    )
    return tendon + equality


def gripper_actuator() -> str:
    return element(
        "position",
        name="width",
        tendon="width",
        kp=WIDTH_KP,
        kv=WIDTH_KV,
        ctrlrange=(-0.02, pika.STROKE_M),
        forcerange=(-pika.DEFAULT_FORCE_N, pika.DEFAULT_FORCE_N),
    )
