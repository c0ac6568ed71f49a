"""The mirror follows, tells gaps that are there, and refuses what is no state."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from skill2real_sim.worlds.twin import task_r1, ur5e
from skill2real_sim.worlds.twin.capabilities import ARM
from skill2real_sim.worlds.twin.kinematics import tcp_pose
from skill2real_sim.worlds.twin.mjcf_scene import compile_scene

from skill2real_mirror.mirror_twin import BadState, LiveState, MirrorTwin, parse_state

HOME = np.array(ur5e.HOME_Q_RAD)


@pytest.fixture(name="twin")
def _twin() -> MirrorTwin:
    return MirrorTwin(compile_scene(task_r1.draw(0, "empty_table", ARM).spec))


def state(
    time_s: float, q_rad: np.ndarray, qd_rad_s: np.ndarray, opening_m: float | None = 0.05
) -> LiveState:
    return LiveState(time_s, q_rad, qd_rad_s, tcp_pose(q_rad), opening_m)


def test_follows_a_moving_arm_within_milliradians(twin: MirrorTwin) -> None:
    for n in range(200):
        t = 0.01 * n
        q, qd = HOME.copy(), np.zeros(6)
        q[5] += 0.3 * (1 - math.cos(2 * t))
        qd[5] = 0.6 * math.sin(2 * t)
        twin.follow(state(t, q, qd), t)
    gap = twin.gap(t)
    assert np.abs(gap.joints_rad).max() < 0.01
    assert gap.tcp_m < 0.005
    assert gap.kinematics_m < 1e-9
    assert twin.taken_over == 1


def test_tells_kinematics_that_differ(twin: MirrorTwin) -> None:
    X = tcp_pose(HOME).copy()
    X[2, 3] += 0.004
    live = LiveState(0.0, HOME, np.zeros(6), X, None)
    for n in range(50):
        twin.follow(live, 0.01 * n)
    gap = twin.gap(0.5)
    assert gap.kinematics_m == pytest.approx(0.004, abs=1e-9)
    assert gap.tcp_m == pytest.approx(0.004, abs=0.001)
    assert gap.opening_m is None


def test_takes_over_an_arm_that_is_elsewhere(twin: MirrorTwin) -> None:
    q = HOME.copy()
    q[0] += 1.0
    twin.follow(state(0.0, HOME, np.zeros(6)), 0.0)
    twin.follow(state(0.01, q, np.zeros(6)), 0.01)
    assert np.abs(twin.gap(0.01).joints_rad).max() < 1e-3
    assert twin.taken_over == 2


def test_drops_what_it_cannot_make_up_for(twin: MirrorTwin) -> None:
    live = state(0.0, HOME, np.zeros(6))
    twin.follow(live, 0.0)
    twin.follow(live, 10.0)
    assert twin.dropped_s == pytest.approx(9.8, abs=0.01)


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"[]",
        b'{"time_s": 1}',
        json.dumps(
            {"time_s": 1, "q_rad": [0] * 5, "qd_rad_s": [0] * 6, "X_world_tcp": [0] * 16, "opening_m": 0}
        ).encode(),
        json.dumps(
            {
                "time_s": 1,
                "q_rad": [math.nan] * 6,
                "qd_rad_s": [0] * 6,
                "X_world_tcp": [0] * 16,
                "opening_m": 0,
            }
        ).encode(),
    ],
)
def test_refuses_what_is_no_state(told: bytes) -> None:
    with pytest.raises(BadState):
        parse_state(told)
