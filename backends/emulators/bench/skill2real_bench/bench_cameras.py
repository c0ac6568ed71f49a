"""The two cameras of the bench as its maker believes them to be: models, streams and nominal mounts.

| camera | like | mount | streams |
| --- | --- | --- | --- |
| wrist | D405 | tcp, beside the jaw, 8 degrees off the fingers | colour = left imager, depth in 0.1 mm |
| scene | D435 | world, at the far right | own colour imager, distorted; depth in 1 mm; infrared pair |

With the arm at ``LOOK_Q_RAD`` the wrist camera is 0.60 m over the middle of the work area, looks straight
down with image up = +y, and sees the whole of it beside no finger. Every image is 640x480.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.twin.cameras import HEIGHT_PX, WIDTH_PX, look_at

F64 = NDArray[np.float64]

LOOK_Q_RAD = (-1.8647, -1.5352, 1.1116, -1.2809, -1.5305, 1.2796)

_NO_DISTORTION = (0.0,) * 5


@dataclass(frozen=True)
class Intrinsics:
    """Pinhole with coefficients k1 k2 p1 p2 k3 of Brown and Conrady; a pixel's centre is an integer."""

    fx_px: float
    fy_px: float
    cx_px: float
    cy_px: float
    coeffs: tuple[float, ...] = _NO_DISTORTION

    @property
    def distorted(self) -> bool:
        return any(self.coeffs)

    def message(self) -> dict[str, object]:
        return {
            "fx": self.fx_px,
            "fy": self.fy_px,
            "cx": self.cx_px,
            "cy": self.cy_px,
            "model": "brown_conrady",
            "coeffs": list(self.coeffs),
        }


@dataclass(frozen=True)
class BenchCamera:
    """One camera. ``X_parent_camera`` is its colour imager's nominal optical frame in its mount."""

    name: str
    product: str
    serial: str
    mount: str  # "tcp" or "world"
    X_parent_camera: F64
    color: Intrinsics
    depth: Intrinsics
    # Optical frame of the left imager, which depth is of, in the colour imager's.
    X_color_depth: F64
    baseline_m: float
    units_m: float
    near_m: float
    far_m: float
    # How well a disparity is found, one standard deviation.
    disparity_sigma_px: float
    has_infrared: bool

    def describe(self) -> dict[str, object]:
        """What a configuration file of the rig holds about it."""
        return {
            "product": self.product,
            "serial": self.serial,
            "mount": self.mount,
            "X_parent_camera": self.X_parent_camera.ravel().tolist(),
            "width": WIDTH_PX,
            "height": HEIGHT_PX,
            "color": self.color.message(),
            "depth": {**self.depth.message(), "units_m": self.units_m, "baseline_m": self.baseline_m},
            "X_color_depth": self.X_color_depth.ravel().tolist(),
        }


def _translation(x: float, y: float, z: float) -> F64:
    X = np.eye(4)
    X[:3, 3] = (x, y, z)
    return X


_WRIST_LEAN_RAD = math.radians(8)
_WRIST_EYE_M = np.array([0.062, 0.009, -0.115])

WRIST = BenchCamera(
    name="wrist",
    product="D405",
    serial="130322270405",
    mount="tcp",
    X_parent_camera=look_at(
        _WRIST_EYE_M,
        _WRIST_EYE_M + np.array([math.sin(_WRIST_LEAN_RAD), 0.0, math.cos(_WRIST_LEAN_RAD)]),
        np.array([-1.0, 0.0, 0.0]),
    ),
    color=Intrinsics(389.6, 389.6, 322.1, 237.4),
    depth=Intrinsics(389.6, 389.6, 322.1, 237.4),
    X_color_depth=np.eye(4),
    baseline_m=0.018,
    units_m=0.0001,
    near_m=0.05,
    far_m=1.5,
    disparity_sigma_px=0.05,
    has_infrared=False,
)
SCENE = BenchCamera(
    name="scene",
    product="D435",
    serial="819312070435",
    mount="world",
    X_parent_camera=look_at(
        np.array([0.75, 1.31, 0.79]), np.array([0.0, 0.36, 0.13]), np.array([0.0, 0.0, 1.0])
    ),
    color=Intrinsics(612.4, 612.4, 318.6, 241.9, (-0.055, 0.065, 0.0008, -0.0006, -0.02)),
    depth=Intrinsics(391.2, 391.2, 320.9, 238.7),
    # The colour imager sits 15 mm to the right of the left one.
    X_color_depth=_translation(-0.015, 0.0003, -0.0002),
    baseline_m=0.050,
    units_m=0.001,
    near_m=0.20,
    far_m=4.0,
    disparity_sigma_px=0.05,
    has_infrared=True,
)
CAMERAS = (WRIST, SCENE)
CAMERA_NAMES = tuple(camera.name for camera in CAMERAS)


def describe_rig() -> dict[str, object]:
    """What the rig's configuration says: nominal, as everybody but the bench knows it."""
    return {"look_q_rad": list(LOOK_Q_RAD), "cameras": {camera.name: camera.describe() for camera in CAMERAS}}
