"""The twin as the world of the bench: same tasks, seeds and verdicts, another arm and no motions of its
own."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray
from skill2real_sim.worlds.base import ArmState, ResetInfo
from skill2real_sim.worlds.twin import task_r1
from skill2real_sim.worlds.twin.capabilities import ARM
from skill2real_sim.worlds.twin.kinematics import tcp_pose
from skill2real_sim.worlds.twin.world import Prepared, TwinWorld

from .bench_cameras import LOOK_Q_RAD
from .plant_simulation import PlantInputs, PlantSimulation
from .rig_draw import RigDraw

F64 = NDArray[np.float64]

# An arm that stands still this near to the look pose stays as it is at a reset.
SAME_POSE_RAD = 0.005
STILL_RAD_S = 0.005


class BenchWorld(TwinWorld):
    """A TwinWorld whose arm is the rig's and follows ``inputs``; pictures are the camera process's."""

    def __init__(self, rig: RigDraw) -> None:
        super().__init__()
        self.rig = rig
        self.inputs = PlantInputs()
        # Rises with every reset or restore that put the arm somewhere else.
        self.q_reset_count = 0
        # Rises with every model, for the camera process.
        self.model_epoch = 0

    def capabilities(self) -> dict[str, object]:
        # Nothing of the bench is reached by the device protocol.
        return {"cameras": []}

    @property
    def simulation(self) -> PlantSimulation:
        simulation = self._run().simulation
        assert isinstance(simulation, PlantSimulation)
        return simulation

    def prepare(self, task: str, seed: int, hidden_salt: str, variant: str) -> Prepared:
        """Builds an episode beside the present one, which may go on meanwhile. Raises BadArgument."""
        prepared = self._prepare(task, seed, hidden_salt, variant)
        # The engine indexes all names when the first is looked up: not in the plant's first step.
        prepared.episode.simulation.data.body("gripper")
        return prepared

    def adopt(self, prepared: Prepared) -> ResetInfo:
        """Makes a prepared episode the present one.

        The jaw stays as it is. An arm that stands still at the look pose stays too; any other is put there.
        """
        before = self.simulation if self.ready else None
        after = prepared.episode.simulation
        assert isinstance(after, PlantSimulation)
        if before is not None:
            away = float(np.abs(before.data.qpos[:6] - np.array(LOOK_Q_RAD)).max())
            still = float(np.abs(before.data.qvel[:6]).max()) < STILL_RAD_S
            stays = still and away < SAME_POSE_RAD
            after.take_over(before, with_arm=stays)
            self.q_reset_count += not stays
        self.model_epoch += 1
        return self._adopt(prepared)

    def restore(self, state: object) -> None:
        super().restore(state)
        self.simulation.follower.put(self.simulation.data.qpos[:6].copy())
        self.q_reset_count += 1
        self.model_epoch += 1

    def _draw(self, seed: int, variant: str) -> task_r1.R1Task:
        r1 = task_r1.draw(seed, variant, ARM)
        # The cameras are the rig's: the seed of an episode does not move them.
        return replace(r1, spec=replace(r1.spec, pairs=(), deltas=self.rig.deltas))

    def _simulation_of(self, model: mujoco.MjModel) -> PlantSimulation:
        return PlantSimulation(model, self.inputs)

    def arms(self) -> list[ArmState]:
        simulation = self.simulation
        q = simulation.data.qpos[:6].copy()
        mode = "STOPPED" if simulation.follower.braked else "MOVING" if simulation.moving else "IDLE"
        return [
            ArmState(
                name=ARM,
                q_rad=q,
                qd_rad_s=simulation.data.qvel[:6].copy(),
                X_world_tcp=tcp_pose(q, self.rig.deltas),
                tcp_wrench=np.array(simulation.controls.monitor.wrench),
                mode=mode,
                time_s=simulation.time_s,
            )
        ]
