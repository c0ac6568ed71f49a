"""Task family R1: put one named object into a named tray or bowl, or onto a named mat.

Everything is drawn from the seed, in named streams (streams.py), uniformly unless said otherwise:

| what | range |
| --- | --- |
| target | box, cylinder, can or ball |
| goal | tray, bowl or mat; no mat for a ball; never in the target's colour |
| others | 2 to 6; with probability 0.4 one of them is a tray, bowl or mat |
| words | no two things share both colour and kind |
| same colour | with probability 0.3 one other object has the target's colour, else none has |
| box | edges 30-60 mm each |
| cylinder | diameter 30-45 mm, height 40-60 mm |
| can | diameter 50-66 mm, height 80-110 mm |
| ball | diameter 40-60 mm |
| mass of an object | 50-300 g |
| tray | square, side 160-200 mm, height 20-30 mm, 300-600 g |
| bowl | diameter 155-180 mm, height 40-55 mm, 300-600 g, walls lean out by 20 mm |
| mat | square, side 120-160 mm, 3 mm, glued to the table |
| friction | objects and table 0.5-1.0, finger pads 0.8-1.1 |
| place | x -0.30 to 0.30, y 0.27 to 0.63 m; yaw over the full turn |
| kept clear | nothing reaches beyond x -0.40 to 0.40, y 0.15 to 0.74 m |
| gap | 35 mm between footprint circles, 60 mm where one is a can: fingers and jaw pass |
| occlusion | gaps keep every top free in the top-down view; in the scene view things may hide others |
| reach | TCP straight down 10 to 250 mm over the place, elbow bent by 15 degrees or more |
| light | key lamp from any side, 50-75 degrees high; levels of key, fill, ambient; tints to 3 % |
| table | grey to beige |
| cameras | see cameras.py; image noise of 1.2 grey levels (normal) |

Trays, bowls and mats among the others take any colour.

A layout draw is rejected only for "overlap" (the gap) or "reach", and every rejection is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import mjcf_table, pika, textures, ur5e
from .cameras import jittered_pairs, nominal_pairs
from .colours import COLOUR_NAMES
from .items import GOAL_KINDS, OBJECT_KINDS, Item
from .mjcf_scene import SceneSpec
from .streams import stream

OTHERS = (2, 6)
SAME_COLOUR_PROBABILITY = 0.3
OTHER_GOAL_PROBABILITY = 0.4
X_RANGE_M = (-0.30, 0.30)
Y_RANGE_M = (0.27, 0.63)
WITHIN_X_M = 0.40
WITHIN_Y_M = (0.15, 0.74)
GAP_M = 0.035
GAP_CAN_M = 0.060
TRIES_PER_ITEM = 200
REACH_HEIGHTS_M = (0.01, 0.25)
MIN_ELBOW_RAD = math.radians(15)
NOISE_SIGMA_LEVELS = 1.2
VARIANTS = ("", "empty_table", "no_noise")


@dataclass(frozen=True)
class R1Task:
    """One drawn episode: the scene to compile, the words, and which items matter."""

    spec: SceneSpec
    instruction: str
    target: str
    goal: str
    noise_sigma_levels: float
    rejected: dict[str, int]


@dataclass
class _Kind:
    kind: str
    colour: str
    role: str


def instruction_for(target: Item, goal: Item) -> str:
    preposition = "onto" if goal.kind == "mat" else "into"
    return f"Put the {target.words} {preposition} the {goal.words}."


def _choose(rng: np.random.Generator, options: list[str] | tuple[str, ...]) -> str:
    return options[int(rng.integers(len(options)))]


def _draw_kinds(rng: np.random.Generator) -> list[_Kind]:
    target = _Kind(_choose(rng, OBJECT_KINDS), _choose(rng, COLOUR_NAMES), "target")
    goal_kinds = [k for k in GOAL_KINDS if not (k == "mat" and target.kind == "ball")]
    goal = _Kind(
        _choose(rng, goal_kinds), _choose(rng, [c for c in COLOUR_NAMES if c != target.colour]), "goal"
    )
    chosen = [target, goal]
    count = int(rng.integers(OTHERS[0], OTHERS[1] + 1))
    other_goal = bool(rng.random() < OTHER_GOAL_PROBABILITY)
    same_colour = bool(rng.random() < SAME_COLOUR_PROBABILITY)
    for n in range(count):
        is_goal = other_goal and n == 0
        in_target_colour = same_colour and n == count - 1 and not (is_goal and count == 1)
        while True:
            kind = _choose(rng, GOAL_KINDS if is_goal else OBJECT_KINDS)
            colours = (
                (target.colour,)
                if in_target_colour
                else tuple(c for c in COLOUR_NAMES if is_goal or c != target.colour)
            )
            colour = _choose(rng, colours)
            if all((k.kind, k.colour) != (kind, colour) for k in chosen):
                break
        chosen.append(_Kind(kind, colour, "other"))
    return chosen


def _draw_size(rng: np.random.Generator, kind: str) -> tuple[float, float, float]:
    def mm(low: float, high: float) -> float:
        return float(rng.uniform(low, high)) / 1000

    if kind == "box":
        return mm(30, 60), mm(30, 60), mm(30, 60)
    if kind == "mat":
        side = mm(120, 160)
        return side, side, 0.003
    across, height = {
        "cylinder": (mm(30, 45), mm(40, 60)),
        "can": (mm(50, 66), mm(80, 110)),
        "ball": (mm(40, 60), 0.0),
        "tray": (mm(160, 200), mm(20, 30)),
        "bowl": (mm(155, 180), mm(40, 55)),
    }[kind]
    return across, across, across if kind == "ball" else height


def _draw_item(rng: np.random.Generator, body: str, kind: _Kind, x: float, y: float, yaw: float) -> Item:
    if kind.kind == "mat":
        mass = 0.0
    elif kind.kind in GOAL_KINDS:
        mass = float(rng.uniform(0.3, 0.6))
    else:
        mass = float(rng.uniform(0.05, 0.3))
    size = _draw_size(rng, kind.kind)
    return Item(body, kind.kind, kind.colour, size, mass, float(rng.uniform(0.5, 1.0)), x, y, yaw, kind.role)


def reachable(x_m: float, y_m: float) -> bool:
    """Whether the TCP can point down over (x, y) at REACH_HEIGHTS_M with the elbow bent by MIN_ELBOW_RAD.

    With the tool down, joint 4 lies in the vertical plane of the forearm, d5 nearer to the base than the TCP
    and flange-to-TCP plus d6 above it; d4 stands across that plane.
    """
    a2, a3, d4, d5, d6 = -ur5e.DH_A_M[1], -ur5e.DH_A_M[2], ur5e.DH_D_M[3], ur5e.DH_D_M[4], ur5e.DH_D_M[5]
    across = x_m * x_m + y_m * y_m - d4 * d4
    if across <= 0:
        return False
    horizontal = math.sqrt(across) - d5
    longest = math.sqrt(a2 * a2 + a3 * a3 + 2 * a2 * a3 * math.cos(MIN_ELBOW_RAD))
    for z in REACH_HEIGHTS_M:
        vertical = z + mjcf_table.TABLE_Z_M + pika.FLANGE_TO_TCP_M + d6 - ur5e.DH_D_M[0]
        if horizontal < 0.05 or math.hypot(horizontal, vertical) > longest:
            return False
    return True


def gap_m(a: Item, b: Item) -> float:
    return GAP_CAN_M if "can" in (a.kind, b.kind) else GAP_M


def _place(rng: np.random.Generator, items: list[Item], rejected: dict[str, int]) -> list[Item]:
    """Draws places for all items, largest first; a dead end draws the whole layout again."""
    order = sorted(range(len(items)), key=lambda i: -items[i].footprint_radius_m)
    while True:
        placed: dict[int, Item] = {}
        for i in order:
            item = items[i]
            r = item.footprint_radius_m
            low = (max(X_RANGE_M[0], r - WITHIN_X_M), max(Y_RANGE_M[0], WITHIN_Y_M[0] + r))
            high = (min(X_RANGE_M[1], WITHIN_X_M - r), min(Y_RANGE_M[1], WITHIN_Y_M[1] - r))
            for _ in range(TRIES_PER_ITEM):
                x, y = (float(v) for v in rng.uniform(low, high))
                yaw = float(rng.uniform(-math.pi, math.pi))
                if not reachable(x, y):
                    rejected["reach"] += 1
                    continue
                near = any(
                    math.hypot(x - p.x_m, y - p.y_m) < r + p.footprint_radius_m + gap_m(item, p)
                    for p in placed.values()
                )
                if near:
                    rejected["overlap"] += 1
                    continue
                placed[i] = Item(
                    item.body,
                    item.kind,
                    item.colour,
                    item.size_m,
                    item.mass_kg,
                    item.friction,
                    x,
                    y,
                    yaw,
                    item.role,
                )
                break
            else:
                break
        if len(placed) == len(items):
            return [placed[i] for i in range(len(items))]


def _draw_lighting(rng: np.random.Generator) -> mjcf_table.Lighting:
    def tint(level: float) -> tuple[float, float, float]:
        r, g, b = (level * rng.uniform(0.97, 1.03, 3)).tolist()
        return r, g, b

    def direction(azimuth: float, height: float) -> tuple[float, float, float]:
        return -math.cos(height) * math.cos(azimuth), -math.cos(height) * math.sin(azimuth), -math.sin(height)

    azimuth = float(rng.uniform(-math.pi, math.pi))
    height = math.radians(float(rng.uniform(50, 75)))
    key = tint(float(rng.uniform(0.36, 0.52)))
    fill_azimuth = azimuth + math.pi + float(rng.uniform(-0.6, 0.6))
    fill = tint(float(rng.uniform(0.12, 0.20)))
    ambient = tint(float(rng.uniform(0.42, 0.52)))
    return mjcf_table.Lighting(
        direction(azimuth, height), key, direction(fill_azimuth, math.radians(40)), fill, ambient
    )


def draw(seed: int, variant: str, arm: str) -> R1Task:
    """The episode of (seed, variant): same arguments, same scene, on every machine."""
    kinds_rng, item_rng, layout_rng = (stream(seed, name) for name in ("kinds", "items", "layout"))
    kinds = _draw_kinds(kinds_rng)
    unplaced = [_draw_item(item_rng, f"item{n}", kind, 0.0, 0.0, 0.0) for n, kind in enumerate(kinds)]
    rejected = {"overlap": 0, "reach": 0}
    items = _place(layout_rng, unplaced, rejected)
    friction_rng, room_rng = stream(seed, "friction"), stream(seed, "room")
    table_friction, pad_friction = (
        float(friction_rng.uniform(0.5, 1.0)),
        float(friction_rng.uniform(0.8, 1.1)),
    )
    grey = float(room_rng.uniform(0.60, 0.80))
    warm = float(room_rng.uniform(0.0, 0.05))
    shown = [] if variant == "empty_table" else items
    spec = SceneSpec(
        items=tuple(shown),
        pairs=tuple(jittered_pairs(nominal_pairs(arm), stream(seed, "cameras"))),
        lighting=_draw_lighting(stream(seed, "light")),
        textures=tuple(textures.scene_textures(stream(seed, "texture"), [item.body for item in shown])),
        table_friction=table_friction,
        pad_friction=pad_friction,
        table_rgb=(grey + warm, grey, grey - warm),
    )
    return R1Task(
        spec=spec,
        instruction=instruction_for(items[0], items[1]),
        target=items[0].body,
        goal=items[1].body,
        noise_sigma_levels=0.0 if variant == "no_noise" else NOISE_SIGMA_LEVELS,
        rejected=rejected,
    )
