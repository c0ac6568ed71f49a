from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from . import task_r1
from .capabilities import ARM
from .items import GOAL_KINDS, OBJECT_KINDS, Item
from .kinematics import solve_tcp, tcp_pose
from .streams import stream
from .task_r1 import R1Task
from .ur5e import DH_D_M, HOME_Q_RAD

SEEDS = range(150)
RANGES_MM = {
    "box": ((30, 60), (30, 60)),
    "cylinder": ((30, 45), (40, 60)),
    "can": ((50, 66), (80, 110)),
    "ball": ((40, 60), (40, 60)),
    "tray": ((160, 200), (20, 30)),
    "bowl": ((155, 180), (40, 55)),
    "mat": ((120, 160), (3, 3)),
}


@pytest.fixture(scope="module")
def tasks() -> list[R1Task]:
    return [task_r1.draw(seed, "", ARM) for seed in SEEDS]


def test_sizes_and_masses_keep_to_their_ranges(tasks: list[R1Task]) -> None:
    for item in itertools.chain.from_iterable(task.spec.items for task in tasks):
        across, height = RANGES_MM[item.kind]
        assert (
            across[0] <= item.size_m[0] * 1000 <= across[1]
            and across[0] <= item.size_m[1] * 1000 <= across[1]
        )
        assert height[0] - 1e-9 <= item.size_m[2] * 1000 <= height[1] + 1e-9
        if item.kind in OBJECT_KINDS:
            assert 0.05 <= item.mass_kg <= 0.3
        assert 0.5 <= item.friction <= 1.0


def test_words_name_one_thing(tasks: list[R1Task]) -> None:
    for task in tasks:
        items = task.spec.items
        words = [item.words for item in items]
        assert len(set(words)) == len(words)
        target, goal = items[0], items[1]
        assert (target.role, goal.role) == ("target", "goal")
        assert target.kind in OBJECT_KINDS and goal.kind in GOAL_KINDS
        assert not (target.kind == "ball" and goal.kind == "mat")
        assert target.colour != goal.colour
        onto = "onto" if goal.kind == "mat" else "into"
        assert task.instruction == f"Put the {target.words} {onto} the {goal.words}."
        assert 2 <= len(items) - 2 <= 6


def test_every_kind_of_task_is_drawn(tasks: list[R1Task]) -> None:
    pairs = {(task.spec.items[0].kind, task.spec.items[1].kind) for task in tasks}
    assert len(pairs) == len(OBJECT_KINDS) * len(GOAL_KINDS) - 1
    assert {len(task.spec.items) for task in tasks} == {4, 5, 6, 7, 8}
    same = [
        any(o.colour == t.spec.items[0].colour and o.kind in OBJECT_KINDS for o in t.spec.items[2:])
        for t in tasks
    ]
    assert 0.15 < np.mean(same) < 0.45


def overlap_m(a: Item, b: Item) -> float:
    return math.hypot(a.x_m - b.x_m, a.y_m - b.y_m) - a.footprint_radius_m - b.footprint_radius_m


def test_gaps_let_the_fingers_pass(tasks: list[R1Task]) -> None:
    for task in tasks:
        for a, b in itertools.combinations(task.spec.items, 2):
            assert overlap_m(a, b) >= (0.060 if "can" in (a.kind, b.kind) else 0.035)


def test_places_are_in_the_area_and_reachable(tasks: list[R1Task]) -> None:
    for task in tasks:
        for item in task.spec.items:
            assert -0.30 <= item.x_m <= 0.30 and 0.27 <= item.y_m <= 0.63
            assert abs(item.x_m) + item.footprint_radius_m <= 0.40 + 1e-9
            assert task_r1.reachable(item.x_m, item.y_m)


def test_reach_agrees_with_the_solver() -> None:
    rng = np.random.default_rng(1)
    for x, y in rng.uniform((-0.5, 0.25), (0.5, 0.9), (60, 2)):
        if not task_r1.reachable(x, y):
            continue
        start = np.array(HOME_Q_RAD)
        start[0] = math.atan2(y, x) - math.pi + math.asin(DH_D_M[3] / math.hypot(x, y))
        for z in task_r1.REACH_HEIGHTS_M:
            X = tcp_pose(start)
            X[:3, :3] = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, -1]], dtype=float)
            X[:3, 3] = (x, y, z)
            q = solve_tcp(X, start, 400)
            assert q is not None, (x, y, z)
            assert abs(q[2]) >= task_r1.MIN_ELBOW_RAD - 1e-6


def test_places_out_of_reach_are_refused() -> None:
    assert not task_r1.reachable(0.0, 0.95)
    assert not task_r1.reachable(0.0, 0.1)


def test_a_draw_depends_on_seed_alone() -> None:
    first, again, other = (task_r1.draw(seed, "", ARM) for seed in (17, 17, 18))
    assert first.spec.items == again.spec.items and first.spec.lighting == again.spec.lighting
    for a, b in zip(first.spec.textures, again.spec.textures, strict=True):
        assert a.name == b.name and a.pixels.tobytes() == b.pixels.tobytes()
    assert all(
        np.array_equal(a.X_parent_left, b.X_parent_left)
        for a, b in zip(first.spec.pairs, again.spec.pairs, strict=True)
    )
    assert first.spec.items != other.spec.items and first.spec.lighting != other.spec.lighting


def test_streams_do_not_disturb_each_other() -> None:
    a = stream(3, "layout").random(5)
    stream(3, "light").random(100)
    assert np.array_equal(a, stream(3, "layout").random(5))
    assert not np.array_equal(a, stream(3, "light").random(5))
    assert not np.array_equal(a, stream(4, "layout").random(5))


def test_rejections_are_counted_by_reason(tasks: list[R1Task]) -> None:
    assert {key for task in tasks for key in task.rejected} == {"overlap", "reach"}
    assert sum(task.rejected["overlap"] for task in tasks) > 0


def test_camera_jitter_is_bounded_and_rigid(tasks: list[R1Task]) -> None:
    from .cameras import JITTER_M, JITTER_RAD, nominal_pairs

    for task in tasks[:30]:
        for moved, nominal in zip(task.spec.pairs, nominal_pairs(ARM), strict=True):
            shift = moved.X_parent_left[:3, 3] - nominal.X_parent_left[:3, 3]
            R = nominal.X_parent_left[:3, :3].T @ moved.X_parent_left[:3, :3]
            angle = math.acos(min(1.0, (np.trace(R) - 1) / 2))
            assert np.abs(shift).max() <= JITTER_M and 0 < angle <= JITTER_RAD * math.sqrt(3)
            assert np.allclose(R @ R.T, np.eye(3), atol=1e-12)


def test_colours_can_be_told_by_hue() -> None:
    import colorsys

    from .colours import COLOURS

    hues = {name: colorsys.rgb_to_hsv(*rgb)[0] * 360 for name, rgb in COLOURS.items()}
    for a, b in itertools.combinations(hues.values(), 2):
        assert min(abs(a - b), 360 - abs(a - b)) >= 25
    assert all(colorsys.rgb_to_hsv(*rgb)[1] > 0.7 for rgb in COLOURS.values())
