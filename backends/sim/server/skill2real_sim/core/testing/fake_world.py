"""A deterministic kinematic world without physics, for the core's own tests and nothing else."""

from __future__ import annotations

import copy
import hashlib
import time
from dataclasses import dataclass, field

import numpy as np

from skill2real_sim.worlds import base

PERIOD_S = 0.002
HOME = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
MAX_OPENING_M = 0.095
SLOWING_S = 0.1  # a stopped arm comes to rest in this time
START_TOLERANCE_RAD = 0.02


@dataclass
class _State:
    """Everything that a snapshot holds."""

    seed: int = 0
    ticks: int = 0
    q_rad: base.F64 = field(default_factory=HOME.copy)
    qd_rad_s: base.F64 = field(default_factory=lambda: np.zeros(6))
    opening_m: float = MAX_OPENING_M
    target_opening_m: float = MAX_OPENING_M
    latched: str | None = None
    protective: bool = False
    motions: list[base.Motion] = field(default_factory=list)
    started_s: float = 0.0
    active: base.GroupStatus | None = None
    ended: list[base.GroupStatus] = field(default_factory=list)


class FakeWorld:
    """One arm "arm" that follows its trajectories exactly, one gripper, a camera pair "left" and "right".

    A first joint beyond 2.5 rad is taken as a crash and latches a protective stop. Of the variants,
    "slow_render" makes pictures take 0.3 s, "slow_step" each step 3 ms and "slow_reset" the reset 0.5 s;
    "broken_step" raises, and "hung_step" never returns from the step after 0.5 s.
    """

    control_period_s = PERIOD_S
    packed_classes: tuple[type, ...] = (
        _State,
        base.Guard,
        base.JointTrajectory,
        base.TcpPath,
        base.GripperMove,
        base.GroupStatus,
        base.MotionStatus,
    )
    renderer = "none"

    def __init__(self, width: int = 64, height: int = 48) -> None:
        self._size = (width, height)
        self._state: _State | None = None
        self._variant = ""
        self.renders = 0

    def capabilities(self) -> dict[str, object]:
        identity = np.eye(4)
        limit = {"position_min_rad": -6.3, "position_max_rad": 6.3, "velocity_rad_s": 3.0, "torque_nm": 150.0}
        camera = {
            "parent": "world",
            "width": self._size[0],
            "height": self._size[1],
            "fx_px": 50.0,
            "fy_px": 50.0,
        }
        return {
            "embodiment": "robot",
            "arms": [
                {
                    "name": "arm",
                    "model": "fake",
                    "dh": [{"d_m": 0.1}] * 6,
                    "X_world_base": identity,
                    "X_flange_tcp": identity,
                    "limits": [limit] * 6,
                    "home_q_rad": HOME,
                }
            ],
            "grippers": [
                {
                    "arm": "arm",
                    "control": "width",
                    "measured": True,
                    "max_opening_m": MAX_OPENING_M,
                    "max_force_n": 40.0,
                    "max_speed_m_s": 0.2,
                }
            ],
            "cameras": [
                {"name": name, "X_parent_camera": identity, "format": "rgb8", **camera}
                for name in ("left", "right")
            ],
            "views": [{"role": "topdown", "left": "left", "right": "right", "baseline_m": 0.05}],
            "features": ["joint_trajectory", "gripper"],
            "control_period_s": PERIOD_S,
            "workspace": {"table_z_m": 0.0, "min_xyz_m": [-1, -1, 0], "max_xyz_m": [1, 1, 1]},
        }

    def tasks(self) -> list[str]:
        return ["r1"]

    def reset(self, task: str, seed: int, hidden_salt: str, variant: str) -> base.ResetInfo:
        if variant not in ("", "slow_render", "slow_step", "slow_reset", "broken_step", "hung_step"):
            raise base.BadArgument(f"no variant {variant!r}")
        if variant == "slow_reset":
            time.sleep(0.5)
        self._state = _State(seed=seed)
        self._variant = variant
        return base.ResetInfo(f"do task {task}", 0, {}, "{}")

    @property
    def ready(self) -> bool:
        return self._state is not None

    @property
    def time_s(self) -> float:
        return 0.0 if self._state is None else self._state.ticks * PERIOD_S

    # ------------------------------------------------------------ motion

    def check_group(self, motions: list[base.Motion]) -> None:
        for motion in motions:
            if isinstance(motion, base.JointTrajectory):
                if np.abs(motion.q_rad).max() > 6.3:
                    raise base.BadArgument("q_rad is beyond 6.3 rad")
                if np.abs(motion.q_rad[0] - self._state.q_rad).max() > START_TOLERANCE_RAD:
                    raise base.NotStart("the trajectory does not start where the arm is")

    def busy(self, motions: list[base.Motion]) -> str | None:
        del motions
        return "arm" if self._state.active is not None else None

    def start_group(self, group: int, motions: list[base.Motion]) -> float:
        self.check_group(motions)
        s = self._state
        s.motions, s.started_s = motions, self.time_s
        s.active = base.GroupStatus(group, True, [base.MotionStatus(i) for i in range(len(motions))])
        for motion in motions:
            if isinstance(motion, base.GripperMove):
                s.target_opening_m = motion.opening_m
        return self.time_s + max(self._duration(motion) for motion in motions)

    def stop(self, reason: str) -> None:
        self._state.latched = reason

    def clear_stop(self) -> None:
        self._state.latched = None
        self._state.protective = False
        self._state.qd_rad_s[:] = 0.0

    def step_until(self, until_s: float, through_motion_ends: bool) -> list[base.WorldEvent]:
        events: list[base.WorldEvent] = []
        target = round(until_s / PERIOD_S)
        while self._state.ticks < target:
            if self._variant == "broken_step":
                raise RuntimeError("this world is broken on purpose")
            if self._variant == "slow_step":
                time.sleep(0.003)
            while self._variant == "hung_step" and self._state.ticks >= 250:
                time.sleep(0.1)
            self._state.ticks += 1
            events += self._tick()
            if any(
                e.kind == "fault" or (e.kind == "motion_ended" and not through_motion_ends) for e in events
            ):
                break
        return events

    def _tick(self) -> list[base.WorldEvent]:
        s, now = self._state, self.time_s
        if s.latched is not None or s.protective:
            s.qd_rad_s *= max(0.0, 1.0 - PERIOD_S / SLOWING_S)
            s.q_rad = s.q_rad + s.qd_rad_s * PERIOD_S
            return self._end_all("STOPPED") if s.active is not None else []
        if s.active is None:
            return []
        events: list[base.WorldEvent] = []
        for index, motion in enumerate(s.motions):
            status = s.active.motions[index]
            if status.end_reason is not None:
                continue
            elapsed = now - s.started_s
            status.fraction_done = min(1.0, elapsed / self._duration(motion))
            if isinstance(motion, base.JointTrajectory):
                q = np.array([np.interp(elapsed, motion.time_s, motion.q_rad[:, j]) for j in range(6)])
                s.qd_rad_s, s.q_rad = (q - s.q_rad) / PERIOD_S, q
                status.reached_point = int(np.searchsorted(motion.time_s, elapsed, "right")) - 1
            elif isinstance(motion, base.GripperMove):
                step = np.clip(motion.opening_m - s.opening_m, -0.1 * PERIOD_S, 0.1 * PERIOD_S)
                s.opening_m += float(step)
            if elapsed >= self._duration(motion) - 1e-9:
                status.end_reason, status.end_time_s = "COMPLETED", now
                s.active.active = any(m.end_reason is None for m in s.active.motions)
                events.append(base.WorldEvent(now, "motion_ended", copy.deepcopy(s.active)))
        if s.q_rad[0] > 2.5:
            s.protective = True
            events += self._end_all("PROTECTIVE_STOP")
            events.append(
                base.WorldEvent(now, "fault", None, "protective_stop", "the arm hit something", "arm")
            )
        elif s.active.active and s.ticks % 50 == 0:
            events.append(base.WorldEvent(now, "group_progress", copy.deepcopy(s.active)))
        if s.active is not None and not s.active.active:
            self._retire()
        return events

    def _end_all(self, reason: str) -> list[base.WorldEvent]:
        s = self._state
        for status in s.active.motions:
            if status.end_reason is None:
                status.end_reason, status.end_time_s = reason, self.time_s
        s.active.active = False
        group = self._retire()
        return [base.WorldEvent(self.time_s, "motion_ended", copy.deepcopy(group))]

    def _retire(self) -> base.GroupStatus:
        s = self._state
        group, s.active = s.active, None
        s.motions = []
        s.ended = [*s.ended, group][-16:]
        if s.latched is None and not s.protective:
            s.qd_rad_s = np.zeros(6)
        return group

    def _duration(self, motion: base.Motion) -> float:
        if isinstance(motion, base.GripperMove):
            return 0.5
        return float(motion.time_s[-1])

    # ------------------------------------------------------------ looking

    def groups(self) -> list[base.GroupStatus]:
        s = self._state
        return [*s.ended, *([s.active] if s.active is not None else [])]

    def arms(self) -> list[base.ArmState]:
        s = self._state
        mode = (
            "PROTECTIVE_STOP"
            if s.protective
            else "STOPPED"
            if s.latched
            else "MOVING"
            if s.active
            else "IDLE"
        )
        pose = np.eye(4)
        pose[0, 3] = s.q_rad[0]
        return [base.ArmState("arm", s.q_rad.copy(), s.qd_rad_s.copy(), pose, np.zeros(6), mode, self.time_s)]

    def grippers(self) -> list[base.GripperState]:
        s = self._state
        return [base.GripperState("arm", s.opening_m, s.target_opening_m, 0.0, False, False, self.time_s)]

    def render_state(self) -> object:
        return self.time_s, self.arms()

    def render(self, cameras: list[str], state: object | None = None) -> list[base.Frame]:
        time_s, arms = self.render_state() if state is None else state
        if self._variant == "slow_render":
            time.sleep(0.3)
        width, height = self._size
        frames = []
        for camera in cameras:
            self.renders += 1
            pixels = np.full((height, width, 3), int(time_s * 1000) % 256, np.uint8)
            pixels[0, 0] = (1, 2, 3) if camera == "left" else (4, 5, 6)
            identity = np.eye(4)
            frames.append(
                base.Frame(
                    camera,
                    width,
                    height,
                    "rgb8",
                    pixels,
                    time_s,
                    50.0,
                    50.0,
                    0.0,
                    0.0,
                    "world",
                    identity,
                    identity,
                    arms,
                )
            )
        return frames

    # ------------------------------------------------------------ truth

    def evaluate(self) -> base.Evaluation:
        moved = float(np.abs(self._state.q_rad - HOME).max())
        return base.Evaluation(
            moved > 0.5, [base.Predicate("moved", moved > 0.5, moved, "rad", 0.5)], "not_moved"
        )

    def true_bodies(self) -> list[base.TrueBody]:
        return [base.TrueBody("cube", "box", "red", np.eye(4), np.full(3, 0.04), 0.1, "target")]

    def true_contacts(self) -> list[str]:
        return ["cube|table"]

    def snapshot(self) -> object:
        return copy.deepcopy(self._state)

    def restore(self, state: object) -> None:
        self._state = copy.deepcopy(state)

    def pack(self, state: object) -> object:
        return copy.deepcopy(state)

    def unpack(self, packed: object) -> object:
        if not isinstance(packed, _State) or self._state is None or packed.seed != self._state.seed:
            raise base.BadArgument("the snapshot is of another seed")
        return packed

    def state_hash(self) -> str:
        s = self._state
        words = (
            s.seed,
            s.ticks,
            s.q_rad.tobytes(),
            s.qd_rad_s.tobytes(),
            s.opening_m,
            s.latched,
            s.protective,
        )
        return hashlib.sha256(repr(words).encode()).hexdigest()

    def close(self) -> None:
        self._state = None
