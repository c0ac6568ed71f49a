"""Write poses of a UR5e with every inverse-kinematics solution that the package ur-analytic-ik finds.

Usage: oracle_solutions.py OUT COUNT SEED. Four poses of five are those of uniformly random joints; the
fifth is a random orientation at a random place in the workspace, which may be out of reach. OUT holds
little-endian float64: for each pose 12 numbers (the upper rows of X_base_flange, row-major), the number n
of solutions, and 6 n joints. Only solutions are kept whose forward kinematics, computed here, returns the
pose within 1e-6.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from ur_analytic_ik import ur5e

A_M = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0)
D_M = (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)
ALPHA_RAD = (math.pi / 2, 0.0, 0.0, math.pi / 2, -math.pi / 2, 0.0)
EXACT = 1e-6


def forward(q_rad: np.ndarray) -> np.ndarray:
    """X_base_flange, shape (n, 4, 4), of joints of shape (n, 6)."""
    pose = np.tile(np.eye(4), (len(q_rad), 1, 1))
    for i in range(6):
        c, s = np.cos(q_rad[:, i]), np.sin(q_rad[:, i])
        ca, sa = math.cos(ALPHA_RAD[i]), math.sin(ALPHA_RAD[i])
        link = np.zeros_like(pose)
        link[:, 0] = np.stack([c, -s * ca, s * sa, A_M[i] * c], axis=1)
        link[:, 1] = np.stack([s, c * ca, -c * sa, A_M[i] * s], axis=1)
        link[:, 2] = (0.0, sa, ca, D_M[i])
        link[:, 3, 3] = 1.0
        pose = pose @ link
    return pose


def random_poses(count: int, rng: np.random.Generator) -> np.ndarray:
    """Random orientations at random places of a ball of 0.95 m."""
    quaternion = rng.normal(size=(count, 4))
    w, x, y, z = (quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)).T
    pose = np.tile(np.eye(4), (count, 1, 1))
    pose[:, 0, :3] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1)
    pose[:, 1, :3] = np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1)
    pose[:, 2, :3] = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    pose[:, :3, 3] = direction * 0.95 * rng.uniform(size=(count, 1)) ** (1 / 3)
    return pose


def main() -> None:
    out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = np.random.default_rng(seed)
    free = count // 5
    poses = np.concatenate(
        [forward(rng.uniform(-math.pi, math.pi, (count - free, 6))), random_poses(free, rng)]
    )
    with open(out, "wb") as file:
        for pose in poses:
            found = np.asarray(ur5e.inverse_kinematics(pose), dtype=float).reshape(-1, 6)
            if len(found):
                found = found[np.abs(forward(found) - pose).max(axis=(1, 2)) < EXACT]
            row = np.concatenate([pose[:3].reshape(12), [len(found)], found.reshape(-1)])
            file.write(row.astype("<f8").tobytes())


if __name__ == "__main__":
    main()
