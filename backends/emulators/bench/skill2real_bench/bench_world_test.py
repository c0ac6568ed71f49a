from __future__ import annotations

import math

import numpy as np
import pytest
from skill2real_sim.worlds.twin import ur5e
from skill2real_sim.worlds.twin.items import BOWL_FLOOR_M, TRAY_FLOOR_M
from skill2real_sim.worlds.twin.kinematics import rotation_error, tcp_pose
from skill2real_sim.worlds.twin.testing.oracle import choose_grasp, pointing_down

from .arm_follower import STALE_S, ArmCommand
from .bench_cameras import LOOK_Q_RAD
from .bench_world import BenchWorld
from .plant_simulation import PlantSimulation
from .rig_draw import draw_rig
from .testing.inputs import CommandedWorld

LOOK = np.array(LOOK_Q_RAD)


def reset(world: BenchWorld, seed: int = 5, variant: str = "empty_table") -> None:
    world.adopt(world.prepare("r1", seed, "", variant))


@pytest.fixture
def driven() -> CommandedWorld:
    world = BenchWorld(draw_rig(3))
    reset(world)
    return CommandedWorld(world)


def test_the_arm_is_the_rig_s_and_starts_at_the_look_pose(driven: CommandedWorld) -> None:
    world = driven.world
    assert np.allclose(driven.q_rad, LOOK, atol=1e-6)
    site = world.simulation.data.site("tcp")
    true = tcp_pose(driven.q_rad, world.rig.deltas)
    assert np.abs(site.xpos - true[:3, 3]).max() < 1e-9
    assert np.array_equal(world.arms()[0].X_world_tcp, true)
    assert np.linalg.norm(true[:3, 3] - tcp_pose(driven.q_rad)[:3, 3]) > 2e-4


def test_the_arm_follows_its_commands(driven: CommandedWorld) -> None:
    worst = driven.move(LOOK + np.array([0.5, -0.3, 0.4, 0.2, -0.3, 0.5]), 1.5)
    assert worst < 0.01
    driven.hold(0.2)
    assert driven.q_target_rad is not None
    assert np.abs(driven.q_rad - driven.q_target_rad).max() < 2e-4


def test_commands_that_come_early_and_late_are_followed_smoothly(driven: CommandedWorld) -> None:
    """Two in one period, then none, as two unsynchronized 500 Hz loops do: no joint jerks."""
    rng = np.random.default_rng(1)
    speed, steady = 0.6, 200
    # The controller writes cycle k about 2 ms after cycle k - 1, give or take, just when the plant looks.
    written_s = [0.002 * k + float(rng.uniform(-0.0004, 0.0004)) for k in range(700)]
    world, k, speeds = driven.world, 0, []
    cycles_a_step = set()
    for n in range(1, 601):
        now_s = 0.002 * n
        before = k
        while written_s[k + 1] <= now_s:
            k += 1
        cycles_a_step.add(k - before)
        ramp = min(k, steady) * 0.002
        q = LOOK.copy()
        q[0] += speed * ramp * ramp / (2 * steady * 0.002) + speed * 0.002 * max(0, k - steady)
        world.inputs.arm = ArmCommand(written_s[k], k, True, q)
        world.inputs.now_s = now_s
        world.step_until(world.time_s + 0.002, True)
        if n > steady + 50:
            speeds.append(float(world.simulation.data.qvel[0]))
    assert cycles_a_step == {0, 1, 2}
    assert np.mean(speeds) == pytest.approx(speed, rel=0.01)
    assert np.abs(np.array(speeds) - speed).max() < 0.05 * speed


def test_a_silent_controller_lets_the_brakes_fall(driven: CommandedWorld) -> None:
    goal = LOOK + np.array([0.8, 0, 0, 0, 0, 0])
    count = 300
    for n in range(1, 200):
        u = n / count
        driven.step(LOOK + u**3 * (10 - 15 * u + 6 * u * u) * (goal - LOOK))
    simulation = driven.world.simulation
    assert abs(simulation.data.qvel[0]) > 1.0
    for _ in range(round(STALE_S / 0.002) - 1):
        driven.step(None)
        assert not simulation.follower.braked
    for _ in range(200):
        driven.step(None)
    assert simulation.follower.braked and np.abs(simulation.data.qvel[:6]).max() < 1e-3
    stood = driven.q_rad
    for _ in range(500):
        driven.step(None)
    assert np.abs(driven.q_rad - stood).max() < 1e-3
    assert driven.world.arms()[0].mode == "STOPPED"


def test_nonsense_is_no_command(driven: CommandedWorld) -> None:
    driven.hold(0.1)
    before = driven.q_rad
    for _ in range(10):
        driven.step(np.full(6, np.nan))
    assert driven.world.simulation.follower.refused == 10
    assert np.abs(driven.q_rad - before).max() < 1e-3
    driven.grip(math.nan)
    driven.step(None)
    assert driven.world.simulation.refused_gripper == 1


def test_no_target_makes_a_joint_jump(driven: CommandedWorld) -> None:
    driven.hold(0.05)
    for _ in range(20):
        driven.step(LOOK + 1.0)
    moved = np.abs(driven.world.simulation.follower.q_target_rad - LOOK)
    assert moved.max() <= 20 * 0.002 * 1.2 * ur5e.VELOCITY_LIMIT_RAD_S[0] + 1e-9


def test_the_jaw_follows_its_command_and_goes_limp(driven: CommandedWorld) -> None:
    simulation = driven.world.simulation
    driven.grip(0.03)
    driven.hold(1.2)
    assert simulation.opening_m == pytest.approx(0.03, abs=1e-3)
    driven.grip(0.06, enabled=False)
    driven.hold(0.3)
    assert simulation.opening_m == pytest.approx(0.03, abs=3e-3) and simulation.width_force_n == 0.0
    driven.grip(0.06)
    driven.hold(1.0)
    assert simulation.opening_m == pytest.approx(0.06, abs=1e-3)


def test_a_reset_leaves_an_arm_at_the_look_pose_alone_and_moves_any_other_there(
    driven: CommandedWorld,
) -> None:
    world = driven.world
    driven.move(LOOK + 0.002, 0.2)
    driven.hold(0.2)
    before = driven.q_rad
    reset(world, 6)
    assert world.q_reset_count == 0 and np.array_equal(driven.q_rad, before)
    driven.hold(0.2)
    assert np.abs(driven.q_rad - before).max() < 2e-4  # the same controller goes on
    driven.move(LOOK + 0.3, 0.5)
    reset(world, 7)
    assert world.q_reset_count == 1 and np.allclose(driven.q_rad, LOOK, atol=1e-6)
    assert world.simulation.follower.braked


def test_the_same_seed_is_the_same_scene_whatever_the_rig() -> None:
    poses = []
    for rig in (1, 1, 2):
        world = BenchWorld(draw_rig(rig))
        reset(world, 2003, "")
        poses.append([body.X_world_body for body in world.true_bodies()])
    assert all(np.array_equal(a, b) for a, b in zip(poses[0], poses[1], strict=True))
    assert all(np.allclose(a, b, atol=1e-9) for a, b in zip(poses[0], poses[2], strict=True))


def test_a_snapshot_comes_back(driven: CommandedWorld) -> None:
    world = driven.world
    driven.move(LOOK + 0.1, 0.4)
    kept, at = world.snapshot(), driven.q_rad
    driven.move(LOOK - 0.2, 0.5)
    world.restore(kept)
    assert np.array_equal(driven.q_rad, at) and world.q_reset_count == 1
    driven.q_target_rad = None
    driven.hold(0.2)
    assert np.abs(driven.q_rad - at).max() < 1e-3


def solve_true(world: BenchWorld, X_goal: np.ndarray, q_start: np.ndarray) -> np.ndarray:
    """Joint angles that put the rig's own TCP at X_goal: damped least squares with a numeric Jacobian."""
    q = q_start.copy()
    for _ in range(80):
        X = tcp_pose(q, world.rig.deltas)
        error = np.concatenate([X_goal[:3, 3] - X[:3, 3], rotation_error(X_goal[:3, :3], X[:3, :3])])
        if np.abs(error).max() < 1e-7:
            return q
        jacobian = np.zeros((6, 6))
        for joint in range(6):
            step = np.zeros(6)
            step[joint] = 1e-6
            moved = tcp_pose(q + step, world.rig.deltas)
            jacobian[:3, joint] = (moved[:3, 3] - X[:3, 3]) / 1e-6
            jacobian[3:, joint] = rotation_error(moved[:3, :3], X[:3, :3]) / 1e-6
        change = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-5 * np.eye(6), error)
        q = q + np.clip(change, -0.3, 0.3)
    raise AssertionError("no joint angles")


@pytest.mark.parametrize("seed", [0, 1, 4, 9])
def test_a_task_can_be_done_by_friction_alone(seed: int) -> None:
    """Picks and places with joint commands and a jaw command, from the true state."""
    world = BenchWorld(draw_rig(seed))
    reset(world, seed, "")
    driven = CommandedWorld(world)
    bodies = world.true_bodies()
    target = next(b for b in bodies if b.role == "target")
    goal = next(b for b in bodies if b.role == "goal")
    grasp = choose_grasp(target, [b for b in bodies if b.role != "target"])

    def go(x: float, y: float, z: float, yaw: float, seconds: float) -> None:
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = pointing_down(yaw), (x, y, z)
        start = driven.q_rad
        if seconds > 1.0:
            start = np.array(ur5e.HOME_Q_RAD)
            turn = math.asin(min(0.99, ur5e.DH_D_M[3] / math.hypot(x, y)))
            start[0] = (math.atan2(y, x) + turn) % (2 * math.pi) - math.pi
        driven.move(solve_true(world, X, start), seconds)

    x, y = float(grasp.centre_m[0]), float(grasp.centre_m[1])
    driven.grip(grasp.opening_m)
    go(x, y, 0.22, grasp.yaw_rad, 2.5)
    go(x, y, grasp.tip_z_m, grasp.yaw_rad, 1.0)
    driven.grip(0.0)
    driven.hold(0.8)
    assert world.simulation.opening_m > 0.01
    assert any("finger" in pair for pair in world.true_contacts())
    go(x, y, 0.22, grasp.yaw_rad, 1.0)
    gx, gy = (float(v) for v in goal.X_world_body[:2, 3])
    floor = {"tray": TRAY_FLOOR_M, "bowl": BOWL_FLOOR_M, "mat": float(goal.size_m[2])}[goal.kind]
    bottom = float(target.X_world_body[2, 3]) - float(target.size_m[2]) / 2
    yaw = grasp.yaw_rad
    if goal.kind != "bowl":
        goal_yaw = math.atan2(goal.X_world_body[1, 0], goal.X_world_body[0, 0])
        yaw += (goal_yaw - yaw + math.pi / 4) % (math.pi / 2) - math.pi / 4
    go(gx, gy, 0.22, yaw, 2.5)
    go(gx, gy, grasp.tip_z_m - bottom + floor + 0.004, yaw, 1.0)
    driven.grip(min(0.095, world.simulation.opening_m + 0.02))
    driven.hold(0.5)
    go(gx, gy, 0.22, yaw, 1.0)
    driven.hold(1.0)
    verdict = world.evaluate()
    assert verdict.success, (verdict.failure_kind, world.rig.seed)


def test_contact_shows_in_the_wrench_and_nothing_else_does(driven: CommandedWorld) -> None:
    world = driven.world
    simulation = world.simulation
    assert isinstance(simulation, PlantSimulation)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = pointing_down(0.0), (0.0, 0.45, 0.1)
    driven.move(solve_true(world, X, np.array(ur5e.HOME_Q_RAD)), 2.0)
    driven.hold(0.3)
    assert np.abs(simulation.controls.monitor.wrench).max() == 0.0
    X[2, 3] = -0.003
    driven.move(solve_true(world, X, driven.q_rad), 1.5)
    assert simulation.controls.monitor.wrench[2] > 10.0
