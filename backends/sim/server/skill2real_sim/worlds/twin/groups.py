"""Books of motion groups: which motions run, how they ended, what the outside is told."""

from __future__ import annotations

import bisect
import hashlib
from dataclasses import dataclass, field, replace

import numpy as np

from ..base import GripperMove, GroupStatus, Motion, MotionStatus
from .guards import GuardWatch
from .jaw import JawPlayer
from .motion import ArmPlayer

KEPT_GROUPS = 16


@dataclass
class RunningMotion:
    index: int
    is_gripper: bool
    start_s: float
    times_s: tuple[float, ...] = ()
    guard: GuardWatch | None = None
    # Set when the end is decided but the arm has yet to come to rest.
    pending_end: str | None = None
    end_reason: str | None = None
    end_time_s: float = 0.0
    fraction: float = 0.0
    reached_point: int = 0

    def status(self) -> MotionStatus:
        contact = self.guard.contact_force_n if self.guard else None
        return MotionStatus(
            index=self.index,
            end_reason=self.end_reason,
            end_time_s=self.end_time_s,
            fraction_done=self.fraction,
            contact_force_n=None if contact is None else np.array(contact),
            reached_point=self.reached_point,
            mean_force_n=self.guard.mean_force_n if self.guard else 0.0,
        )


@dataclass
class RunningGroup:
    group: int
    motions: list[RunningMotion]
    next_progress_s: float

    @property
    def active(self) -> bool:
        return any(m.end_reason is None for m in self.motions)

    def status(self) -> GroupStatus:
        return GroupStatus(self.group, self.active, [m.status() for m in self.motions])


@dataclass
class GroupBook:
    """Active groups and the last KEPT_GROUPS ended ones."""

    active: list[RunningGroup] = field(default_factory=list)
    ended: list[RunningGroup] = field(default_factory=list)

    def running(self, is_gripper: bool) -> tuple[RunningGroup, RunningMotion] | None:
        for group in self.active:
            for motion in group.motions:
                if motion.is_gripper == is_gripper and motion.end_reason is None:
                    return group, motion
        return None

    def add(
        self, group: int, motions: list[Motion], now_s: float, guards: dict[int, GuardWatch]
    ) -> RunningGroup:
        running = [
            RunningMotion(
                index=n,
                is_gripper=isinstance(motion, GripperMove),
                start_s=now_s,
                times_s=() if isinstance(motion, GripperMove) else tuple(np.asarray(motion.time_s).tolist()),
                guard=guards.get(n),
            )
            for n, motion in enumerate(motions)
        ]
        added = RunningGroup(group, running, now_s + 0.1)
        self.active.append(added)
        return added

    def retire(self) -> None:
        done = [g for g in self.active if not g.active]
        if done:
            self.active = [g for g in self.active if g.active]
            self.ended = (self.ended + done)[-KEPT_GROUPS:]

    def refresh(self, now_s: float, arm: ArmPlayer, jaw: JawPlayer, opening_m: float) -> None:
        """Brings the progress of running motions up to date."""
        for group in self.active:
            for motion in group.motions:
                if motion.end_reason is not None:
                    continue
                if motion.is_gripper:
                    motion.fraction = jaw.fraction(opening_m)
                elif motion.pending_end is None:
                    motion.fraction = arm.fraction
                    motion.reached_point = max(
                        0, bisect.bisect_right(motion.times_s, now_s - motion.start_s + 1e-9) - 1
                    )

    def statuses(self) -> list[GroupStatus]:
        return [g.status() for g in (*self.ended, *self.active)]

    def digest(self, into: hashlib._Hash) -> None:
        # Numbers are names that the process gives; the same calls from a restored world get others.
        nameless = [[replace(group, group=0) for group in groups] for groups in (self.active, self.ended)]
        into.update(repr(nameless).encode())
