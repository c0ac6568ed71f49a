"""The room as MJCF: floor, pedestal, table, lamps."""

from __future__ import annotations

from dataclasses import dataclass

from .mjcf_text import element

# The table top is z = 0, the plane that the arm's base stands on; it runs from behind the base to past the
# work area.
TABLE_Z_M = 0.0
TABLE_MIN_XY_M = (-0.70, -0.25)
TABLE_MAX_XY_M = (0.70, 0.95)
TABLE_THICKNESS_M = 0.04
FLOOR_Z_M = -0.75


@dataclass(frozen=True)
class Lighting:
    """A directional lamp, a weaker second one, and light from everywhere; intensities 0 to 1 per channel."""

    key_direction: tuple[float, float, float]
    key_rgb: tuple[float, float, float]
    fill_direction: tuple[float, float, float]
    fill_rgb: tuple[float, float, float]
    ambient_rgb: tuple[float, float, float]


def room_geoms(table_friction: float) -> str:
    (x0, y0), (x1, y1) = TABLE_MIN_XY_M, TABLE_MAX_XY_M
    half = ((x1 - x0) / 2, (y1 - y0) / 2, TABLE_THICKNESS_M / 2)
    centre = ((x0 + x1) / 2, (y0 + y1) / 2, TABLE_Z_M - TABLE_THICKNESS_M / 2)
    parts = [
        element(
            "geom",
            name="floor",
            type="plane",
            size=(3.0, 3.0, 0.1),
            pos=(0, 0, FLOOR_Z_M),
            material="floor",
            friction="0.8 0.01 0.001",
        ),
        element(
            "geom",
            name="table",
            class_="item",
            type="box",
            size=half,
            pos=centre,
            material="table",
            friction=(table_friction, 0.005, 0.0005),
        ),
    ]
    for sx in (-1, 1):
        for sy in (-1, 1):
            leg = (
                centre[0] + sx * (half[0] - 0.06),
                centre[1] + sy * (half[1] - 0.06),
                (FLOOR_Z_M - TABLE_THICKNESS_M) / 2,
            )
            size = (0.03, 0.03, (-TABLE_THICKNESS_M - FLOOR_Z_M) / 2)
            parts.append(element("geom", class_="seen_only", type="box", size=size, pos=leg, material="leg"))
    return "".join(parts)


def room_lights(lighting: Lighting) -> str:
    def lamp(name: str, direction: tuple[float, float, float], rgb: tuple[float, float, float]) -> str:
        return element(
            "light",
            name=name,
            type="directional",
            pos=tuple(-2.0 * v for v in direction),
            dir=direction,
            diffuse=rgb,
            ambient="0 0 0",
            specular="0.15 0.15 0.15",
            castshadow="true" if name == "key" else "false",
        )

    return lamp("key", lighting.key_direction, lighting.key_rgb) + lamp(
        "fill", lighting.fill_direction, lighting.fill_rgb
    )
