"""The twin's physics with the live arm's joints as what its servos are told."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.base import WorldEvent
from skill2real_sim.worlds.twin import pika
from skill2real_sim.worlds.twin.kinematics import tcp_pose
from skill2real_sim.worlds.twin.mjcf_scene import TIMESTEP_S
from skill2real_sim.worlds.twin.motion import FEED_FORWARD_S
from skill2real_sim.worlds.twin.simulation import Simulation

F64 = NDArray[np.float64]

# A live arm further away than this is not followed but taken over: the mirror began late, or lost its line.
TAKE_OVER_RAD = 0.3
# Steps that are made up for at once; what is beyond is dropped, and the twin is behind for that moment.
MOST_STEPS = 100


class BadState(ValueError):  # noqa: N818 - a refusal, not a defect
    """A message that is no state of an arm."""


@dataclass(frozen=True)
class LiveState:
    """One state of the live arm: rad, rad/s, metres; X_world_tcp 4x4; time of CLOCK_MONOTONIC."""

    time_s: float
    q_rad: F64
    qd_rad_s: F64
    X_world_tcp: F64
    opening_m: float | None


@dataclass(frozen=True)
class Gap:
    """How far live arm and twin are apart."""

    age_s: float
    joints_rad: F64
    tcp_m: float
    kinematics_m: float
    opening_m: float | None
    touches: list[str]


def parse_state(message: bytes) -> LiveState:
    """Raises BadState."""
    try:
        told = json.loads(message)
        time_s = float(told["time_s"])
        q_rad = np.array(told["q_rad"], dtype=np.float64)
        qd_rad_s = np.array(told["qd_rad_s"], dtype=np.float64)
        X_world_tcp = np.array(told["X_world_tcp"], dtype=np.float64)
        opening_m = None if told["opening_m"] is None else float(told["opening_m"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadState(f"no state of an arm: {error!r}") from None
    if q_rad.shape != (6,) or qd_rad_s.shape != (6,) or X_world_tcp.shape != (16,):
        raise BadState("joints, speeds and pose must be 6, 6 and 16 numbers")
    numbers = np.concatenate([q_rad, qd_rad_s, X_world_tcp, [time_s, opening_m or 0.0]])
    if not bool(np.isfinite(numbers).all()):
        raise BadState("a number of the state is not finite")
    return LiveState(time_s, q_rad, qd_rad_s, X_world_tcp.reshape(4, 4), opening_m)


class MirrorTwin(Simulation):
    """Steps in real time behind the newest live state."""

    def __init__(self, model: mujoco.MjModel) -> None:
        super().__init__(model)
        self._live: LiveState | None = None
        self._until_s = math.nan
        self.taken_over = 0
        self.dropped_s = 0.0

    def follow(self, live: LiveState, now_s: float) -> None:
        """Steps up to now_s towards ``live``, which is carried on along its speed by its age."""
        if self._live is None or float(np.abs(live.q_rad - self.data.qpos[:6]).max()) > TAKE_OVER_RAD:
            self._put(live, now_s)
        self._live = live
        steps = int((now_s - self._until_s) / TIMESTEP_S)
        if steps > MOST_STEPS:
            self.dropped_s += (steps - MOST_STEPS) * TIMESTEP_S
            self._until_s += (steps - MOST_STEPS) * TIMESTEP_S
            steps = MOST_STEPS
        for _ in range(steps):
            self._until_s += TIMESTEP_S
            self.step([])

    def _put(self, live: LiveState, now_s: float) -> None:
        self.data.qpos[:6] = live.q_rad
        self.data.qvel[:6] = live.qd_rad_s
        if live.opening_m is not None:
            self.data.qpos[self.fingers] = min(max(live.opening_m, 0.0), pika.MAX_OPENING_M) / 2
        mujoco.mj_forward(self.model, self.data)
        self._until_s = now_s
        self._view_tick = -1
        self.taken_over += 1

    def step(self, events: list[WorldEvent]) -> None:
        """One period of 2 ms; the servos are told where the live arm is at that moment."""
        assert self._live is not None
        ahead_s = min(0.05, max(0.0, self._until_s - self._live.time_s)) + FEED_FORWARD_S
        self.data.ctrl[:6] = self._live.q_rad + ahead_s * self._live.qd_rad_s
        if self._live.opening_m is not None:
            self.data.ctrl[self.width_actuator] = self._live.opening_m
        mujoco.mj_step(self.model, self.data)
        self.controls.tick += 1

    def gap(self, now_s: float) -> Gap:
        live = self._live
        assert live is not None
        age_s = now_s - live.time_s
        q_live = live.q_rad + min(0.05, max(0.0, age_s)) * live.qd_rad_s
        q_twin = self.data.qpos[:6].copy()
        twin_m, same_m = tcp_pose(q_twin)[:3, 3], tcp_pose(live.q_rad)[:3, 3]
        live_m = live.X_world_tcp[:3, 3]
        return Gap(
            age_s=age_s,
            joints_rad=q_live - q_twin,
            tcp_m=float(np.linalg.norm(live_m - twin_m)),
            kinematics_m=float(np.linalg.norm(live_m - same_m)),
            opening_m=None if live.opening_m is None else live.opening_m - self.opening_m,
            touches=self._touches(),
        )

    def _touches(self) -> list[str]:
        """What the twin's arm touches and should not: pairs of bodies, fingers on each other left out."""
        model = self.model
        pairs = set()
        for contact in self.data.contact[: self.data.ncon]:
            bodies = sorted(model.body(int(model.geom_bodyid[g])).name for g in contact.geom)
            if not all("finger" in name for name in bodies):
                pairs.add("|".join(bodies))
        return sorted(pairs)[:8]
