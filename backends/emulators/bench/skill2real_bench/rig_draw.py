"""What a rig seed hides: how the emulated bench differs from what its configuration says.

Drawn in named streams (skill2real_sim's streams.py), uniformly unless said otherwise:

| what | range |
| --- | --- |
| joint zeros (theta) | -1.5 to 1.5 mrad each |
| link lengths (a), offsets (d) | -0.4 to 0.4 mm each, but 0 for d of joints 3 and 4, parallel to joint 2's |
| link twists (alpha) | -1 to 1 mrad each |
| mount of each camera | moved by 0.3 to 2.0 mm and turned by 0.05 to 0.30 degree about random axes |
| image latency of each camera | 30 to 90 ms, and within 10 ms of that at each exposure |
| wrench bias | force -4 to 4 N, torque -0.3 to 0.3 Nm each, in base axes |
| wrench noise | sigma 0.3 to 0.8 N and 0.015 to 0.04 Nm (normal) |

The kinematic deltas go to the controller through the plant memory's rig truth. The wrench's bias and noise
are there too and in the bench's ready line, from which a launcher hands them to the controller, whose sensor
has them. The rest nobody is told. The same seed gives the same rig on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.twin.streams import stream
from skill2real_sim.worlds.twin.ur5e import DhDeltas

from .bench_cameras import CAMERA_NAMES

F64 = NDArray[np.float64]

THETA_RAD = 0.0015
LENGTH_M = 0.0004
ALPHA_RAD = 0.001
MOUNT_M = (0.0003, 0.002)
MOUNT_RAD = (math.radians(0.05), math.radians(0.30))
LATENCY_MEAN_S = (0.030, 0.090)
LATENCY_JITTER_S = 0.010
BIAS_N, BIAS_NM = 4.0, 0.3
NOISE_N, NOISE_NM = (0.3, 0.8), (0.015, 0.04)


@dataclass(frozen=True)
class RigDraw:
    """One rig. ``X_nominal_true`` of a camera: its true optical frame, seen from where it should be."""

    seed: int
    deltas: DhDeltas
    X_nominal_true: dict[str, F64]
    latency_mean_s: dict[str, float]
    wrench_bias: F64
    wrench_noise_sigma: F64

    def kinematic_deltas(self) -> list[float]:
        """24 numbers: theta, a, d and alpha of joint 1, then those of joint 2, and so on."""
        d = self.deltas
        rows = zip(d.theta_rad, d.a_m, d.d_m, d.alpha_rad, strict=True)
        return [value for row in rows for value in row]

    def latency_s(self, camera: str, exposure: int) -> float:
        """Latency of one exposure: a function of seed, camera and the exposure's number."""
        jitter = stream(self.seed, f"latency {camera} {exposure}").uniform(
            -LATENCY_JITTER_S, LATENCY_JITTER_S
        )
        return self.latency_mean_s[camera] + float(jitter)


def rotation_about(axis: F64, angle_rad: float) -> F64:
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle_rad) * K + (1 - math.cos(angle_rad)) * (K @ K)


def _six(rng: np.random.Generator, limit: float) -> tuple[float, ...]:
    return tuple(rng.uniform(-limit, limit, 6).tolist())


def _direction(rng: np.random.Generator) -> F64:
    v = rng.standard_normal(3)
    return v / np.linalg.norm(v)


def _mount_error(rng: np.random.Generator) -> F64:
    X = np.eye(4)
    X[:3, 3] = _direction(rng) * rng.uniform(*MOUNT_M)
    X[:3, :3] = rotation_about(_direction(rng), float(rng.uniform(*MOUNT_RAD)))
    return X


def draw_rig(seed: int) -> RigDraw:
    kinematics = stream(seed, "rig kinematics")
    theta, a, d, alpha = (_six(kinematics, limit) for limit in (THETA_RAD, LENGTH_M, LENGTH_M, ALPHA_RAD))
    d = (d[0], d[1], 0.0, 0.0, d[4], d[5])
    wrench = stream(seed, "rig wrench")
    bias = np.concatenate([wrench.uniform(-BIAS_N, BIAS_N, 3), wrench.uniform(-BIAS_NM, BIAS_NM, 3)])
    sigma = np.repeat([wrench.uniform(*NOISE_N), wrench.uniform(*NOISE_NM)], 3)
    return RigDraw(
        seed=seed,
        deltas=DhDeltas(theta, a, d, alpha),
        X_nominal_true={name: _mount_error(stream(seed, f"rig mount {name}")) for name in CAMERA_NAMES},
        latency_mean_s={
            name: float(stream(seed, f"rig latency {name}").uniform(*LATENCY_MEAN_S)) for name in CAMERA_NAMES
        },
        wrench_bias=bias,
        wrench_noise_sigma=sigma,
    )
