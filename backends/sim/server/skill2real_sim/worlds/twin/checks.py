"""Refuses motions that the arm or the jaw cannot do, before anything changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base import BadArgument, GripperMove, Guard, JointTrajectory, Motion, NotStart, TcpPath
from . import pika, ur5e
from .capabilities import ARM

F64 = NDArray[np.float64]

START_TOLERANCE_RAD = 0.02
# Linear pieces between rounded points may exceed a limit by rounding.
VELOCITY_SLACK = 1.02


def check_motions(motions: list[Motion], q_commanded_rad: F64) -> None:
    """Raises BadArgument or NotStart."""
    if not motions:
        raise BadArgument("a group needs at least one motion")
    seen: set[tuple[str, str]] = set()
    for n, motion in enumerate(motions):
        where = f"motion {n}"
        if motion.arm != ARM:
            raise BadArgument(f"{where}: unknown arm {motion.arm!r}; the arm here is {ARM!r}")
        if isinstance(motion, TcpPath):
            raise BadArgument(f"{where}: tcp_path is not a feature of this backend; send a joint_trajectory")
        part = "gripper" if isinstance(motion, GripperMove) else "arm"
        if (motion.arm, part) in seen:
            raise BadArgument(
                f"{where}: the {part} of {motion.arm!r} has a motion in this group already; send one"
            )
        seen.add((motion.arm, part))
        if isinstance(motion, GripperMove):
            _check_gripper(where, motion)
        else:
            _check_trajectory(where, motion, q_commanded_rad)


def _check_gripper(where: str, move: GripperMove) -> None:
    _range(where, "opening_m", move.opening_m, 0.0, pika.MAX_OPENING_M)
    if move.force_n != 0:
        _range(where, "force_n", move.force_n, pika.MIN_FORCE_N, pika.MAX_FORCE_N)
    if move.speed_m_s != 0:
        _range(where, "speed_m_s", move.speed_m_s, pika.MIN_SPEED_M_S, pika.MAX_SPEED_M_S)


def _range(where: str, name: str, value: float, low: float, high: float) -> None:
    if not low - 1e-9 <= value <= high + 1e-9:
        raise BadArgument(f"{where}: {name} is {value!r}; it must lie in {low} to {high}")


def _check_trajectory(where: str, motion: JointTrajectory, q_commanded_rad: F64) -> None:
    t, q = np.asarray(motion.time_s, dtype=np.float64), np.asarray(motion.q_rad, dtype=np.float64)
    if t.ndim != 1 or len(t) < 2 or q.shape != (len(t), ur5e.JOINT_COUNT):
        raise BadArgument(
            f"{where}: {q.shape} positions for {t.shape} times; give n >= 2 times and n x 6 positions"
        )
    if not (np.isfinite(t).all() and np.isfinite(q).all()):
        raise BadArgument(f"{where}: times and positions must be finite numbers")
    if t[0] != 0 or not (np.diff(t) > 0).all():
        raise BadArgument(f"{where}: times must start at 0 and rise")
    limit = np.array(ur5e.POSITION_LIMIT_RAD)
    worst = np.unravel_index(int(np.argmax(np.abs(q) - limit)), q.shape)
    if abs(q[worst]) > limit[worst[1]]:
        raise BadArgument(
            f"{where}: point {worst[0]} puts joint {worst[1] + 1} at {q[worst]:.4f} rad; its limit is "
            f"{limit[worst[1]]:.4f} rad"
        )
    speed = np.abs(np.diff(q, axis=0) / np.diff(t)[:, None])
    over = speed - np.array(ur5e.VELOCITY_LIMIT_RAD_S) * VELOCITY_SLACK
    worst = np.unravel_index(int(np.argmax(over)), over.shape)
    if over[worst] > 0:
        raise BadArgument(
            f"{where}: joint {worst[1] + 1} would turn at {speed[worst]:.3f} rad/s after point {worst[0]}; "
            f"its limit is {ur5e.VELOCITY_LIMIT_RAD_S[worst[1]]:.3f} rad/s: take more time"
        )
    _check_guard(where, motion.guard)
    offset = np.abs(q[0] - q_commanded_rad)
    joint = int(np.argmax(offset))
    if offset[joint] > START_TOLERANCE_RAD:
        raise NotStart(
            f"{where}: it starts with joint {joint + 1} at {q[0, joint]:.4f} rad, but the arm is at "
            f"{q_commanded_rad[joint]:.4f} rad; plan from there (tolerance {START_TOLERANCE_RAD} rad)"
        )


def _check_guard(where: str, guard: Guard) -> None:
    for name, value in (("force_n", guard.force_n), ("torque_nm", guard.torque_nm)):
        if not (np.isfinite(value) and value >= 0):
            raise BadArgument(
                f"{where}: guard {name} is {value!r}; give a number >= 0 (0 is the arm's default)"
            )
    if guard.direction_world is not None:
        direction = np.asarray(guard.direction_world, dtype=np.float64)
        if (
            direction.shape != (3,)
            or not np.isfinite(direction).all()
            or float(np.linalg.norm(direction)) < 1e-6
        ):
            raise BadArgument(
                f"{where}: guard direction_world must be three finite numbers that are not all zero"
            )
