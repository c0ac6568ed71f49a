"""Decides whether an R1 episode succeeded, from the true state.

Success needs all of:

| predicate | measure | holds when |
| --- | --- | --- |
| target_inside_goal | least distance [m] from the footprint to the goal's edge, inwards | >= 0 |
| target_supported_by_goal | number of contacts between target and goal | >= 1 |
| target_low_in_goal | height [m] of the target's lowest point over the goal's floor | <= 0.015 (mat: 0.004) |
| goal_upright | tilt [rad] of the goal | <= 0.10 |
| target_released | number of contacts between target and jaw | <= 0 |
| target_at_rest | speed [m/s]: the larger of linear speed and angular speed times half the size | <= 0.01 |

The edge is that of the mat's top, the tray's inner walls, or the bowl's inner rim. The footprint is the
target's projection on the ground as it lies; in a bowl, whose walls lean outwards so that things lean on
them, only the part of the target below the rim counts.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..base import Evaluation, Predicate
from .items import BOWL_FLOOR_M, GOAL_KINDS, TRAY_FLOOR_M, Item, bowl_radii_m, tray_interior_half_m

F64 = NDArray[np.float64]

MAX_FLOOR_GAP_M = 0.015
MAX_MAT_GAP_M = 0.004
MAX_TILT_RAD = 0.10
REST_SPEED_M_S = 0.01
MOVED_M = 0.02
LIFTED_M = 0.03
NEAR_GOAL_M = 0.10


@dataclass(frozen=True)
class BodyView:
    """True pose and speed of one item, as judged."""

    item: Item
    position_m: F64
    R: F64
    speed_m_s: float


def rim_points(item: Item) -> F64:
    """Points (n, 3) in the item's frame whose hull is the item (a ball gives its centre: see the radius)."""
    x, y, z = (v / 2 for v in item.size_m)
    if item.kind == "box":
        return np.array([(sx * x, sy * y, sz * z) for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)])
    if item.kind == "ball":
        return np.zeros((1, 3))
    angles = np.arange(32) * (2 * math.pi / 32)
    ring = np.column_stack([x * np.cos(angles), x * np.sin(angles)])
    return np.vstack([np.column_stack([ring, np.full(32, s * z)]) for s in (-1.0, 1.0)])


def _clipped_below(points: F64, z_max: float) -> F64:
    """Hull points at or below z_max: those below, and where lines between any two points cross it."""
    below, above = points[points[:, 2] <= z_max], points[points[:, 2] > z_max]
    if len(above) == 0 or len(below) == 0:
        return below
    a, b = np.repeat(below, len(above), axis=0), np.tile(above, (len(below), 1))
    u = ((z_max - a[:, 2]) / (b[:, 2] - a[:, 2]))[:, None]
    return np.vstack([below, a + u * (b - a)])


def inside_margin_m(target: BodyView, goal: BodyView) -> tuple[float, float]:
    """(least inward distance of the footprint from the goal's edge, lowest point over its floor) [m]."""
    radius = target.item.size_m[0] / 2 if target.item.kind == "ball" else 0.0
    world = target.position_m + rim_points(target.item) @ target.R.T
    local = (world - goal.position_m) @ goal.R
    kind = goal.item.kind
    floor = {"mat": goal.item.size_m[2], "tray": TRAY_FLOOR_M, "bowl": BOWL_FLOOR_M}[kind]
    low = float(local[:, 2].min()) - radius - floor
    if kind == "bowl":
        part = _clipped_below(local, goal.item.size_m[2] + radius)
        rim = bowl_radii_m(goal.item)[1]
        if len(part) == 0:
            return -math.inf, low
        return rim - radius - float(np.max(np.hypot(part[:, 0], part[:, 1]))), low
    half = goal.item.size_m[0] / 2 if kind == "mat" else tray_interior_half_m(goal.item)
    return half - radius - float(np.max(np.abs(local[:, :2]))), low


@dataclass
class History:
    """What happened since the episode began, as far as failures are told apart by it."""

    start_positions_m: dict[str, tuple[float, float, float]]
    highest_target_m: float = 0.0

    def digest(self, into: hashlib._Hash) -> None:
        into.update(repr((sorted(self.start_positions_m.items()), self.highest_target_m)).encode())


def view(model: mujoco.MjModel, data: mujoco.MjData, item: Item) -> BodyView:
    body = model.body(item.body).id
    speed = 0.0
    if item.free:
        dof = int(model.body_dofadr[body])
        linear, angular = data.qvel[dof : dof + 3], data.qvel[dof + 3 : dof + 6]
        speed = max(float(np.linalg.norm(linear)), float(np.linalg.norm(angular)) * max(item.size_m) / 2)
    return BodyView(item, data.xpos[body].copy(), data.xmat[body].reshape(3, 3).copy(), speed)


def contact_count(
    data: mujoco.MjData, geom_body: NDArray[np.int32], first: set[int], second: set[int]
) -> int:
    count = 0
    for i in range(data.ncon):
        contact = data.contact[i]
        a, b = int(geom_body[contact.geom1]), int(geom_body[contact.geom2])
        if contact.dist < 0 and ((a in first and b in second) or (a in second and b in first)):
            count += 1
    return count


def evaluate(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    items: tuple[Item, ...],
    target_body: str,
    goal_body: str,
    jaw_bodies: set[int],
    history: History,
) -> Evaluation:
    """``data`` must hold positions, velocities and contacts of the present state."""
    by_name = {item.body: item for item in items}
    if target_body not in by_name or goal_body not in by_name:
        return Evaluation(False, [Predicate("target_exists", False, 0.0, "", 1.0)], "no_target")
    target, goal = view(model, data, by_name[target_body]), view(model, data, by_name[goal_body])
    target_id, goal_id = {model.body(target_body).id}, {model.body(goal_body).id}
    margin, low = inside_margin_m(target, goal)
    low_limit = MAX_MAT_GAP_M if goal.item.kind == "mat" else MAX_FLOOR_GAP_M
    supports = contact_count(data, model.geom_bodyid, target_id, goal_id)
    held = contact_count(data, model.geom_bodyid, target_id, jaw_bodies)
    tilt = math.acos(min(1.0, max(-1.0, float(goal.R[2, 2]))))
    predicates = [
        Predicate("target_inside_goal", margin >= 0.0, margin, "m", 0.0),
        Predicate("target_supported_by_goal", supports >= 1, float(supports), "contacts", 1.0),
        Predicate("target_low_in_goal", low <= low_limit, low, "m", low_limit),
        Predicate("goal_upright", tilt <= MAX_TILT_RAD, tilt, "rad", MAX_TILT_RAD),
        Predicate("target_released", held == 0, float(held), "contacts", 0.0),
        Predicate(
            "target_at_rest", target.speed_m_s <= REST_SPEED_M_S, target.speed_m_s, "m/s", REST_SPEED_M_S
        ),
    ]
    success = all(p.holds for p in predicates)
    kind = (
        ""
        if success
        else _failure(model, data, by_name, target, goal, {p.name: p.holds for p in predicates}, history)
    )
    return Evaluation(success, predicates, kind)


def _failure(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    items: dict[str, Item],
    target: BodyView,
    goal: BodyView,
    holds: dict[str, bool],
    history: History,
) -> str:
    if not holds["target_released"]:
        return "not_released"
    if target.position_m[2] < -0.05:
        return "off_table"
    if not holds["target_at_rest"]:
        return "not_at_rest"
    for other in items.values():
        if other.body in (target.item.body, goal.item.body) or other.kind in GOAL_KINDS:
            continue
        if inside_margin_m(view(model, data, other), goal)[0] > 0:
            return "wrong_object"
    start = np.array(history.start_positions_m[target.item.body])
    lifted = history.highest_target_m - start[2] > LIFTED_M
    if not lifted and float(np.linalg.norm(target.position_m - start)) < MOVED_M:
        return "not_grasped"
    if not holds["goal_upright"]:
        return "goal_upset"
    for other in items.values():
        if other.kind in GOAL_KINDS and other.body != goal.item.body:
            margin, low = inside_margin_m(target, view(model, data, other))
            if margin > 0 and low < MAX_FLOOR_GAP_M:
                return "wrong_place"
    distance = float(np.linalg.norm((target.position_m - goal.position_m)[:2]))
    near = distance < goal.item.footprint_radius_m + NEAR_GOAL_M
    return "wrong_place" if near or not lifted else "dropped"
