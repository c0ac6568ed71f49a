"""Plays timed joint trajectories, one row of servo commands per control period, and brakes.

A command row holds position plus velocity feed-forward: the servo's force is kp (command - q) - kv qd, so a
command of q + (kv + joint damping) / kp * qd leaves no velocity lag. Rows are computed when a motion starts;
playing is one copy per period. Torques that speed the links up are fed forward too (see ``torque_rows``), so
what is left to the position error is only what the world adds.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import ur5e
from .mjcf_arm import JOINT_DAMPING, SERVO_KP, SERVO_KV

F64 = NDArray[np.float64]

# Joint torques [Nm] without gravity for (q, qd, qdd).
TorqueModel = Callable[[F64, F64, F64], F64]
KNOT_PERIODS = 10

FEED_FORWARD_S = (np.array(SERVO_KV) + JOINT_DAMPING) / np.array(SERVO_KP)

HOLD, PLAY, SETTLE, BRAKE, YIELD = "hold", "play", "settle", "brake", "yield"
YIELD_LIMIT_S = 0.12
YIELD_EASE = 0.9
YIELD_FORCE_N = 2.0
SETTLE_LIMIT_S = 0.3
SETTLED_RAD = 1.0e-4
SETTLED_RAD_S = 0.004
# An arm that leans on something rests beside its set-point: it has arrived if this near and still this long.
LOADED_RAD = 1.0e-3
LOADED_S = 0.06
BLEND_S = 0.1


def sample_trajectory(time_s: F64, q_rad: F64, q_commanded_rad: F64, period_s: float) -> F64:
    """Positions (n + 1, 6) at every control period from 0 to at or after the end; linear between points.

    A small difference between the first point and the commanded position is blended out over the first
    BLEND_S.
    """
    n = max(1, math.ceil(float(time_s[-1]) / period_s - 1e-9))
    t = np.arange(n + 1) * period_s
    rows = np.column_stack([np.interp(t, time_s, q_rad[:, j]) for j in range(q_rad.shape[1])])
    offset = q_commanded_rad - q_rad[0]
    if np.any(offset != 0.0):
        u = np.clip(t / min(BLEND_S, max(float(time_s[-1]), period_s)), 0.0, 1.0)
        rows += (1.0 - u * u * (3.0 - 2.0 * u))[:, None] * offset
    return rows


def torque_rows(positions: F64, period_s: float, torque: TorqueModel) -> F64:
    """Joint torques (n, 6) [Nm] that the links' inertia asks for along positions (n + 1, 6).

    Inverse dynamics at knots KNOT_PERIODS apart and linear between them; over that stretch velocities of
    linear pieces average out to usable accelerations.
    """
    n = len(positions) - 1
    if n < 2 * KNOT_PERIODS:
        return np.zeros((n, positions.shape[1]))
    knots = np.unique(np.append(np.arange(0, n, KNOT_PERIODS), n))
    lower, upper = np.maximum(knots - KNOT_PERIODS // 2, 0), np.minimum(knots + KNOT_PERIODS // 2, n)
    velocity = (positions[upper] - positions[lower]) / ((upper - lower) * period_s)[:, None]
    acceleration = np.gradient(velocity, knots * period_s, axis=0)
    torques = np.array([torque(*row) for row in zip(positions[knots], velocity, acceleration, strict=True)])
    ticks = np.arange(n)
    return np.column_stack([np.interp(ticks, knots, torques[:, j]) for j in range(torques.shape[1])])


def brake_positions(q_rad: F64, qd_rad_s: F64, limit_rad_s2: tuple[float, ...], period_s: float) -> F64:
    """Positions of a straight stop in joint space: all joints slow down together, one at its limit."""
    duration = float(np.max(np.abs(qd_rad_s) / np.array(limit_rad_s2)))
    n = math.ceil(duration / period_s - 1e-9)
    if n <= 0:
        return q_rad[None, :].copy()
    t = np.minimum(np.arange(n + 1) * period_s, duration)[:, None]
    return q_rad + qd_rad_s * (t - t * t / (2 * duration))


@dataclass
class ArmPlayer:
    """Commanded motion of the arm: what the servo is told, period by period."""

    period_s: float
    q_commanded_rad: F64 = field(default_factory=lambda: np.array(ur5e.HOME_Q_RAD))
    phase: str = HOLD
    positions: F64 = field(default_factory=lambda: np.zeros((1, 6)))
    commands: F64 = field(default_factory=lambda: np.zeros((0, 6)))
    index: int = 0
    # Whether the set-point follows the actual position when a brake has run out.
    yield_after_brake: bool = False
    yield_command: F64 = field(default_factory=lambda: np.zeros(6))

    def hold(self, q_rad: F64) -> None:
        self.q_commanded_rad = np.array(q_rad, dtype=np.float64)
        self.phase = HOLD

    def _load(self, positions: F64, phase: str, torque: TorqueModel | None = None) -> None:
        self.positions = positions
        velocity = np.diff(positions, axis=0) / self.period_s
        self.commands = positions[:-1] + FEED_FORWARD_S * velocity
        if torque is not None:
            self.commands += torque_rows(positions, self.period_s, torque) / np.array(SERVO_KP)
        self.index = 0
        self.phase = phase

    def play(self, time_s: F64, q_rad: F64, torque: TorqueModel) -> None:
        self._load(sample_trajectory(time_s, q_rad, self.q_commanded_rad, self.period_s), PLAY, torque)

    def brake_from_command(self) -> None:
        """Slows down from the commanded position and velocity (a stop without contact)."""
        if self.phase not in (PLAY, BRAKE) or self.index >= len(self.commands):
            self.phase = HOLD
            return
        velocity = (self.positions[self.index + 1] - self.positions[self.index]) / self.period_s
        self.yield_after_brake = False
        self._start_brake(self.positions[self.index], velocity, ur5e.ACCELERATION_LIMIT_RAD_S2)

    def brake_from_actual(self, q_rad: F64, qd_rad_s: F64) -> None:
        """Slows down from where the arm is, after a contact, then yields: see ``follow``."""
        limit = np.array(ur5e.VELOCITY_LIMIT_RAD_S)
        self.yield_after_brake = True
        self._start_brake(np.array(q_rad), np.clip(qd_rad_s, -limit, limit), ur5e.CONTACT_BRAKE_RAD_S2)

    def follow(self, q_rad: F64, qd_rad_s: F64) -> None:
        """Makes the actual position the set-point while the arm yields: what it touched pushes it off.

        Most of the servo's damping is fed forward too, else letting go of a few newtons would take a second.
        """
        self.q_commanded_rad = np.array(q_rad)
        self.yield_command = q_rad + YIELD_EASE * FEED_FORWARD_S * qd_rad_s

    def _start_brake(self, q_rad: F64, qd_rad_s: F64, limit_rad_s2: tuple[float, ...]) -> None:
        positions = brake_positions(q_rad, qd_rad_s, limit_rad_s2, self.period_s)
        self.q_commanded_rad = positions[-1].copy()
        if len(positions) < 2:
            self.positions, self.commands, self.index, self.phase = positions, positions[:0], 0, BRAKE
        else:
            self._load(positions, BRAKE)

    def next_command(self) -> F64:
        """The servo command of the coming period."""
        if self.phase in (PLAY, BRAKE) and self.index < len(self.commands):
            row = self.commands[self.index]
            self.index += 1
            self.q_commanded_rad = self.positions[self.index]
            return row
        return self.yield_command if self.phase == YIELD else self.q_commanded_rad

    @property
    def played_out(self) -> bool:
        return self.index >= len(self.commands)

    @property
    def fraction(self) -> float:
        return self.index / len(self.commands) if len(self.commands) else 1.0

    def digest(self, into: hashlib._Hash) -> None:
        into.update(f"{self.phase}|{self.index}|{self.yield_after_brake}".encode())
        for array in (self.q_commanded_rad, self.positions, self.commands, self.yield_command):
            into.update(np.ascontiguousarray(array).tobytes())
