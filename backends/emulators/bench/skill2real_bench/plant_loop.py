"""The plant's thread: 2 ms of physics every 2 ms of CLOCK_MONOTONIC, from and to the plant memory.

Deadlines are absolute. A step that comes late is made up for at once, up to ``MAX_LAG_S``; what is further
behind is dropped and counted, because catching up would play motions faster than they were meant. Each state
bears the time it was due at, so exposures and joint states that go together bear the same time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from skill2real_sim.core.log import LOGGER
from skill2real_sim.core.station import Station
from skill2real_sim.worlds.twin.mjcf_scene import TIMESTEP_S

from .arm_follower import ArmCommand
from .bench_world import BenchWorld
from .plant_memory import MODE_POSITION, PlantMemory
from .plant_simulation import GripperCommand
from .render_state import RenderMemory
from .scheduling import first_in_first_out
from .timing import LoopTiming

MAX_LAG_S = 0.05
FIRST_STEP_S = 5.0
# Below the controller's and the driver's loops, above everything that draws.
FIFO_PRIORITY = 10


class PlantLoop:
    def __init__(
        self,
        station: Station,
        world: BenchWorld,
        memory: PlantMemory,
        render: RenderMemory,
        on_defect: Callable[[str], None],
    ) -> None:
        self._station = station
        self._world = world
        self._memory = memory
        self._render = render
        self._on_defect = on_defect
        self._closing = threading.Event()
        self._stepped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="plant", daemon=True)
        self._frozen_until_s = 0.0
        self._steps = 0
        self.timing = LoopTiming()
        self.realtime = "not started"

    def start(self) -> None:
        """Returns when the first state is in the plant memory."""
        self._thread.start()
        if not self._stepped.wait(FIRST_STEP_S):
            raise RuntimeError(f"the plant took no step within {FIRST_STEP_S:g} s")

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def freeze(self, seconds: float) -> None:
        """From now on nothing is stepped or written for that long; 0 ends it."""
        self._frozen_until_s = time.monotonic() + seconds

    def _run(self) -> None:
        self.realtime, refused = first_in_first_out(FIFO_PRIORITY)
        if refused:
            LOGGER.info("the plant runs at %s (%s): a busy machine may delay it", self.realtime, refused)
        try:
            self._keep_up()
        except Exception:
            LOGGER.exception("the plant failed while stepping")
            self._on_defect("the plant failed while stepping")

    def _keep_up(self) -> None:
        timing = self.timing
        timing.begin()
        due_s = time.monotonic()
        while not self._closing.is_set():
            due_s += TIMESTEP_S
            now_s = time.monotonic()
            if now_s < due_s:
                time.sleep(due_s - now_s)
            elif now_s - due_s > MAX_LAG_S:
                timing.dropped_s += now_s - due_s
                due_s = now_s
            else:
                timing.caught_up += 1
            frozen_s = self._frozen_until_s - time.monotonic()
            if frozen_s > 0:
                self._closing.wait(min(frozen_s, 0.1))
                timing.frozen_s += time.monotonic() - due_s
                due_s = time.monotonic()
                continue
            began_s = time.monotonic()
            self._step(due_s)
            timing.step(began_s - due_s, time.monotonic() - began_s)

    def _step(self, due_s: float) -> None:
        self._read_commands(due_s)
        station, world = self._station, self._world
        station.step_by(TIMESTEP_S)
        self._steps += 1
        # A reset may put another simulation in place between the step and here: take what is there now.
        with station.lock.ordinary():
            simulation, epoch, resets = world.simulation, world.model_epoch, world.q_reset_count
            data = simulation.data
            state = self._memory.arm_state.staged
            state["host_time_s"], state["step"] = due_s, self._steps
            state["plant_time_s"] = self._steps * TIMESTEP_S
            state["q_rad"] = data.qpos[:6]
            state["qd_rad_s"] = data.qvel[:6]
            state["torque_nm"] = simulation.torque_nm
            state["wrench_base"] = simulation.controls.monitor.wrench
            state["q_reset_count"] = resets
            jaw = self._memory.gripper_state.staged
            jaw["host_time_s"], jaw["opening_m"] = due_s, simulation.opening_m
            jaw["opening_speed_m_s"] = simulation.opening_rate_m_s
            jaw["force_n"] = -simulation.width_force_n
            self._render.write(epoch, simulation.controls.tick, due_s, data.qpos)
        self._memory.arm_state.write()
        self._memory.gripper_state.write()
        if self._steps == 1:
            self._stepped.set()

    def _read_commands(self, due_s: float) -> None:
        inputs, memory = self._world.inputs, self._memory
        inputs.now_s = due_s
        if memory.arm_command.read():
            staged = memory.arm_command.staged
            inputs.arm = ArmCommand(
                float(staged["host_time_s"]),
                int(staged["cycle"]),
                int(staged["mode"]) == MODE_POSITION,
                staged["q_target_rad"].copy(),
            )
        if memory.gripper_command.read():
            staged = memory.gripper_command.staged
            inputs.gripper = GripperCommand(
                float(staged["opening_m"]),
                float(staged["force_n"]),
                float(staged["speed_m_s"]),
                int(staged["enabled"]) != 0,
            )
