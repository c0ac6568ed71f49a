"""Drives a bench's world without real time: a controller and a gripper whose commands come on the dot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.twin.mjcf_scene import TIMESTEP_S

from ..arm_follower import ArmCommand
from ..bench_world import BenchWorld
from ..plant_simulation import GripperCommand

F64 = NDArray[np.float64]


class CommandedWorld:
    """Steps a world as the plant's loop does, with commands of the same moment."""

    def __init__(self, world: BenchWorld) -> None:
        self.world = world
        self.now_s = 1000.0
        self.cycle = 0
        self.q_target_rad: F64 | None = None

    @property
    def q_rad(self) -> F64:
        return self.world.simulation.data.qpos[:6].copy()

    def step(self, q_target_rad: F64 | None) -> None:
        """One period with the arm commanded to q_target_rad; None: the controller is silent."""
        self.now_s += TIMESTEP_S
        inputs = self.world.inputs
        inputs.now_s = self.now_s
        if q_target_rad is not None:
            self.cycle += 1
            self.q_target_rad = np.array(q_target_rad)
            inputs.arm = ArmCommand(self.now_s, self.cycle, True, self.q_target_rad)
        self.world.step_until(self.world.time_s + TIMESTEP_S, True)

    def hold(self, seconds: float) -> None:
        target = self.q_rad if self.q_target_rad is None else self.q_target_rad
        for _ in range(round(seconds / TIMESTEP_S)):
            self.step(target)

    def move(self, q_goal_rad: F64, seconds: float) -> float:
        """A rest-to-rest move; returns the largest distance of a joint from its target on the way [rad]."""
        start = self.q_rad if self.q_target_rad is None else self.q_target_rad
        worst = 0.0
        count = round(seconds / TIMESTEP_S)
        for n in range(1, count + 1):
            u = n / count
            target = start + u**3 * (10 - 15 * u + 6 * u * u) * (q_goal_rad - start)
            self.step(target)
            worst = max(worst, float(np.abs(self.q_rad - target).max()))
        return worst

    def grip(
        self, opening_m: float, force_n: float = 20.0, speed_m_s: float = 0.15, enabled: bool = True
    ) -> None:
        self.world.inputs.gripper = GripperCommand(opening_m, force_n, speed_m_s, enabled)
