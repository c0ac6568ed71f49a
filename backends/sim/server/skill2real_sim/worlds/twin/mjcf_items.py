"""Objects, containers and mats as MJCF."""

from __future__ import annotations

import math

from .items import (
    BOWL_FLOOR_M,
    BOWL_SEGMENTS,
    BOWL_WALL_M,
    OBJECT_KINDS,
    TRAY_FLOOR_M,
    TRAY_WALL_M,
    Item,
    bowl_radii_m,
)
from .mjcf_text import element

# Rolling resistance: a ball let go from a hand's breadth comes to rest within a few centimetres.
BALL_ROLLING_M = 0.0012
TORSION_M = 0.005
ROLLING_M = 0.0002
# Walls start this far above the table, so that only the floor of a container stands on it.
WALL_LIFT_M = 0.002


def material_name(item: Item) -> str:
    return f"mat_{item.body}"


def surface_name(item: Item) -> str:
    """Name of the geom of a mat."""
    return f"{item.body}_surface"


def _geom(item: Item, mass_kg: float, **attributes: object) -> str:
    rolling = BALL_ROLLING_M if item.kind == "ball" else ROLLING_M
    return element(
        "geom",
        class_="item",
        material=material_name(item),
        friction=(item.friction, TORSION_M, rolling),
        condim="6" if item.kind == "ball" else None,
        mass=mass_kg,
        **attributes,
    )


def _object_geoms(item: Item) -> list[str]:
    x, y, z = (v / 2 for v in item.size_m)
    if item.kind == "box":
        return [_geom(item, item.mass_kg, type="box", size=(x, y, z))]
    if item.kind == "ball":
        return [_geom(item, item.mass_kg, type="sphere", size=(x,))]
    return [_geom(item, item.mass_kg, type="cylinder", size=(x, z))]


def _tray_geoms(item: Item) -> list[str]:
    half, height = item.size_m[0] / 2, item.size_m[2]
    wall_height = height - WALL_LIFT_M
    areas = [(2 * half) ** 2 * TRAY_FLOOR_M] + [2 * half * wall_height * TRAY_WALL_M] * 4
    masses = [item.mass_kg * a / sum(areas) for a in areas]
    inner = half - TRAY_WALL_M
    geoms = [
        _geom(
            item,
            masses[0],
            type="box",
            size=(inner, inner, TRAY_FLOOR_M / 2),
            pos=(0.0, 0.0, TRAY_FLOOR_M / 2),
        )
    ]
    at = half - TRAY_WALL_M / 2
    z = WALL_LIFT_M + wall_height / 2
    for n, (dx, dy) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        size = (TRAY_WALL_M / 2, half, wall_height / 2) if dx else (inner, TRAY_WALL_M / 2, wall_height / 2)
        geoms.append(_geom(item, masses[n + 1], type="box", size=size, pos=(dx * at, dy * at, z)))
    return geoms


def _bowl_geoms(item: Item) -> list[str]:
    foot, rim = bowl_radii_m(item)
    height = item.size_m[2]
    rise = height - WALL_LIFT_M
    slope = math.atan2(rim - foot, rise)
    length = math.hypot(rim - foot, rise)
    wall_area = 2 * math.pi * (foot + rim) / 2 * length
    floor_area = math.pi * foot**2
    wall_mass = item.mass_kg * wall_area / (wall_area + floor_area)
    geoms = [
        _geom(
            item,
            item.mass_kg - wall_mass,
            type="cylinder",
            size=(foot + BOWL_WALL_M / 2, BOWL_FLOOR_M / 2),
            pos=(0.0, 0.0, BOWL_FLOOR_M / 2),
        )
    ]
    middle = (foot + rim) / 2 + BOWL_WALL_M / 2 * math.cos(slope)
    width = (rim + BOWL_WALL_M) * math.tan(math.pi / BOWL_SEGMENTS)
    for n in range(BOWL_SEGMENTS):
        angle = 2 * math.pi * n / BOWL_SEGMENTS
        # The wall leans outwards: turn about z to its side, then tip its top away from the axis.
        cz, sz, ct, st = math.cos(angle / 2), math.sin(angle / 2), math.cos(slope / 2), math.sin(slope / 2)
        geoms.append(
            _geom(
                item,
                wall_mass / BOWL_SEGMENTS,
                type="box",
                size=(BOWL_WALL_M / 2, width, length / 2),
                pos=(middle * math.cos(angle), middle * math.sin(angle), WALL_LIFT_M + rise / 2),
                quat=(cz * ct, -sz * st, cz * st, sz * ct),
            )
        )
    return geoms


def item_body(item: Item) -> str:
    yaw = (math.cos(item.yaw_rad / 2), 0.0, 0.0, math.sin(item.yaw_rad / 2))
    if item.kind == "mat":
        x, y, z = (v / 2 for v in item.size_m)
        # A mat is glued down: its upper side is the surface, it has no mass of its own.
        geom = _geom(item, 0.0, name=surface_name(item), type="box", size=(x, y, z), pos=(0.0, 0.0, z))
        return element("body", [geom], name=item.body, pos=(item.x_m, item.y_m, 0.0), quat=yaw)
    if item.kind in OBJECT_KINDS:
        geoms = _object_geoms(item)
    else:
        geoms = _tray_geoms(item) if item.kind == "tray" else _bowl_geoms(item)
    children = [element("freejoint", name=f"free_{item.body}"), *geoms]
    return element("body", children, name=item.body, pos=(item.x_m, item.y_m, item.origin_height_m), quat=yaw)
