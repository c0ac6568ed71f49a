"""Reads the motions of an Execute: what any world would refuse is refused here, before a world sees it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skill2real_sim.core.refusal import Refusal
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.worlds import base

MAX_MOTIONS = 4
MAX_POINTS = 100_000
MAX_DURATION_S = 600.0
# A rotation whose rows are further than this from orthonormal is a mistake, not rounding.
ROTATION_TOLERANCE = 1e-3


def read_motions(execute: dp.Execute, capabilities: dp.Capabilities) -> list[base.Motion]:
    """Raises Refusal with ERROR_BAD_ARGUMENT or ERROR_UNSUPPORTED."""
    count = len(execute.motions)
    if not 1 <= count <= MAX_MOTIONS:
        raise _bad(f"Execute has {count} motions; give 1 to {MAX_MOTIONS}")
    motions: list[base.Motion] = []
    movers: set[str] = set()
    for index, message in enumerate(execute.motions):
        where = f"motion {index}"
        kind = message.WhichOneof("kind")
        if kind == "joint_trajectory":
            motion: base.Motion = _joint_trajectory(message.joint_trajectory, capabilities, where)
        elif kind == "tcp_path":
            motion = _tcp_path(message.tcp_path, capabilities, where)
        elif kind == "gripper_move":
            motion = _gripper_move(message.gripper_move, capabilities, where)
        else:
            raise _bad(f"{where} is empty; set joint_trajectory, tcp_path or gripper_move")
        mover = f"{'gripper' if kind == 'gripper_move' else 'arm'} {motion.arm}"
        if mover in movers:
            raise _bad(f"{where} is a second motion for {mover}; a group moves each arm and gripper once")
        movers.add(mover)
        motions.append(motion)
    return motions


def _joint_trajectory(
    m: dp.JointTrajectory, capabilities: dp.Capabilities, where: str
) -> base.JointTrajectory:
    arm = _arm(m.arm, capabilities, where)
    time_s = _times(m.time_s, where)
    joints = len(arm.dh)
    q_rad = _finite(m.q_rad, f"{where}: q_rad")
    if q_rad.size != joints * time_s.size:
        raise _bad(f"{where}: q_rad has {q_rad.size} numbers for {time_s.size} points; give {joints} a point")
    return base.JointTrajectory(m.arm, time_s, q_rad.reshape(time_s.size, joints), _guard(m.guard, where))


def _tcp_path(m: dp.TcpPath, capabilities: dp.Capabilities, where: str) -> base.TcpPath:
    _arm(m.arm, capabilities, where)
    if "tcp_path" not in capabilities.features:
        raise Refusal(
            dp.ERROR_UNSUPPORTED,
            f"{where}: this backend has no Cartesian controller; send a joint_trajectory",
        )
    time_s = _times(m.time_s, where)
    poses = _finite(m.X_world_tcp, f"{where}: X_world_tcp")
    if poses.size != 16 * time_s.size:
        raise _bad(f"{where}: X_world_tcp has {poses.size} numbers for {time_s.size} points; give 16 a point")
    poses = poses.reshape(-1, 4, 4)
    rotations = poses[:, :3, :3]
    error = np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)).max()
    if error > ROTATION_TOLERANCE or (np.linalg.det(rotations) < 0).any():
        raise _bad(f"{where}: X_world_tcp holds something that is not a rotation (off by {error:.3g})")
    return base.TcpPath(m.arm, time_s, poses, _guard(m.guard, where))


def _gripper_move(m: dp.GripperMove, capabilities: dp.Capabilities, where: str) -> base.GripperMove:
    gripper = next((g for g in capabilities.grippers if g.arm == m.arm), None)
    if gripper is None:
        known = ", ".join(g.arm for g in capabilities.grippers) or "none"
        raise _bad(f"{where}: no gripper on arm {m.arm[:64]!r}; there is: {known}")
    if gripper.control == "none":
        raise Refusal(dp.ERROR_UNSUPPORTED, f"{where}: the gripper of {m.arm} cannot be commanded")
    _within(m.opening_m, gripper.max_opening_m, f"{where}: opening_m")
    _within(m.force_n, gripper.max_force_n, f"{where}: force_n")
    _within(m.speed_m_s, gripper.max_speed_m_s, f"{where}: speed_m_s")
    return base.GripperMove(m.arm, m.opening_m, m.force_n, m.speed_m_s)


def _arm(name: str, capabilities: dp.Capabilities, where: str) -> dp.Arm:
    for arm in capabilities.arms:
        if arm.name == name:
            return arm
    raise _bad(f"{where}: no arm {name[:64]!r}; there is: {', '.join(arm.name for arm in capabilities.arms)}")


def _times(values: Sequence[float], where: str) -> base.F64:
    if not 2 <= len(values) <= MAX_POINTS:
        raise _bad(f"{where}: {len(values)} points; give 2 to {MAX_POINTS}")
    time_s = _finite(values, f"{where}: time_s")
    if time_s[0] != 0.0:
        raise _bad(f"{where}: the first time_s is {time_s[0]:.6g}; it must be 0")
    falls = np.flatnonzero(np.diff(time_s) <= 0)
    if falls.size:
        raise _bad(f"{where}: time_s does not rise after point {falls[0]}")
    if time_s[-1] > MAX_DURATION_S:
        raise _bad(f"{where}: it lasts {time_s[-1]:.6g} s; at most {MAX_DURATION_S:g} s in one motion")
    return time_s


def _finite(values: Sequence[float], what: str) -> base.F64:
    array = np.array(values, dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        raise _bad(f"{what} holds {array[wrong[0]]} at index {wrong[0]}; every number must be finite")
    return array


def _within(value: float, limit: float, what: str) -> None:
    # The comparison is written so that NaN fails it.
    if not 0.0 <= value <= limit * (1 + 1e-9):
        raise _bad(f"{what} is {value:.6g}; give 0 to {limit:.6g}")


def _guard(m: dp.Guard, where: str) -> base.Guard:
    for name, value in (("force_n", m.force_n), ("torque_nm", m.torque_nm)):
        if not 0.0 <= value < float("inf"):
            raise _bad(
                f"{where}: guard {name} is {value:.6g}; give 0 (the arm's default) or a positive limit"
            )
    direction = _finite(m.direction_world, f"{where}: guard direction_world")
    if direction.size == 0:
        return base.Guard(m.force_n, m.torque_nm, None, m.contact_expected)
    length = float(np.linalg.norm(direction))
    if direction.size != 3 or not 1e-9 < length < 1e9:
        raise _bad(f"{where}: guard direction_world must be empty or 3 numbers that are not all 0")
    return base.Guard(m.force_n, m.torque_nm, direction / length, m.contact_expected)


def _bad(message: str) -> Refusal:
    return Refusal(dp.ERROR_BAD_ARGUMENT, message)
