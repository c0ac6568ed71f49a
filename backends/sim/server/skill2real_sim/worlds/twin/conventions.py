"""The one place where the engine's conventions meet the protocol's.

MuJoCo writes quaternions w x y z and lets a camera look along its -z with y up (OpenGL); the protocol writes
x y z w and lets it look along +z with y down (OpenCV optical). MuJoCo's offscreen buffer has its first row at
the bottom, the protocol's images at the top.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

# Maps coordinates of the optical frame to those of the OpenGL camera frame, and back (it is its own inverse).
_OPTICAL_TO_GL = np.diag([1.0, -1.0, -1.0])


def xyzw_from_wxyz(quat_wxyz: F64) -> F64:
    return np.array([quat_wxyz[1], quat_wxyz[2], quat_wxyz[3], quat_wxyz[0]])


def wxyz_from_xyzw(quat_xyzw: F64) -> F64:
    return np.array([quat_xyzw[3], quat_xyzw[0], quat_xyzw[1], quat_xyzw[2]])


def matrix_from_wxyz(quat_wxyz: F64) -> F64:
    w, x, y, z = (float(v) for v in quat_wxyz)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def wxyz_from_matrix(R: F64) -> F64:
    """Unit quaternion w x y z, w >= 0, of a rotation (Shepperd 1978: divides by the largest component)."""
    t = float(np.trace(R))
    candidates = np.array([t, R[0, 0], R[1, 1], R[2, 2]])
    i = int(np.argmax(candidates))
    if i == 0:
        q = np.array([1 + t, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    elif i == 1:
        q = np.array([R[2, 1] - R[1, 2], 1 + 2 * R[0, 0] - t, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]])
    elif i == 2:
        q = np.array([R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 + 2 * R[1, 1] - t, R[1, 2] + R[2, 1]])
    else:
        q = np.array([R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 + 2 * R[2, 2] - t])
    q = q / np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def pose_matrix(position_m: F64, R: F64) -> F64:
    X = np.eye(4)
    X[:3, :3] = R
    X[:3, 3] = position_m
    return X


def optical_from_engine_camera(position_m: F64, R_parent_gl: F64) -> F64:
    """X_parent_camera (optical) of an engine camera given by its position and rotation in the parent."""
    return pose_matrix(position_m, R_parent_gl @ _OPTICAL_TO_GL)


def engine_camera_from_optical(X_parent_camera: F64) -> tuple[F64, F64]:
    """(position, quaternion w x y z) that the engine's camera needs to be at X_parent_camera (optical)."""
    return X_parent_camera[:3, 3].copy(), wxyz_from_matrix(X_parent_camera[:3, :3] @ _OPTICAL_TO_GL)


def top_left_image(engine_rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The engine's bottom-up rows as a top-left image, C-contiguous."""
    return np.ascontiguousarray(engine_rows[::-1])


def focal_px_from_fovy(fovy_rad: float, height_px: int) -> float:
    return 0.5 * height_px / math.tan(fovy_rad / 2)


def fovy_deg_from_focal(focal_px: float, height_px: int) -> float:
    return math.degrees(2 * math.atan(0.5 * height_px / focal_px))


def principal_point_px(width_px: int, height_px: int) -> tuple[float, float]:
    """The engine's axis meets the image in its middle: with integer pixel centres, (W-1)/2, (H-1)/2."""
    return (width_px - 1) / 2, (height_px - 1) / 2
