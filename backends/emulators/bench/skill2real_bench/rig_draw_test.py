from __future__ import annotations

import math

import numpy as np
from skill2real_sim.worlds.twin import ur5e
from skill2real_sim.worlds.twin.kinematics import tcp_pose

from . import rig_draw
from .bench_cameras import LOOK_Q_RAD, WRIST
from .rig_draw import draw_rig

RIGS = [draw_rig(seed) for seed in range(200)]


def angle(R: np.ndarray) -> float:
    return math.acos(min(1.0, max(-1.0, (float(np.trace(R)) - 1) / 2)))


def test_the_same_seed_is_the_same_rig_and_another_is_another() -> None:
    again = draw_rig(7)
    assert again.kinematic_deltas() == RIGS[7].kinematic_deltas()
    assert again.latency_mean_s == RIGS[7].latency_mean_s
    assert all((again.X_nominal_true[n] == RIGS[7].X_nominal_true[n]).all() for n in again.X_nominal_true)
    assert again.kinematic_deltas() != RIGS[8].kinematic_deltas()
    assert again.latency_s("wrist", 5) == RIGS[7].latency_s("wrist", 5) != again.latency_s("wrist", 6)


def test_mounts_are_off_by_up_to_two_millimetres_and_a_third_of_a_degree() -> None:
    moved = [np.linalg.norm(X[:3, 3]) for rig in RIGS for X in rig.X_nominal_true.values()]
    turned = [angle(X[:3, :3]) for rig in RIGS for X in rig.X_nominal_true.values()]
    assert min(moved) >= 0.0003 and max(moved) <= 0.002 + 1e-12 and max(moved) > 0.0019
    assert math.radians(0.05) - 1e-9 <= min(turned) and max(turned) <= math.radians(0.3) + 1e-9
    assert max(turned) > math.radians(0.28)


def test_latency_lies_between_20_and_100_ms() -> None:
    drawn = [rig.latency_s(name, n) for rig in RIGS for name in ("wrist", "scene") for n in range(5)]
    assert min(drawn) >= 0.02 and max(drawn) <= 0.1
    assert min(drawn) < 0.028 and max(drawn) > 0.092


def test_the_arm_is_off_by_millimetres_and_the_controller_could_say_so() -> None:
    q = np.array(LOOK_Q_RAD)
    off = [np.linalg.norm((tcp_pose(q, rig.deltas) - tcp_pose(q))[:3, 3]) for rig in RIGS]
    assert 0.0005 < np.median(off) < 0.004
    rows = np.array(RIGS[3].kinematic_deltas()).reshape(6, 4)
    assert rows[:, 0].tolist() == list(RIGS[3].deltas.theta_rad)
    assert rows[:, 3].tolist() == list(RIGS[3].deltas.alpha_rad)
    served = ur5e.DhDeltas(*(tuple(column.tolist()) for column in rows.T))
    assert np.array_equal(tcp_pose(q, served), tcp_pose(q, RIGS[3].deltas))


def test_the_wrench_sensor_has_a_bias_and_noise() -> None:
    bias = np.array([rig.wrench_bias for rig in RIGS])
    assert np.abs(bias[:, :3]).max() <= rig_draw.BIAS_N and np.abs(bias[:, 3:]).max() <= rig_draw.BIAS_NM
    assert np.abs(bias[:, :3]).max() > 0.9 * rig_draw.BIAS_N
    sigma = np.array([rig.wrench_noise_sigma for rig in RIGS])
    assert (sigma[:, 0] >= rig_draw.NOISE_N[0]).all() and (sigma[:, 3] <= rig_draw.NOISE_NM[1]).all()


def test_at_the_look_pose_the_wrist_camera_is_over_the_middle_of_the_work_area() -> None:
    X = tcp_pose(np.array(LOOK_Q_RAD)) @ WRIST.X_parent_camera
    assert np.allclose(X[:3, 3], [0.0, 0.45, 0.60], atol=2e-4)
    assert np.allclose(X[:3, :3], np.diag([1.0, -1.0, -1.0]), atol=2e-4)
    # The corners of what things may reach to, seen at table height.
    for x, y in ((-0.4, 0.15), (0.4, 0.15), (-0.4, 0.74), (0.4, 0.74)):
        point = np.linalg.inv(X) @ np.array([x, y, 0.0, 1.0])
        u = WRIST.color.fx_px * point[0] / point[2] + WRIST.color.cx_px
        v = WRIST.color.fy_px * point[1] / point[2] + WRIST.color.cy_px
        assert 0 <= u <= 639 and 0 <= v <= 479
