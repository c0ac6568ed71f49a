"""Short ways to move the arm in tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...base import GripperMove, Guard, JointTrajectory, MotionStatus, WorldEvent
from ..capabilities import ARM
from ..kinematics import solve_tcp
from ..world import TwinWorld

F64 = NDArray[np.float64]


def smooth(q_start: F64, q_goal: F64, duration_s: float, points: int = 200) -> JointTrajectory:
    """A rest-to-rest trajectory (minimum jerk)."""
    u = np.linspace(0.0, 1.0, points)
    blend = u**3 * (10 - 15 * u + 6 * u * u)
    return JointTrajectory(ARM, u * duration_s, q_start + blend[:, None] * (q_goal - q_start))


def run(world: TwinWorld, motion: JointTrajectory | GripperMove, group: int = 1) -> MotionStatus:
    """Plays one motion to its end."""
    world.start_group(group, [motion])
    while True:
        world.step_until(world.time_s + 10.0, False)
        status = next(g for g in reversed(world.groups()) if g.group == group)
        if not status.active:
            return status.motions[0]


def run_events(world: TwinWorld, until_s: float) -> list[WorldEvent]:
    """All events up to a time, whatever ends meanwhile."""
    return world.step_until(until_s, True)


def line_down(world: TwinWorld, depth_m: float, speed_m_s: float, guard: Guard) -> JointTrajectory:
    """A straight move at constant speed from the present pose downwards."""
    arm = world.arms()[0]
    X = arm.X_world_tcp.copy()
    rows = [arm.q_rad]
    step_s = min(0.02, depth_m / speed_m_s / 2)
    count = int(np.ceil(depth_m / speed_m_s / step_s))
    for n in range(1, count + 1):
        X[2, 3] = arm.X_world_tcp[2, 3] - depth_m * n / count
        q = solve_tcp(X, rows[-1])
        assert q is not None
        rows.append(q)
    return JointTrajectory(ARM, np.linspace(0.0, depth_m / speed_m_s, count + 1), np.array(rows), guard)


def go_down_to(world: TwinWorld, x_m: float, y_m: float, z_m: float) -> None:
    """Puts the TCP, pointing down, at a place over the table by an ordinary joint move."""
    q = world.arms()[0].q_rad
    X = world.arms()[0].X_world_tcp.copy()
    X[:3, 3] = (x_m, y_m, z_m)
    goal = solve_tcp(X, q, 300)
    assert goal is not None
    assert run(world, smooth(q, goal, 2.5), group=900).end_reason == "COMPLETED"
