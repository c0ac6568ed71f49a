"""The six cameras: three parallel stereo pairs, where they stand, and how much a seed moves them.

| pair | parent | left camera (nominal), in its parent | baseline | focal |
| --- | --- | --- | --- | --- |
| topdown | world | (-0.05, 0.45, 0.85) straight down, image up = +y | 100 mm | 572 px |
| scene | world | (0.66, 1.20, 0.72) towards (0, 0.36, 0.13) | 100 mm | 540 px |
| wrist | tcp | (0.062, 0.015, -0.115) towards (0, 0.015, 0.06) | 30 mm | 420 px |

The top-down pair sees the whole work area at 1.49 mm a pixel (at table height), the scene pair table and arm
from the far right, the wrist pair what the jaw is about to close on.

A seed displaces and turns each pair as one rigid rig (JITTER_M, JITTER_RAD, uniform per axis); the reported
extrinsics are those of the displaced rig, as a calibration would give them. Pairs stay rectified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .conventions import pose_matrix, principal_point_px

F64 = NDArray[np.float64]

WIDTH_PX = 640
HEIGHT_PX = 480
JITTER_M = 0.006
JITTER_RAD = math.radians(0.6)


@dataclass(frozen=True)
class StereoPair:
    """A rectified pair: X_parent_camera (optical) of the left camera; the right is baseline_m along +x."""

    role: str
    parent: str
    baseline_m: float
    focal_px: float
    X_parent_left: F64

    @property
    def left(self) -> str:
        return f"{self.role}_left"

    @property
    def right(self) -> str:
        return f"{self.role}_right"

    def cameras(self) -> list[CameraModel]:
        right = self.X_parent_left.copy()
        right[:3, 3] += self.baseline_m * right[:3, 0]
        return [
            CameraModel(self.left, self.parent, self.focal_px, self.X_parent_left),
            CameraModel(self.right, self.parent, self.focal_px, right),
        ]


@dataclass(frozen=True)
class CameraModel:
    name: str
    parent: str
    focal_px: float
    X_parent_camera: F64

    @property
    def principal_px(self) -> tuple[float, float]:
        return principal_point_px(WIDTH_PX, HEIGHT_PX)


def look_at(eye_m: F64, target_m: F64, up: F64) -> F64:
    """Optical X_parent_camera at eye_m: +z meets target_m, -y is as near to ``up`` as can be."""
    z = target_m - eye_m
    z = z / np.linalg.norm(z)
    x = np.cross(z, up)
    x = x / np.linalg.norm(x)
    return pose_matrix(eye_m, np.column_stack([x, np.cross(z, x), z]))


def _small_rotation(rotvec: F64) -> F64:
    angle = float(np.linalg.norm(rotvec))
    if angle < 1e-12:
        return np.eye(3)
    k = rotvec / angle
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * (K @ K)


def nominal_pairs(arm: str) -> list[StereoPair]:
    up = np.array([0.0, 0.0, 1.0])
    topdown = look_at(np.array([-0.05, 0.45, 0.85]), np.array([-0.05, 0.45, 0.0]), np.array([0.0, 1.0, 0.0]))
    scene = look_at(np.array([0.66, 1.20, 0.72]), np.array([0.0, 0.36, 0.13]), up)
    # Image up is -x of the TCP: with the arm at home that is away from the base, as in the top-down image.
    wrist = look_at(
        np.array([0.062, 0.015, -0.115]), np.array([0.0, 0.015, 0.06]), np.array([-1.0, 0.0, 0.0])
    )
    return [
        StereoPair("topdown", "world", 0.10, 572.0, topdown),
        StereoPair("scene", "world", 0.10, 540.0, scene),
        StereoPair("wrist", f"tcp:{arm}", 0.03, 420.0, wrist),
    ]


def jittered_pairs(pairs: list[StereoPair], rng: np.random.Generator) -> list[StereoPair]:
    """Each pair moved as one rig, about its left camera."""
    moved = []
    for pair in pairs:
        X = pair.X_parent_left.copy()
        X[:3, 3] += rng.uniform(-JITTER_M, JITTER_M, 3)
        X[:3, :3] = X[:3, :3] @ _small_rotation(rng.uniform(-JITTER_RAD, JITTER_RAD, 3))
        moved.append(StereoPair(pair.role, pair.parent, pair.baseline_m, pair.focal_px, X))
    return moved
