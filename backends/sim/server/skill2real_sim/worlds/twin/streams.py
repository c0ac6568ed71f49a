"""Random numbers of a seed, in named streams that do not disturb each other."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray


def stream(seed: int, name: str) -> np.random.Generator:
    """PCG64 of (seed, name): the same on every machine, independent of the other names."""
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(zlib.crc32(name.encode()),)))
    )


# Inverse normal distribution at the middles of 256 equal shares, for noise drawn as bytes.
def _normal_table() -> NDArray[np.float64]:
    from statistics import NormalDist

    unit = NormalDist()
    return np.array([unit.inv_cdf((i + 0.5) / 256) for i in range(256)])


_NORMAL_TABLE = _normal_table()


def image_noise(
    seed: int, camera: int, tick: int, shape: tuple[int, ...], sigma_levels: float
) -> NDArray[np.int8]:
    """Grey-level noise of one exposure: a function of (seed, camera index, control tick) alone.

    Normal with sigma_levels, rounded to whole levels; values beyond 2.9 sigma do not occur (they share 0.4 %
    of the distribution), which is the price of drawing bytes instead of normals.
    """
    key = np.random.SeedSequence(entropy=seed, spawn_key=(zlib.crc32(b"noise"), camera, tick))
    raw = np.random.Generator(np.random.SFC64(key)).bytes(int(np.prod(shape)))
    # Rounding to whole levels adds 1/12 of variance: take it off beforehand.
    sigma = max(sigma_levels**2 - 1 / 12, 0.0) ** 0.5
    levels = np.rint(_NORMAL_TABLE * sigma).astype(np.int8)
    return levels[np.frombuffer(raw, dtype=np.uint8)].reshape(shape)
