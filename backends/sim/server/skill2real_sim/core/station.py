"""The station: one world with its lock, latch, events and evidence, which the planes act through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from skill2real_sim.core import codec
from skill2real_sim.core.events import EventBus
from skill2real_sim.core.evidence_log import EvidenceLog
from skill2real_sim.core.log import LOGGER
from skill2real_sim.core.refusal import Refusal
from skill2real_sim.core.stop_latch import LatchState, StopLatch
from skill2real_sim.core.world_lock import WorldLock
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.worlds import base

NOTHING_LATCHED = LatchState(0, False, "", False)


@dataclass(frozen=True)
class Step:
    """What one slice of time brought."""

    motion_ended: bool
    fault: bool


@dataclass(frozen=True)
class Snapshot:
    world: object
    latch: LatchState
    groups_given: int


class Station:
    """Thread-safe, except that reset, restore and frames belong to the thread that made the world."""

    def __init__(self, world: base.World, events: EventBus) -> None:
        self.world = world
        self.events = events
        self.latch = StopLatch()
        self.lock = WorldLock()
        self.world_epoch = 0
        self.evidence: EvidenceLog | None = None
        self._groups_given = 0
        self._recorded: set[int] = set()  # groups whose beginning the evidence log has
        self._rebuilding = False
        self._time_s = 0.0
        # Rises with everything that may change a state reply or a picture.
        self._version = 0
        self._state_kept: tuple[int, dp.StateReply] | None = None
        self._frames_kept: tuple[int, dict[str, base.Frame]] = (-1, {})

    @property
    def time_s(self) -> float:
        """Device time after the last slice; needs no lock."""
        return self._time_s

    @property
    def nearest_s(self) -> float:
        """A world moves in whole control periods; a time that is this near is the one it can reach."""
        return self.world.control_period_s / 2 + 1e-9

    def require_ready(self) -> None:
        if not self.world.ready:
            raise Refusal(dp.ERROR_NOT_READY, "no world is loaded yet; it comes with the first reset")

    # ------------------------------------------------------------ state and pictures

    def capabilities(self) -> dict[str, object]:
        """Of the present world: an episode may have cameras of its own."""
        with self.lock.ordinary():
            return self.world.capabilities()

    def state(self) -> dp.StateReply:
        """Kept until something changes, so that asking again costs nothing. Callers must not write to it."""
        with self.lock.ordinary():
            kept = self._state_kept
            if kept is not None and kept[0] == self._version:
                return kept[1]
            latch = self.latch.state
            reply = dp.StateReply(
                arms=[codec.arm_message(arm) for arm in self.world.arms()],
                grippers=[codec.gripper_message(gripper) for gripper in self.world.grippers()],
                stop_latched=latch.latched,
                stop_reason=latch.reason,
                groups=[codec.group_message(group) for group in self.world.groups()],
            )
            self._state_kept = (self._version, reply)
            return reply

    def frames(self, cameras: list[str]) -> list[base.Frame]:
        """Pictures of the present state. While nothing changes, a picture is made once and given again."""
        with self.lock.ordinary():
            version = self._version
            if self._frames_kept[0] != version:
                self._frames_kept = (version, {})
            kept = self._frames_kept[1]
            missing = [camera for camera in cameras if camera not in kept]
            state = self.world.render_state() if missing else None
        if missing:
            for frame in self.world.render(missing, state):
                frame.pixels.setflags(write=False)
                kept[frame.camera] = frame
        return [kept[camera] for camera in cameras]

    # ------------------------------------------------------------ motion

    def execute(self, stop_epoch: int, motions: list[base.Motion]) -> tuple[int, float, float]:
        """Starts a group; returns its number, start and expected end."""
        with self.lock.ordinary():
            latch = self.latch.state
            if latch.fault:
                raise Refusal(dp.ERROR_FAULT, f"{latch.reason}; a person must look and Resume with a token")
            if latch.latched:
                raise Refusal(
                    dp.ERROR_STOP_EPOCH,
                    f"a stop is latched ({latch.reason}); Resume epoch {latch.epoch} first",
                )
            if stop_epoch != latch.epoch:
                raise Refusal(
                    dp.ERROR_STOP_EPOCH,
                    f"planned in stop epoch {stop_epoch}, it is {latch.epoch} now; plan again",
                )
            try:
                mover = self.world.busy(motions)
                if mover is not None:
                    raise Refusal(dp.ERROR_BUSY, f"{mover} is moving already; wait for its end or stop it")
                expected_end_s = self.world.start_group(self._groups_given + 1, motions)
            except base.NotStart as error:
                raise Refusal(dp.ERROR_NOT_START, str(error)) from None
            except base.BadArgument as error:
                raise Refusal(dp.ERROR_BAD_ARGUMENT, str(error)) from None
            self._groups_given += 1
            group = self._groups_given
            self._version += 1
            started = next(status for status in self.world.groups() if status.group == group)
            self.events.publish(self._time_s, "group_started", codec.group_message(started))
            if self.evidence is not None:
                self.evidence.write(self.world, "start", [group])
                self._recorded.add(group)
            return group, self._time_s, expected_end_s

    def step(self, until_s: float, through_motion_ends: bool) -> Step:
        """One slice of time; it ends early where evidence is due."""
        with self.lock.ordinary():
            return self._step(until_s, through_motion_ends)

    def step_by(self, duration_s: float) -> Step:
        """Like ``step``, from the present time of whatever world is there once the lock is had.

        A clock's thread that waits while the world is replaced must not carry the old world's time into it.
        """
        with self.lock.ordinary():
            return self._step(self._time_s + duration_s, True)

    def _step(self, until_s: float, through_motion_ends: bool) -> Step:
        world = self.world
        recording = self.evidence is not None and bool(self._recorded)
        if recording and self._time_s < self.evidence.next_time_s < until_s:
            until_s = self.evidence.next_time_s
        # The slice ends with a motion, so that the evidence of its end is of that moment.
        happened = world.step_until(until_s, through_motion_ends and not recording)
        self._time_s = world.time_s
        self._version += 1
        if recording and self._time_s >= self.evidence.next_time_s - 1e-9:
            self.evidence.write(world, "during", sorted(self._recorded))
        ended = fault = False
        for event in happened:
            if event.kind == "motion_ended":
                ended = True
                self._motion_ended(event)
            elif event.kind == "group_progress":
                self.events.publish(event.time_s, "group_progress", codec.group_message(event.group))
            elif event.kind == "fault":
                fault = True
                self._fault(event)
            else:
                raise ValueError(f"the world reported an unknown event {event.kind!r}")
        return Step(ended, fault)

    def record_to(self, log: EvidenceLog | None) -> EvidenceLog | None:
        """Evidence goes to ``log`` from now on; returns the log before it, which the caller closes."""
        with self.lock.ordinary():
            before, self.evidence = self.evidence, log
            self._begin_evidence()
            return before

    def _begin_evidence(self) -> None:
        # A motion that is on its way already is recorded from here on, without a "start".
        groups = self.world.groups() if self.evidence is not None and self.world.ready else []
        self._recorded = {group.group for group in groups if group.active}
        if self.evidence is not None:
            self.evidence.next_time_s = self._time_s

    def _motion_ended(self, event: base.WorldEvent) -> None:
        self.events.publish(event.time_s, "motion_ended", codec.group_message(event.group))
        if not event.group.active and event.group.group in self._recorded:
            if self.evidence is not None:
                self.evidence.write(self.world, "end", [event.group.group])
            self._recorded.discard(event.group.group)

    def _fault(self, event: base.WorldEvent) -> None:
        latch = self.latch.latch(f"{event.code}: {event.message}", fault=True)
        LOGGER.warning("fault %s on arm %r: %s", event.code, event.arm, event.message)
        fault = dp.Fault(code=event.code, message=event.message, arm=event.arm)
        self.events.publish(event.time_s, "fault", fault)
        self.events.publish(event.time_s, "stopped", dp.Stopped(stop_epoch=latch.epoch, reason=latch.reason))

    @property
    def moving(self) -> bool:
        with self.lock.ordinary():
            return self.world.ready and any(group.active for group in self.world.groups())

    # ------------------------------------------------------------ stop and resume

    def stop(self, reason: str) -> tuple[int, float]:
        """Latches a stop, from any thread; returns the new epoch and the device time at which the arm slows.

        The epoch rises before the world is waited for, so nothing planned earlier can start from here on.
        """
        latch = self.latch.latch(reason)
        LOGGER.info("stop latched, epoch %d: %s", latch.epoch, reason)
        if self._rebuilding:
            # Nothing moves in a world that is being replaced; the new one starts with this stop latched.
            time_s = self._time_s
        else:
            with self.lock.urgent():
                self._stop_world(latch.reason)
                time_s = self._time_s
        self.events.publish(time_s, "stopped", dp.Stopped(stop_epoch=latch.epoch, reason=latch.reason))
        return latch.epoch, time_s

    def _stop_world(self, reason: str) -> None:
        if self.world.ready:
            self.world.stop(reason)
        self._version += 1

    def resume(self, stop_epoch: int, token: str) -> None:
        with self.lock.ordinary():
            latch = self.latch.state
            if stop_epoch != latch.epoch:
                raise Refusal(
                    dp.ERROR_STOP_EPOCH,
                    f"Resume names stop epoch {stop_epoch}, it is {latch.epoch} now; read the state again",
                )
            if not latch.latched:
                return
            if latch.fault and not self.latch.accepts(token):
                raise Refusal(
                    dp.ERROR_RESUME_TOKEN,
                    f"{latch.reason}; clearing it needs a single-use token from the backend's side",
                )
            if not self.latch.clear(latch.epoch):
                raise Refusal(dp.ERROR_STOP_EPOCH, "another stop came meanwhile; read the state again")
            if self.world.ready:
                self.world.clear_stop()
            self._version += 1
            self.events.publish(self._time_s, "resumed", dp.Resumed(stop_epoch=latch.epoch))

    # ------------------------------------------------------------ replacing the world

    def reset(self, task: str, seed: int, hidden_salt: str, variant: str) -> base.ResetInfo:
        """Raises BadArgument and leaves the old world where the new one cannot be built."""
        info: list[base.ResetInfo] = []
        self._replace(
            lambda: info.append(self.world.reset(task, seed, hidden_salt, variant)), NOTHING_LATCHED
        )
        return info[0]

    def snapshot(self) -> Snapshot:
        with self.lock.ordinary():
            return Snapshot(self.world.snapshot(), self.latch.state, self._groups_given)

    def restore(self, snapshot: Snapshot) -> None:
        self._replace(lambda: self.world.restore(snapshot.world), snapshot.latch)
        # Another process may have given more; a number is never given twice.
        self._groups_given = max(self._groups_given, snapshot.groups_given)

    def pack(self, snapshot: Snapshot) -> object:
        with self.lock.ordinary():
            return replace(snapshot, world=self.world.pack(snapshot.world))

    @property
    def packed_classes(self) -> tuple[type, ...]:
        """The classes that what was packed may hold."""
        return (Snapshot, LatchState, *self.world.packed_classes)

    def unpack(self, packed: object) -> Snapshot:
        """Raises BadArgument for what was not packed of the present episode."""
        if not (
            isinstance(packed, Snapshot)
            and getattr(packed, "world", None) is not None
            and isinstance(getattr(packed, "latch", None), LatchState)
            and isinstance(getattr(packed, "groups_given", None), int)
        ):
            raise base.BadArgument("this is no snapshot of a world")
        with self.lock.ordinary():
            return replace(packed, world=self.world.unpack(packed.world))

    def _replace(self, build: Callable[[], None], latch: LatchState) -> None:
        with self.lock.ordinary():
            before = self.latch.state
            self._rebuilding = True
            try:
                build()
            except BaseException:
                self._rebuilding = False
                if self.latch.state.epoch != before.epoch:
                    self._stop_world(self.latch.state.reason)
                raise
            self._rebuilding = False
            self._version += 1
            self._time_s = self.world.time_s
            self.world_epoch += 1
            self._begin_evidence()
            if not self.latch.put_back(before.epoch, latch):
                # A stop that came meanwhile was meant for whatever moves next.
                self._stop_world(self.latch.state.reason)
            self.events.publish(self._time_s, "world_changed", dp.WorldChanged(world_epoch=self.world_epoch))
