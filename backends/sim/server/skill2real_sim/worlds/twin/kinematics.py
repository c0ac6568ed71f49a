"""Forward kinematics, Jacobian and a damped least-squares solution for the twin's arm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import ur5e
from .pika import X_FLANGE_TCP

F64 = NDArray[np.float64]


def link_frames(q_rad: F64, deltas: ur5e.DhDeltas = ur5e.NOMINAL) -> list[F64]:
    """The seven 4x4 frames X_base_link0 (identity) … X_base_link6 (flange)."""
    frames = [np.eye(4)]
    for joint in range(ur5e.JOINT_COUNT):
        frames.append(frames[-1] @ ur5e.dh_matrix(joint, float(q_rad[joint]), deltas))
    return frames


def tcp_pose(q_rad: F64, deltas: ur5e.DhDeltas = ur5e.NOMINAL) -> F64:
    """X_world_tcp, 4x4, of the Denavit-Hartenberg formula; world is the base frame."""
    return link_frames(q_rad, deltas)[6] @ X_FLANGE_TCP


def tcp_jacobian(q_rad: F64) -> tuple[F64, F64]:
    """(X_world_tcp, J) with J 6x6: linear rows first, in world axes, at the TCP."""
    frames = link_frames(q_rad)
    X_world_tcp = frames[6] @ X_FLANGE_TCP
    p = X_world_tcp[:3, 3]
    jacobian = np.zeros((6, 6))
    for joint in range(6):
        axis = frames[joint][:3, 2]
        jacobian[:3, joint] = np.cross(axis, p - frames[joint][:3, 3])
        jacobian[3:, joint] = axis
    return X_world_tcp, jacobian


def rotation_error(R_goal: F64, R_now: F64) -> F64:
    """Rotation vector [rad], in world axes, that turns R_now into R_goal."""
    R = R_goal @ R_now.T
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    s = float(np.linalg.norm(w))
    angle = float(np.arctan2(s, (np.trace(R) - 1) / 2))
    if s < 1e-9:
        if angle < 1.0:
            return w
        axis = np.sqrt(np.maximum((np.diag(R) + 1) / 2, 0.0))
        return axis / max(float(np.linalg.norm(axis)), 1e-12) * angle
    return w / s * angle


def solve_tcp(X_world_tcp: F64, q_start_rad: F64, iterations: int = 100) -> F64 | None:
    """Joint angles near q_start_rad that put the TCP at X_world_tcp within 1 um and 10 urad, or None.

    Damped least squares with a bounded step (Wampler 1986). A solution outside the joint limits is None too.
    """
    q = np.array(q_start_rad, dtype=np.float64)
    for _ in range(iterations):
        X_now, jacobian = tcp_jacobian(q)
        error = np.concatenate(
            [X_world_tcp[:3, 3] - X_now[:3, 3], rotation_error(X_world_tcp[:3, :3], X_now[:3, :3])]
        )
        linear, angular = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
        if linear < 1e-6 and angular < 1e-5:
            return q if bool(np.all(np.abs(q) <= np.array(ur5e.POSITION_LIMIT_RAD))) else None
        damping = 1e-6 if linear < 0.02 and angular < 0.1 else 1e-3
        step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(6), error)
        q = q + np.clip(step, -0.3, 0.3)
    return None
