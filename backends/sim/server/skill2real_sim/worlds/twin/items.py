"""What stands on the table: objects that can be gripped, and things to put them in or on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

OBJECT_KINDS = ("box", "cylinder", "can", "ball")
GOAL_KINDS = ("tray", "bowl", "mat")

TRAY_WALL_M = 0.004
TRAY_FLOOR_M = 0.003
BOWL_WALL_M = 0.004
BOWL_FLOOR_M = 0.004
BOWL_FOOT_INSET_M = 0.020
BOWL_SEGMENTS = 16


@dataclass(frozen=True)
class Item:
    """One thing of the scene.

    ``size_m`` is the full extent along x, y, z of its body's frame. The frame's origin is the middle of an
    object, and the middle of the underside of a tray, bowl or mat; z is up. Mats are glued to the table,
    everything else is a free body.
    """

    body: str
    kind: str
    colour: str
    size_m: tuple[float, float, float]
    mass_kg: float
    friction: float
    x_m: float
    y_m: float
    yaw_rad: float
    role: str

    @property
    def free(self) -> bool:
        return self.kind != "mat"

    @property
    def words(self) -> str:
        return f"{self.colour} {self.kind}"

    @property
    def round(self) -> bool:
        return self.kind in ("cylinder", "can", "ball", "bowl")

    @property
    def footprint_radius_m(self) -> float:
        """Radius of the circle about the origin that holds the footprint."""
        return self.size_m[0] / 2 if self.round else math.hypot(self.size_m[0], self.size_m[1]) / 2

    @property
    def origin_height_m(self) -> float:
        """Height of the body's origin above its lowest point at rest."""
        return self.size_m[2] / 2 if self.kind in OBJECT_KINDS else 0.0


def tray_interior_half_m(item: Item) -> float:
    return item.size_m[0] / 2 - TRAY_WALL_M


def bowl_radii_m(item: Item) -> tuple[float, float]:
    """Inner radii (at the floor, at the rim)."""
    rim = item.size_m[0] / 2 - BOWL_WALL_M
    return rim - BOWL_FOOT_INSET_M, rim
