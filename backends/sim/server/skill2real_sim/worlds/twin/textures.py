"""Grey marks for every surface, strong enough for stereo to match, that scale brightness and leave hue alone.

All textures are grey; a material's own colour multiplies them. They are drawn with numpy from the seed's
texture stream, so the engine's own random marks (whose generator may differ between builds) are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]


@dataclass(frozen=True)
class Texture:
    """An RGB8 texture: "2d" of (h, w, 3), or "cube" whose one square face is repeated on all six sides."""

    name: str
    kind: str
    pixels: U8


def marks(rng: np.random.Generator, size: int, low: float, high: float, octaves: tuple[int, ...]) -> U8:
    """Square grey image: random blocks of each octave's width in texels, summed and stretched to low … high.

    Blocks rather than smooth noise: edges are what a census transform sees, and blocks keep them at every
    distance.
    """
    total = np.zeros((size, size), dtype=np.float32)
    for block in octaves:
        cells = -(-size // block)
        grid = rng.random((cells, cells), dtype=np.float32)
        shift = rng.integers(0, block, 2) if block > 1 else (0, 0)
        big = grid.repeat(block, axis=0).repeat(block, axis=1)
        big = np.roll(big, (int(shift[0]), int(shift[1])), axis=(0, 1))
        total += big[:size, :size]
    lo, hi = np.quantile(total, [0.02, 0.98])
    unit = np.clip((total - lo) / (hi - lo), 0.0, 1.0)
    grey = ((low + (high - low) * unit) * 255.0).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def scene_textures(rng: np.random.Generator, bodies: list[str]) -> list[Texture]:
    """Textures of the room, the arm, and one for each item body."""
    textures = [
        Texture("tex_table", "2d", marks(rng, 512, 0.45, 1.0, (1, 2, 3, 7))),
        Texture("tex_floor", "2d", marks(rng, 256, 0.4, 1.0, (1, 4, 16))),
        Texture("tex_arm", "cube", marks(rng, 64, 0.6, 1.0, (1, 2, 4))),
    ]
    textures += [Texture(f"tex_{body}", "cube", marks(rng, 32, 0.62, 1.0, (1, 2, 4))) for body in bodies]
    return textures
