from __future__ import annotations

import numpy as np
import pytest

from ..base import BadArgument, GripperMove, Guard, JointTrajectory, NotStart, TcpPath
from . import motion, ur5e
from .capabilities import ARM
from .kinematics import tcp_pose
from .testing.drive import run, smooth
from .world import TwinWorld

DT = TwinWorld.control_period_s
HOME = np.array(ur5e.HOME_Q_RAD)


def goals(count: int) -> np.ndarray:
    """Joint goals over the free table, far enough to reach speed."""
    rng = np.random.default_rng(2)
    offsets = rng.uniform([-0.6, -0.3, -0.3, -0.5, -0.5, -1.0], [0.6, 0.1, 0.2, 0.5, 0.5, 1.0], (count, 6))
    return HOME + offsets


@pytest.mark.parametrize("goal", goals(4))
def test_a_fast_trajectory_is_tracked_and_ends_where_it_should(world: TwinWorld, goal: np.ndarray) -> None:
    world.reset("r1", 1, "", "empty_table")
    span = float(np.abs(goal - HOME).max())
    # Peak acceleration of the profile at the limit.
    duration = max(np.sqrt(5.7735 * span / ur5e.ACCELERATION_LIMIT_RAD_S2[0]), 1.875 * span / np.pi)
    trajectory = smooth(HOME, goal, float(duration))
    expected_end = world.start_group(1, [trajectory])
    assert expected_end == pytest.approx(duration)
    worst = 0.0
    while world.groups()[-1].active:
        world.step_until(world.time_s + DT, False)
        t = min(world.time_s, duration)
        asked = np.array([np.interp(t, trajectory.time_s, trajectory.q_rad[:, j]) for j in range(6)])
        worst = max(worst, float(np.linalg.norm((tcp_pose(world.arms()[0].q_rad) - tcp_pose(asked))[:3, 3])))
    status = world.groups()[-1].motions[0]
    assert status.end_reason == "COMPLETED" and status.fraction_done == 1.0
    assert status.reached_point == len(trajectory.time_s) - 1
    assert status.end_time_s <= duration + 0.02
    assert worst < 0.5e-3
    assert np.linalg.norm((tcp_pose(world.arms()[0].q_rad) - tcp_pose(goal))[:3, 3]) < 0.1e-3
    assert np.abs(world.arms()[0].qd_rad_s).max() < 0.01


def test_a_stop_brakes_from_the_next_period_within_the_limits(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    world.start_group(1, [smooth(HOME, HOME + np.array([1.2, 0.1, 0, 0, 0, 1.0]), 1.5)])
    world.step_until(0.75, False)
    before = world.arms()[0].qd_rad_s.copy()
    assert np.abs(before).max() > 1.0
    world.stop("test")
    group = world.groups()[-1]
    assert not group.active and group.motions[0].end_reason == "STOPPED"
    assert world.arms()[0].mode == "STOPPED"
    speeds = [before]
    for _ in range(400):
        world.step_until(world.time_s + DT, True)
        speeds.append(world.arms()[0].qd_rad_s.copy())
    deceleration = np.abs(np.diff(np.array(speeds), axis=0)).max(axis=1) / DT
    # Slower at once, and never harder than the limit (with a little room for the servo).
    assert abs(speeds[1][0]) < abs(before[0])
    assert deceleration.max() < 1.15 * ur5e.ACCELERATION_LIMIT_RAD_S2[0]
    assert np.abs(speeds[-1]).max() < 1e-3
    with pytest.raises(BadArgument, match="latched"):
        world.start_group(2, [GripperMove(ARM, 0.05)])
    world.clear_stop()
    q = world.arms()[0].q_rad
    assert world.arms()[0].mode == "IDLE"
    assert run(world, smooth(q, HOME, 2.0), group=3).end_reason == "COMPLETED"


def test_the_event_of_a_stop_is_told_by_the_next_step(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    world.start_group(1, [smooth(HOME, HOME + 0.3, 1.0)])
    world.step_until(0.2, False)
    world.stop("test")
    ended = [e for e in world.step_until(0.21, True) if e.kind == "motion_ended"]
    assert len(ended) == 1 and ended[0].group is not None
    assert ended[0].group.motions[0].end_reason == "STOPPED"


def test_a_group_goes_on_while_one_of_its_motions_ended(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    world.start_group(7, [smooth(HOME, HOME + 0.2, 2.0), GripperMove(ARM, 0.06)])
    assert world.busy([GripperMove(ARM, 0.0)]) is not None
    first = world.step_until(5.0, False)
    assert [e.kind for e in first if e.kind == "motion_ended"] == ["motion_ended"]
    assert world.groups()[-1].active and world.groups()[-1].motions[1].end_reason == "COMPLETED"
    # The jaw is free again, the arm is not.
    assert world.busy([GripperMove(ARM, 0.0)]) is None
    assert world.busy([smooth(HOME, HOME, 1.0)]) is not None
    world.step_until(5.0, False)
    assert not world.groups()[-1].active and world.time_s == pytest.approx(2.0, abs=0.03)


def test_progress_comes_ten_times_a_second(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    world.start_group(1, [smooth(HOME, HOME + 0.2, 1.05)])
    events = world.step_until(2.0, True)
    fractions = [e.group.motions[0].fraction_done for e in events if e.kind == "group_progress" and e.group]
    assert len(fractions) == 10 and fractions == sorted(fractions)


def test_the_last_sixteen_groups_are_kept(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    for group in range(1, 20):
        run(world, smooth(HOME, HOME, 0.02, points=2), group=group)
    assert [g.group for g in world.groups()] == list(range(4, 20))


def test_an_offset_start_is_blended_in(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    start = HOME + 0.015
    assert run(world, smooth(start, start, 0.5)).end_reason == "COMPLETED"
    assert np.abs(world.arms()[0].q_rad - start).max() < 1e-3


def bad_motions() -> list[tuple[str, object, type[Exception]]]:
    two = np.array([0.0, 1.0])
    hold = np.vstack([HOME, HOME])

    def changed(value: float, joint: int = 0) -> np.ndarray:
        q = hold.copy()
        q[1, joint] = value
        return q

    return [
        ("arm", JointTrajectory("left", two, hold), BadArgument),
        ("arm", GripperMove("left", 0.05), BadArgument),
        ("times", JointTrajectory(ARM, np.array([0.1, 1.0]), hold), BadArgument),
        ("times", JointTrajectory(ARM, np.array([0.0, 0.0]), hold), BadArgument),
        ("finite", JointTrajectory(ARM, two, changed(float("nan"))), BadArgument),
        ("finite", JointTrajectory(ARM, np.array([0.0, np.inf]), hold), BadArgument),
        ("positions", JointTrajectory(ARM, two, hold[:, :5]), BadArgument),
        ("positions", JointTrajectory(ARM, two[:1], hold[:1]), BadArgument),
        ("limit", JointTrajectory(ARM, np.array([0.0, 9.0]), changed(6.4)), BadArgument),
        ("limit", JointTrajectory(ARM, np.array([0.0, 9.0]), changed(3.2, joint=2)), BadArgument),
        ("more time", JointTrajectory(ARM, np.array([0.0, 0.1]), changed(HOME[0] + 0.5)), BadArgument),
        ("starts with", JointTrajectory(ARM, two, hold + 0.03), NotStart),
        ("force_n", JointTrajectory(ARM, two, hold, Guard(force_n=-1.0)), BadArgument),
        ("torque_nm", JointTrajectory(ARM, two, hold, Guard(torque_nm=float("nan"))), BadArgument),
        ("direction", JointTrajectory(ARM, two, hold, Guard(direction_world=np.zeros(3))), BadArgument),
        ("tcp_path", TcpPath(ARM, two, np.stack([np.eye(4)] * 2)), BadArgument),
        ("opening_m", GripperMove(ARM, 0.096), BadArgument),
        ("opening_m", GripperMove(ARM, -0.001), BadArgument),
        ("opening_m", GripperMove(ARM, float("nan")), BadArgument),
        ("force_n", GripperMove(ARM, 0.05, force_n=41.0), BadArgument),
        ("speed_m_s", GripperMove(ARM, 0.05, speed_m_s=0.3), BadArgument),
    ]


@pytest.mark.parametrize(("words", "bad", "error"), bad_motions())
def test_bad_motions_change_nothing(
    world: TwinWorld, words: str, bad: object, error: type[Exception]
) -> None:
    if not world.ready or world.time_s > 0:
        world.reset("r1", 1, "", "empty_table")
    before = world.state_hash()
    with pytest.raises(error, match=words):
        world.start_group(1, [bad])  # type: ignore[list-item]
    with pytest.raises(error, match=words):
        world.check_group([bad])  # type: ignore[list-item]
    assert world.state_hash() == before


def test_two_motions_for_one_part_are_refused(world: TwinWorld) -> None:
    world.reset("r1", 1, "", "empty_table")
    with pytest.raises(BadArgument, match="already"):
        world.start_group(1, [GripperMove(ARM, 0.05), GripperMove(ARM, 0.02)])
    with pytest.raises(BadArgument, match="at least one"):
        world.start_group(1, [])


def test_samples_end_on_the_last_point() -> None:
    rows = motion.sample_trajectory(np.array([0.0, 0.0031]), np.vstack([HOME, HOME + 0.001]), HOME, DT)
    assert len(rows) == 3 and np.allclose(rows[-1], HOME + 0.001)


def test_a_brake_is_straight_and_within_its_limit() -> None:
    velocity = np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.1])
    rows = motion.brake_positions(HOME, velocity, ur5e.ACCELERATION_LIMIT_RAD_S2, DT)
    travel = rows - HOME
    assert np.allclose(travel[-1], velocity * 0.25 / 2, atol=1e-9)
    assert np.allclose(travel * velocity[0], np.outer(travel[:, 0], velocity), atol=1e-12)
    acceleration = np.abs(np.diff(rows, 2, axis=0)).max() / DT**2
    assert acceleration <= ur5e.ACCELERATION_LIMIT_RAD_S2[0] * (1 + 1e-6)
