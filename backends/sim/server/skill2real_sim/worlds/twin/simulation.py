"""The stepping core: one control period is one physics step of 2 ms with its commands, guards and ends.

Nothing here reads a clock, draws a random number or keeps state outside its own fields; the fields are what a
snapshot copies and the state hash covers.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..base import GripperMove, GroupStatus, JointTrajectory, Motion, WorldEvent
from . import pika, ur5e
from .capabilities import ARM
from .groups import GroupBook, RunningGroup, RunningMotion
from .guards import BodyRange, ContactMonitor, GuardWatch, protective_reason
from .jaw import JawPlayer
from .mjcf_arm import ARMATURE
from .mjcf_gripper import WIDTH_KP, WIDTH_KV
from .mjcf_scene import TIMESTEP_S
from .motion import (
    BRAKE,
    HOLD,
    LOADED_RAD,
    LOADED_S,
    PLAY,
    SETTLE,
    SETTLE_LIMIT_S,
    SETTLED_RAD,
    SETTLED_RAD_S,
    YIELD,
    YIELD_FORCE_N,
    YIELD_LIMIT_S,
    ArmPlayer,
)

F64 = NDArray[np.float64]

PROGRESS_PERIOD_S = 0.1
HISTORY_TICKS = 10
# Scalars of the engine's data that its pickle leaves out; without them it takes what sleeps for awake.
_UNPICKLED = (
    "nbody_awake",
    "ntree_awake",
    "nv_awake",
    "nparent_awake",
    "flg_energypos",
    "flg_energyvel",
    "flg_subtreevel",
    "flg_rnepost",
)
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@dataclass
class Controls:
    """Everything beside the engine's own state that decides how the world goes on."""

    tick: int = 0
    arm: ArmPlayer = field(default_factory=lambda: ArmPlayer(TIMESTEP_S))
    jaw: JawPlayer = field(default_factory=lambda: JawPlayer(TIMESTEP_S))
    monitor: ContactMonitor = field(default_factory=lambda: ContactMonitor(TIMESTEP_S))
    book: GroupBook = field(default_factory=GroupBook)
    stopped: bool = False
    protective: bool = False
    settle_ticks: int = 0
    # Force that was there before the contact (a held object's weight): a yielding arm gives way to what came
    # on top.
    yield_from: tuple[float, ...] = (0.0, 0.0, 0.0)
    pending_events: list[WorldEvent] = field(default_factory=list)

    def digest(self, into: hashlib._Hash) -> None:
        flags = (self.tick, self.stopped, self.protective, self.settle_ticks, self.yield_from)
        into.update(repr((flags, self.pending_events)).encode())
        for part in (self.arm, self.jaw, self.monitor, self.book):
            part.digest(into)


class Simulation:
    """One compiled model and its run."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self.data = mujoco.MjData(model)
        self._view = mujoco.MjData(model)
        self._view_tick = -1
        self._work = mujoco.MjData(model)
        self.controls = Controls()
        self.bodies = BodyRange(model, self.data)
        self.width_actuator = model.actuator("width").id
        self.fingers = [int(model.joint(name).qposadr[0]) for name in ("finger_left", "finger_right")]
        self.data.qpos[:6] = ur5e.HOME_Q_RAD
        self.data.qpos[self.fingers] = pika.MAX_OPENING_M / 2
        self.data.ctrl[:6] = ur5e.HOME_Q_RAD
        self.data.ctrl[self.width_actuator] = pika.MAX_OPENING_M
        mujoco.mj_forward(model, self.data)

    # ---- reading

    @property
    def time_s(self) -> float:
        return self.controls.tick * TIMESTEP_S

    @property
    def opening_m(self) -> float:
        return float(self.data.qpos[self.fingers[0]] + self.data.qpos[self.fingers[1]])

    @property
    def opening_rate_m_s(self) -> float:
        # Hinges and slides come first, so velocity and position addresses agree for them.
        return float(self.data.qvel[self.fingers[0]] + self.data.qvel[self.fingers[1]])

    @property
    def width_force_n(self) -> float:
        """Force of the width servo [N] in the present state; negative closes."""
        limit = self.controls.jaw.force_n
        force = WIDTH_KP * (self.controls.jaw.command_m - self.opening_m) - WIDTH_KV * self.opening_rate_m_s
        return min(limit, max(-limit, force))

    def view(self) -> mujoco.MjData:
        """Positions, frames and contacts of the present state, in memory that stepping does not use."""
        if self._view_tick != self.controls.tick:
            self._view.qpos[:] = self.data.qpos
            self._view.qvel[:] = self.data.qvel
            mujoco.mj_fwdPosition(self.model, self._view)
            self._view_tick = self.controls.tick
        return self._view

    def inertia_torque_nm(self, q_rad: F64, qd_rad_s: F64, qdd_rad_s2: F64) -> F64:
        """Torques of the arm's joints for an acceleration, without gravity: M(q) qdd + C(q, qd)."""
        model, work = self.model, self._work
        work.qpos[:] = self.data.qpos
        work.qpos[:6] = q_rad
        mujoco.mj_kinematics(model, work)
        mujoco.mj_comPos(model, work)
        with_motion, at_rest = np.zeros(model.nv), np.zeros(model.nv)
        work.qvel[:] = 0.0
        work.qacc[:] = 0.0
        mujoco.mj_comVel(model, work)
        mujoco.mj_rne(model, work, 0, at_rest)
        work.qvel[:6] = qd_rad_s
        work.qacc[:6] = qdd_rad_s2
        mujoco.mj_comVel(model, work)
        mujoco.mj_rne(model, work, 1, with_motion)
        return with_motion[:6] - at_rest[:6] + np.array(ARMATURE) * qdd_rad_s2

    # ---- commands

    def start(self, group: int, motions: list[Motion]) -> float:
        """Starts checked motions; returns the expected end time."""
        c = self.controls
        guards: dict[int, GuardWatch] = {}
        longest = 0.0
        for n, motion in enumerate(motions):
            if isinstance(motion, GripperMove):
                force = motion.force_n or pika.DEFAULT_FORCE_N
                speed = motion.speed_m_s or pika.DEFAULT_SPEED_M_S
                longest = max(longest, c.jaw.begin(self.opening_m, motion.opening_m, force, speed))
                self._limit_width_force(force)
            elif isinstance(motion, JointTrajectory):
                guards[n] = GuardWatch.of(motion.guard, c.monitor)
                times, points = (np.asarray(v, dtype=np.float64) for v in (motion.time_s, motion.q_rad))
                c.arm.play(times, points, self.inertia_torque_nm)
                c.settle_ticks = 0
                longest = max(longest, float(motion.time_s[-1]))
        c.book.add(group, motions, self.time_s, guards)
        return self.time_s + longest

    def _limit_width_force(self, force_n: float) -> None:
        self.model.actuator_forcerange[self.width_actuator] = (-force_n, force_n)

    def stop(self) -> None:
        c = self.controls
        c.stopped = True
        c.arm.brake_from_command()
        c.jaw.freeze()
        self._end_all("STOPPED", None, "STOPPED")

    def clear_stop(self) -> None:
        c = self.controls
        c.stopped = c.protective = False
        if c.arm.phase == BRAKE:
            c.arm.brake_from_actual(self.data.qpos[:6], self.data.qvel[:6])
        else:
            c.arm.hold(self.data.qpos[:6].copy())

    @property
    def braking(self) -> bool:
        return self.controls.arm.phase in (BRAKE, YIELD)

    # ---- stepping

    def step(self, events: list[WorldEvent]) -> None:
        """One control period; appends what happened."""
        c, data = self.controls, self.data
        arm, jaw = c.arm, c.jaw
        data.ctrl[:6] = arm.next_command()
        data.ctrl[self.width_actuator] = jaw.next_command()
        mujoco.mj_step(self.model, data)
        mujoco.mj_rnePostConstraint(self.model, data)
        c.tick += 1
        c.monitor.update(data, self.bodies)
        if arm.phase != HOLD or not c.monitor.quiet:
            self._guard(events)
        if arm.phase != HOLD:
            self._advance_arm(events)
        if jaw.moving:
            self._advance_jaw(events)
        if c.book.active:
            self._progress(events)

    def _guard(self, events: list[WorldEvent]) -> None:
        c = self.controls
        error = 0.0
        if c.arm.phase == PLAY:
            error = float(np.abs(c.arm.q_commanded_rad - self.data.qpos[:6]).max())
        if not c.protective:
            reason = protective_reason(c.monitor, error)
            if reason is not None:
                c.protective = True
                running = c.book.running(is_gripper=False)
                guard = running[1].guard if running else None
                c.yield_from = guard.start[:3] if guard else (0.0, 0.0, 0.0)
                c.arm.brake_from_actual(self.data.qpos[:6], self.data.qvel[:6])
                c.jaw.freeze()
                self._end_all("PROTECTIVE_STOP", events, "PROTECTIVE_STOP")
                message = f"protective stop: {reason}. Look at the arm, free it, then resume with the token."
                events.append(
                    WorldEvent(self.time_s, "fault", code="protective_stop", message=message, arm=ARM)
                )
                return
        running = c.book.running(is_gripper=False)
        if running is None or running[1].guard is None or running[1].pending_end is not None:
            return
        group, motion = running
        assert motion.guard is not None
        if motion.guard.tripped(c.monitor.wrench):
            c.book.refresh(self.time_s, c.arm, c.jaw, self.opening_m)
            c.yield_from = motion.guard.start[:3]
            motion.pending_end = "CONTACT" if motion.guard.contact_expected else "UNEXPECTED_CONTACT"
            c.arm.brake_from_actual(self.data.qpos[:6], self.data.qvel[:6])
            for other in group.motions:
                if other is not motion and other.end_reason is None:
                    c.jaw.freeze()
                    self._end(group, other, "GROUP", events)

    def _advance_arm(self, events: list[WorldEvent]) -> None:
        c, arm = self.controls, self.controls.arm
        if not arm.played_out:
            return
        q, qd = self.data.qpos[:6], self.data.qvel[:6]
        if arm.phase == BRAKE and arm.yield_after_brake:
            arm.phase, c.settle_ticks = YIELD, 0
        if arm.phase == YIELD:
            arm.follow(q, qd)
            c.settle_ticks += 1
            if (
                c.monitor.change_n(c.yield_from) > YIELD_FORCE_N
                and c.settle_ticks * TIMESTEP_S < YIELD_LIMIT_S
            ):
                return
        if arm.phase in (BRAKE, YIELD):
            arm.phase = HOLD
            running = c.book.running(is_gripper=False)
            if running is not None:
                self._end(*running, running[1].pending_end or "STOPPED", events)
            return
        arm.phase = SETTLE
        c.settle_ticks += 1
        error = float(np.abs(arm.q_commanded_rad - q).max())
        still = float(np.abs(qd).max()) < SETTLED_RAD_S
        loaded = still and error < LOADED_RAD and c.settle_ticks * TIMESTEP_S >= LOADED_S
        late = c.settle_ticks * TIMESTEP_S > SETTLE_LIMIT_S
        if (still and error < SETTLED_RAD) or loaded or late:
            arm.phase = HOLD
            running = c.book.running(is_gripper=False)
            if running is not None:
                c.book.refresh(self.time_s, arm, c.jaw, self.opening_m)
                self._end(*running, "TIMEOUT" if late and not loaded else "COMPLETED", events)

    def _advance_jaw(self, events: list[WorldEvent]) -> None:
        c = self.controls
        reason = c.jaw.watch(self.opening_m, self.opening_rate_m_s, self.width_force_n)
        if reason is not None:
            running = c.book.running(is_gripper=True)
            if running is not None:
                c.book.refresh(self.time_s, c.arm, c.jaw, self.opening_m)
                self._end(*running, reason, events)

    def _progress(self, events: list[WorldEvent]) -> None:
        c, now = self.controls, self.time_s
        for group in c.book.active:
            if now >= group.next_progress_s - 1e-9:
                group.next_progress_s += PROGRESS_PERIOD_S
                c.book.refresh(now, c.arm, c.jaw, self.opening_m)
                events.append(WorldEvent(now, "group_progress", group=group.status()))

    # ---- ends

    def _end(
        self, group: RunningGroup, motion: RunningMotion, reason: str, events: list[WorldEvent] | None
    ) -> None:
        c = self.controls
        motion.end_reason, motion.end_time_s = reason, self.time_s
        if reason == "COMPLETED":
            motion.fraction = 1.0
            motion.reached_point = max(0, len(motion.times_s) - 1)
        c.book.retire()
        event = WorldEvent(self.time_s, "motion_ended", group=group.status())
        (c.pending_events if events is None else events).append(event)

    def _end_all(self, arm_reason: str, events: list[WorldEvent] | None, jaw_reason: str) -> None:
        c = self.controls
        c.book.refresh(self.time_s, c.arm, c.jaw, self.opening_m)
        for group in list(c.book.active):
            for motion in group.motions:
                if motion.end_reason is None:
                    self._end(group, motion, jaw_reason if motion.is_gripper else arm_reason, events)

    def statuses(self) -> list[GroupStatus]:
        c = self.controls
        c.book.refresh(self.time_s, c.arm, c.jaw, self.opening_m)
        return c.book.statuses()

    # ---- state

    def engine_copy(self) -> mujoco.MjData:
        """All of the engine's data: which bodies sleep is not part of its integration state."""
        return copy.copy(self.data)

    def restore_engine(self, data: mujoco.MjData) -> None:
        mujoco.mj_copyData(self.data, self.model, data)
        self._limit_width_force(self.controls.jaw.force_n)
        self._view_tick = -1

    @staticmethod
    def pack_engine(data: mujoco.MjData) -> tuple[mujoco.MjData, dict[str, int]]:
        return data, {name: int(getattr(data, name)) for name in _UNPICKLED}

    def unpack_engine(self, packed: tuple[mujoco.MjData, dict[str, int]]) -> mujoco.MjData:
        """Raises AttributeError, LookupError, TypeError or ValueError for what is not of ``pack_engine``."""
        data, scalars = packed
        sizes = (data.qpos.size, data.qvel.size, len(data.xpos), len(data.geom_xpos))
        model = self.model
        if not isinstance(data, mujoco.MjData) or sizes != (model.nq, model.nv, model.nbody, model.ngeom):
            raise ValueError("it is of another model")
        for name in _UNPICKLED:
            setattr(data, name, type(getattr(data, name))(scalars[name]))
        return data

    def digest_engine(self, into: hashlib._Hash) -> None:
        state = np.empty(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self.data, state, _STATE)
        into.update(state.tobytes())
        into.update(np.ascontiguousarray(self.data.tree_asleep).tobytes())
