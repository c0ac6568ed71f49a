from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from . import mjcf_scene, pika, task_r1, ur5e
from .capabilities import ARM, capabilities
from .kinematics import link_frames, solve_tcp, tcp_jacobian, tcp_pose


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mjcf_scene.compile_scene(task_r1.draw(0, "", ARM).spec)


def random_states(count: int) -> np.ndarray:
    limit = np.array(ur5e.POSITION_LIMIT_RAD)
    return np.random.default_rng(5).uniform(-limit, limit, (count, 6))


def test_formula_and_engine_agree_on_the_tcp(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    for q in random_states(50):
        data.qpos[:6] = q
        mujoco.mj_kinematics(model, data)
        X = tcp_pose(q)
        assert np.linalg.norm(data.site("tcp").xpos - X[:3, 3]) < 1e-5
        assert np.abs(data.site("tcp").xmat.reshape(3, 3) - X[:3, :3]).max() < 1e-8


def test_formula_and_engine_agree_on_an_arm_that_is_not_nominal() -> None:
    rng = np.random.default_rng(6)
    deltas = ur5e.DhDeltas(*(tuple(rng.uniform(-0.01, 0.01, 6).tolist()) for _ in range(4)))
    spec = replace(task_r1.draw(0, "empty_table", ARM).spec, deltas=deltas)
    model = mjcf_scene.compile_scene(spec)
    data = mujoco.MjData(model)
    for q in random_states(20):
        data.qpos[:6] = q
        mujoco.mj_kinematics(model, data)
        X = tcp_pose(q, deltas)
        assert np.linalg.norm(data.site("tcp").xpos - X[:3, 3]) < 1e-5
        assert np.abs(data.site("tcp").xmat.reshape(3, 3) - X[:3, :3]).max() < 1e-8
        assert np.linalg.norm(X[:3, 3] - tcp_pose(q)[:3, 3]) > 1e-3


def test_reported_capsules_are_the_ones_that_collide(model: mujoco.MjModel) -> None:
    data = mujoco.MjData(model)
    q = random_states(1)[0]
    data.qpos[:6] = q
    mujoco.mj_kinematics(model, data)
    frames = link_frames(q)
    reported = capabilities(())["arms"][0]["capsules"]
    for capsule in reported:
        geom = model.geom(f"arm_{capsule['name']}")
        assert geom.type[0] == mujoco.mjtGeom.mjGEOM_CAPSULE and geom.contype[0] == 1
        assert geom.size[0] == pytest.approx(capsule["radius_m"])
        centre, axis = data.geom(geom.id).xpos, data.geom(geom.id).xmat.reshape(3, 3)[:, 2]
        ends = {tuple(np.round(centre + s * geom.size[1] * axis, 9)) for s in (-1, 1)}
        frame = frames[capsule["link"]]
        expected = {
            tuple(np.round((frame @ np.append(capsule[key], 1.0))[:3], 9)) for key in ("p0_m", "p1_m")
        }
        assert ends == expected, capsule["name"]


def test_masses_and_limits_are_the_published_ones(model: mujoco.MjModel) -> None:
    masses = [float(model.body(f"link{n}").mass[0]) for n in range(1, 7)]
    assert masses == pytest.approx([3.761, 8.058, 2.846, 1.37, 1.3, 0.365])
    forces = [tuple(model.actuator(f"servo{n}").forcerange) for n in range(1, 7)]
    assert forces == [(-150.0, 150.0)] * 3 + [(-28.0, 28.0)] * 3
    ranges = [model.joint(f"joint{n}").range[1] for n in range(1, 7)]
    assert ranges == pytest.approx([2 * np.pi, 2 * np.pi, np.pi, 2 * np.pi, 2 * np.pi, 2 * np.pi])


def test_nothing_can_be_welded_or_attached(model: mujoco.MjModel) -> None:
    """The only equality ties the two fingers to each other."""
    assert model.neq == 1
    assert model.eq_type[0] == mujoco.mjtEq.mjEQ_JOINT
    assert {int(model.eq_obj1id[0]), int(model.eq_obj2id[0])} == {
        model.joint("finger_left").id,
        model.joint("finger_right").id,
    }
    assert model.nmocap == 0


def test_jacobian_is_the_derivative() -> None:
    for q in random_states(5):
        X, jacobian = tcp_jacobian(q)
        for joint in range(6):
            step = np.zeros(6)
            step[joint] = 1e-6
            plus, minus = tcp_pose(q + step), tcp_pose(q - step)
            assert np.allclose((plus - minus)[:3, 3] / 2e-6, jacobian[:3, joint], atol=1e-7)
            spin = (plus - minus)[:3, :3] / 2e-6 @ X[:3, :3].T
            assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], jacobian[3:, joint], atol=1e-7)


def test_solver_meets_its_pose_or_says_none() -> None:
    home = np.array(ur5e.HOME_Q_RAD)
    X = tcp_pose(home)
    X[:3, 3] += (0.05, 0.1, -0.2)
    q = solve_tcp(X, home)
    assert q is not None and np.abs(tcp_pose(q) - X).max() < 1e-5
    X[:3, 3] = (0.0, 2.0, 0.0)
    assert solve_tcp(X, home) is None


def test_home_is_over_the_near_edge_pointing_down() -> None:
    X = tcp_pose(np.array(ur5e.HOME_Q_RAD))
    assert np.allclose(X[:3, 3], [0.0, 0.25, 0.42], atol=1e-3)
    assert X[2, 2] < -0.9999
    assert pika.X_FLANGE_TCP[2, 3] == pika.FLANGE_TO_TCP_M
