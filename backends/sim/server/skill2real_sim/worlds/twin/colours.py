"""Named colours of objects: saturated hues far apart, so that a name still fits under another light.

Textures and light scale brightness and hardly touch hue (a lamp's tint is at most 3 % per channel), so a
colour is told by hue: red 0, orange 27, yellow 54, green 130, blue 218, purple 283 degrees.
"""

from __future__ import annotations

COLOURS: dict[str, tuple[float, float, float]] = {
    "red": (0.86, 0.07, 0.07),
    "orange": (0.98, 0.47, 0.04),
    "yellow": (0.96, 0.87, 0.07),
    "green": (0.08, 0.62, 0.17),
    "blue": (0.09, 0.33, 0.88),
    "purple": (0.55, 0.14, 0.78),
}

COLOUR_NAMES = tuple(COLOURS)
