"""The twin's physics under commands from outside: one step follows what the plant memory holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.base import WorldEvent
from skill2real_sim.worlds.twin import pika
from skill2real_sim.worlds.twin.mjcf_scene import TIMESTEP_S
from skill2real_sim.worlds.twin.simulation import Simulation

from .arm_follower import ArmCommand, ArmFollower
from .bench_cameras import LOOK_Q_RAD

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class GripperCommand:
    opening_m: float
    force_n: float
    speed_m_s: float
    enabled: bool

    @property
    def finite(self) -> bool:
        return all(math.isfinite(v) for v in (self.opening_m, self.force_n, self.speed_m_s))


@dataclass
class PlantInputs:
    """What the controller and the gripper want at ``now_s`` (CLOCK_MONOTONIC)."""

    now_s: float = 0.0
    arm: ArmCommand | None = None
    gripper: GripperCommand | None = None


class PlantSimulation(Simulation):
    """Starts with the arm at the look pose, brakes on. Grips by friction alone, as the twin does."""

    def __init__(self, model: mujoco.MjModel, inputs: PlantInputs) -> None:
        super().__init__(model)
        self._inputs = inputs
        self.follower = ArmFollower(np.array(LOOK_Q_RAD), TIMESTEP_S)
        self.refused_gripper = 0
        self.put_arm(np.array(LOOK_Q_RAD))

    def put_arm(self, q_rad: F64) -> None:
        """Sets the arm down at q_rad, at rest, brakes on."""
        self.data.qpos[:6] = q_rad
        self.data.qvel[:6] = 0.0
        self.data.ctrl[:6] = q_rad
        self.controls.arm.hold(q_rad)
        self.follower.put(q_rad)
        mujoco.mj_forward(self.model, self.data)

    def take_over(self, other: PlantSimulation, with_arm: bool) -> None:
        """The jaw stays as it is in ``other``, and so does the arm where asked."""
        self.data.qpos[self.fingers] = other.data.qpos[other.fingers]
        self.controls.jaw = other.controls.jaw
        self._limit_width_force(self.controls.jaw.force_n)
        if with_arm:
            self.data.qpos[:6] = other.data.qpos[:6]
            self.data.qvel[:6] = other.data.qvel[:6]
            self.data.ctrl[:6] = other.data.ctrl[:6]
            self.follower = other.follower
        mujoco.mj_forward(self.model, self.data)
        self._view_tick = -1

    def step(self, events: list[WorldEvent]) -> None:
        c, data, inputs = self.controls, self.data, self._inputs
        data.ctrl[:6] = self.follower.next(inputs.arm, inputs.now_s, data.qpos[:6], data.qvel[:6])
        c.arm.q_commanded_rad = self.follower.q_target_rad
        self._drive_jaw(inputs.gripper)
        data.ctrl[self.width_actuator] = c.jaw.next_command()
        mujoco.mj_step(self.model, data)
        mujoco.mj_rnePostConstraint(self.model, data)
        c.tick += 1
        c.monitor.update(data, self.bodies)

    def _drive_jaw(self, command: GripperCommand | None) -> None:
        if command is None:
            return
        if not command.finite:
            self.refused_gripper += 1
            return
        jaw = self.controls.jaw
        force = min(max(command.force_n, 0.0), pika.MAX_FORCE_N) if command.enabled else 0.0
        if force != jaw.force_n:
            jaw.force_n = force
            self._limit_width_force(force)
        if not command.enabled:
            jaw.command_m = jaw.target_m = self.opening_m
            return
        target = min(max(command.opening_m, 0.0), pika.MAX_OPENING_M)
        if target > self.opening_m and jaw.command_m < self.opening_m:
            jaw.command_m = (
                self.opening_m
            )  # an opening move starts from the fingers, not from inside the object
        jaw.target_m = target
        speed = command.speed_m_s if command.speed_m_s > 0 else pika.DEFAULT_SPEED_M_S
        jaw.speed_m_s = min(max(speed, pika.MIN_SPEED_M_S), pika.MAX_SPEED_M_S)

    @property
    def moving(self) -> bool:
        """Whether the arm or the jaw turns noticeably (10 mrad/s, 5 mm/s)."""
        return bool(np.abs(self.data.qvel[:6]).max() > 0.01) or abs(self.opening_rate_m_s) > 0.005

    @property
    def torque_nm(self) -> F64:
        """What the joints' drives give: the servos' torques and those that carry the links."""
        return self.data.qfrc_actuator[:6] + self.data.qfrc_gravcomp[:6]
