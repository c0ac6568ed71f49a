"""Depth as a stereo sensor measures it, from true depth.

A disparity d = f b / z is found with a normal error that neighbouring pixels share (matching windows
overlap), in steps of 1/32 px; so the error of depth grows with its square: sigma_z = z^2 sigma_d / (f b).
Nothing is measured where the right imager does not see the point (left of near things, and the band at the
left edge), at most pixels beside a jump of disparity, out of range, and at a few pixels of no reason. What is
left beside a jump is four times as noisy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]

SUBPIXEL_STEPS = 32
JUMP_PX = 1.0
JUMP_DROPPED = 0.6
JUMP_NOISE = 4.0
SPECKLE = 0.002
OCCLUSION_SLACK_PX = 0.25


def correlated_noise(rng: np.random.Generator, shape: tuple[int, int]) -> F32:
    """Normal, of unit variance, averaged over 3x3 neighbours."""
    height, width = shape
    raw = rng.standard_normal((height + 2, width + 2), dtype=np.float32)
    rows = raw[:-2] + raw[1:-1] + raw[2:]
    return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / np.float32(3.0)


def occluded(disparity_px: F32) -> NDArray[np.bool_]:
    """Pixels of the left image whose point the right imager does not see."""
    columns = np.arange(disparity_px.shape[1], dtype=np.float32)
    right_column = columns - disparity_px
    nearest = np.minimum.accumulate(right_column[:, ::-1], axis=1)[:, ::-1]
    hidden = right_column < 0
    hidden[:, :-1] |= right_column[:, :-1] > nearest[:, 1:] + OCCLUSION_SLACK_PX
    return hidden


def beside_jumps(disparity_px: F32) -> NDArray[np.bool_]:
    """Pixels on either side of a jump of disparity, two wide along rows and one along columns."""
    beside = np.zeros(disparity_px.shape, dtype=bool)
    across = np.abs(disparity_px[:, 1:] - disparity_px[:, :-1]) > JUMP_PX
    beside[:, 1:] |= across
    beside[:, :-1] |= across
    beside[:, 2:] |= across[:, :-1]
    beside[:, :-2] |= across[:, 1:]
    down = np.abs(disparity_px[1:] - disparity_px[:-1]) > JUMP_PX
    beside[1:] |= down
    beside[:-1] |= down
    return beside


def measure_depth(
    true_z_m: F32,
    focal_times_baseline_px_m: float,
    sigma_px: float,
    range_m: tuple[float, float],
    units_m: float,
    rng: np.random.Generator,
) -> NDArray[np.uint16]:
    """(h, w) in ``units_m``, 0 = not measured, of true depth along the optical axis [m]."""
    disparity = np.float32(focal_times_baseline_px_m) / true_z_m
    lost = occluded(disparity)
    edge = beside_jumps(disparity)
    noise = correlated_noise(rng, disparity.shape)
    noise *= np.float32(sigma_px)
    noise[edge] *= np.float32(JUMP_NOISE)
    measured = np.rint((disparity + noise) * np.float32(SUBPIXEL_STEPS))
    np.maximum(measured, 1.0, out=measured)
    z = np.float32(focal_times_baseline_px_m * SUBPIXEL_STEPS) / measured
    chance = rng.random(disparity.shape, dtype=np.float32)
    lost |= chance < np.float32(SPECKLE)
    lost |= edge & (chance < np.float32(JUMP_DROPPED))
    lost |= (z < np.float32(range_m[0])) | (z > np.float32(range_m[1]))
    counts = np.rint(z / np.float32(units_m))
    lost |= counts > np.float32(65535)
    counts[lost] = 0.0
    return counts.astype(np.uint16)
