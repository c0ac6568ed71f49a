"""A lens that distorts: an ideal picture taken a little wider, resampled to where the lens would have put it.

Distortion of Brown and Conrady (radial k1 k2 k3, tangential p1 p2), coefficients in the order k1 k2 p1 p2 k3,
applied to x/z, y/z as in OpenCV.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .bench_cameras import Intrinsics

F64 = NDArray[np.float64]

_FIXED_POINT_STEPS = 20


def distort(x: F64, y: F64, coeffs: tuple[float, ...]) -> tuple[F64, F64]:
    """Where the lens puts the ideal normalized point (x, y)."""
    k1, k2, p1, p2, k3 = coeffs
    r2 = x * x + y * y
    radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
    return (
        x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x),
        y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y,
    )


def undistort(x: F64, y: F64, coeffs: tuple[float, ...]) -> tuple[F64, F64]:
    """The ideal normalized point that the lens puts at (x, y), by fixed-point iteration."""
    ideal_x, ideal_y = x.copy(), y.copy()
    for _ in range(_FIXED_POINT_STEPS):
        moved_x, moved_y = distort(ideal_x, ideal_y, coeffs)
        ideal_x, ideal_y = ideal_x + (x - moved_x), ideal_y + (y - moved_y)
    return ideal_x, ideal_y


class Lens:
    """Resamples ideal pictures of ``wide`` (no distortion) into those of ``seen``, width x height."""

    def __init__(self, seen: Intrinsics, width: int, height: int, margin_px: int) -> None:
        self.wide = Intrinsics(seen.fx_px, seen.fy_px, seen.cx_px + margin_px, seen.cy_px + margin_px)
        self.width, self.height = width + 2 * margin_px, height + 2 * margin_px
        u, v = np.meshgrid(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
        x, y = undistort((u - seen.cx_px) / seen.fx_px, (v - seen.cy_px) / seen.fy_px, seen.coeffs)
        column = x * seen.fx_px + self.wide.cx_px
        row = y * seen.fy_px + self.wide.cy_px
        if column.min() < 0 or row.min() < 0 or column.max() > self.width - 1 or row.max() > self.height - 1:
            raise ValueError(f"the lens looks past a margin of {margin_px} px")
        left = np.minimum(np.floor(column).astype(np.int32), self.width - 2)
        top = np.minimum(np.floor(row).astype(np.int32), self.height - 2)
        # Weights in 1/256 that sum to 1, so that blending stays in 16-bit integers.
        right = np.rint((column - left) * 256).astype(np.uint32)
        lower = np.rint((row - top) * 256).astype(np.uint32)
        corners = [
            c >> 8 for c in ((256 - right) * (256 - lower), right * (256 - lower), (256 - right) * lower)
        ]
        corners.append(256 - corners[0] - corners[1] - corners[2])
        self._weights = [corner.astype(np.uint16).reshape(-1, 1) for corner in corners]
        first = (top * self.width + left).ravel()
        self._indices = [first, first + 1, first + self.width, first + self.width + 1]
        self._shape = (height, width, 3)

    def apply(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(height, width, 3) as seen through the lens, of an ideal picture of the wide size; bilinear."""
        pixels = picture.reshape(-1, 3)
        blended = np.full((len(self._indices[0]), 3), 128, dtype=np.uint16)
        for index, weight in zip(self._indices, self._weights, strict=True):
            part = pixels.take(index, axis=0).astype(np.uint16)
            part *= weight
            blended += part
        return (blended >> 8).astype(np.uint8).reshape(self._shape)
