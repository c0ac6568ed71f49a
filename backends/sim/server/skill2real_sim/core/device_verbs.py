"""The verbs of the device plane: what each does, once the plane's rules let it through."""

from __future__ import annotations

import math
import operator
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from google.protobuf.message import Message

from skill2real_sim import __version__
from skill2real_sim.core import codec
from skill2real_sim.core.read_motions import read_motions
from skill2real_sim.core.refusal import Refusal
from skill2real_sim.core.sessions import Session, Sessions
from skill2real_sim.core.slices import Slices
from skill2real_sim.core.station import Station
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.worlds.base import Frame

MAX_ADVANCE_S = 60.0
MAX_CAMERAS = 16


@dataclass
class VerbReply:
    kind: str  # field of Reply's oneof
    body: Message
    raw: list[memoryview] = field(default_factory=list)


@dataclass
class Later:
    """The verb cannot be served before ``due`` (monotonic seconds); it is called again then."""

    due: float


Verb = Callable[[Session, dp.Request, float], VerbReply | Later]


class DeviceVerbs:
    """``breathe`` is called between the slices of an Advance; it returns False where the process ends."""

    def __init__(
        self,
        station: Station,
        sessions: Sessions,
        breathe: Callable[[], bool],
        rate: float,
    ) -> None:
        self._station = station
        self._sessions = sessions
        self._kept_capabilities: tuple[int, dp.Capabilities] | None = None
        self._kept_frames: tuple[list[Frame], VerbReply] | None = None
        self._breathe = breathe
        self._slices = Slices(station)
        self._rate = rate  # device seconds per second; 0: simulated clock
        self.table: dict[str, Verb] = {
            "get_state": self._get_state,
            "get_frames": self._get_frames,
            "execute": self._execute,
            "advance": self._advance,
            "resume": self._resume,
            "renew": self._renew,
            "bye": self._bye,
        }

    def monotonic(self) -> float:
        return time.monotonic()

    def blank_reply(self, request_id: str) -> dp.Reply:
        return dp.Reply(
            protocol_major=1,
            request_id=request_id,
            time_s=self._station.time_s,
            stop_epoch=self._station.latch.state.epoch,
        )

    def capabilities(self) -> dp.Capabilities:
        """Of the present world; kept until it is replaced."""
        epoch = self._station.world_epoch
        if self._kept_capabilities is None or self._kept_capabilities[0] != epoch:
            clock = dp.WALL if self._rate else dp.SIM
            message = codec.capabilities_message(self._station.capabilities(), clock, __version__)
            self._kept_capabilities = (epoch, message)
        return self._kept_capabilities[1]

    def hello(self, session: Session) -> dp.HelloReply:
        return dp.HelloReply(
            session=session.name, capabilities=self.capabilities(), lease_ms=session.lease_ms
        )

    def _get_state(self, _session: Session, _request: dp.Request, _deadline: float) -> VerbReply:
        self._station.require_ready()
        return VerbReply("state", self._station.state())

    def _get_frames(self, _session: Session, request: dp.Request, deadline: float) -> VerbReply | Later:
        asked = request.get_frames
        cameras = list(asked.cameras)
        if not 1 <= len(cameras) <= MAX_CAMERAS or len(set(cameras)) != len(cameras):
            raise _bad(f"{len(cameras)} camera names; give 1 to {MAX_CAMERAS}, each once")
        known = [camera.name for camera in self.capabilities().cameras]
        for camera in cameras:
            if camera not in known:
                raise _bad(f"no camera {camera[:64]!r}; there is: {', '.join(known)}")
        if not math.isfinite(asked.not_before_s):
            raise _bad(f"not_before_s is {asked.not_before_s}; it must be finite")
        self._station.require_ready()
        wait_s = asked.not_before_s - self._station.time_s
        if wait_s > 0:
            return self._wait_for_exposure(asked.not_before_s, wait_s, deadline)
        return self._frames_reply(self._station.frames(cameras))

    def _frames_reply(self, frames: list[Frame]) -> VerbReply:
        """Pictures that were made already are encoded once."""
        kept = self._kept_frames
        if kept is not None and len(kept[0]) == len(frames) and all(map(operator.is_, kept[0], frames)):
            return kept[1]
        arms = [codec.arm_message(arm) for arm in frames[0].arms]
        messages = [codec.frame_message(frame, part, arms) for part, frame in enumerate(frames)]
        raw = [memoryview(frame.pixels).cast("B") for frame in frames]
        reply = VerbReply("frames", dp.FramesReply(frames=messages), raw)
        self._kept_frames = (frames, reply)
        return reply

    def _wait_for_exposure(self, not_before_s: float, wait_s: float, deadline: float) -> Later:
        time_s = self._station.time_s
        if self._rate == 0:
            raise Refusal(
                dp.ERROR_CAMERA,
                f"no exposure from {not_before_s:.6g} s on: it is {time_s:.6g} s, only Advance moves time",
            )
        due = self.monotonic() + wait_s / self._rate
        if due > deadline:
            raise Refusal(
                dp.ERROR_CAMERA,
                f"no exposure at or after {not_before_s:.6g} s before the deadline: it is {time_s:.6g} s",
            )
        return Later(due)

    def _execute(self, _session: Session, request: dp.Request, _deadline: float) -> VerbReply:
        self._station.require_ready()
        motions = read_motions(request.execute, self.capabilities())
        group, start_s, end_s = self._station.execute(request.execute.stop_epoch, motions)
        return VerbReply(
            "execute", dp.ExecuteReply(group=group, start_time_s=start_s, expected_end_time_s=end_s)
        )

    def _advance(self, _session: Session, request: dp.Request, deadline: float) -> VerbReply:
        station = self._station
        if self._rate != 0:
            raise Refusal(
                dp.ERROR_CLOCK, "time moves by itself on this backend; wait for events instead of Advance"
            )
        station.require_ready()
        until_s, start_s = request.advance.until_s, station.time_s
        tolerance = station.world.control_period_s
        if not start_s - tolerance <= until_s <= start_s + MAX_ADVANCE_S + tolerance:
            raise _bad(
                f"until_s is {until_s:.6g}; it is {start_s:.6g} s now, give at most {MAX_ADVANCE_S:g} s more"
            )
        through = request.advance.through_motion_ends
        events_before = station.events.last_number
        epoch = station.latch.state.epoch
        for step in self._slices.run(until_s, through):
            if step.fault or (step.motion_ended and not through) or station.latch.state.epoch != epoch:
                break
            if not self._breathe() or self.monotonic() >= deadline:
                break
        reply = dp.AdvanceReply(state=station.state(), events=station.events.after(events_before))
        return VerbReply("advance", reply)

    def _resume(self, _session: Session, request: dp.Request, _deadline: float) -> VerbReply:
        self._station.resume(request.resume.stop_epoch, request.resume.token)
        return VerbReply("resume", dp.ResumeReply())

    def _renew(self, session: Session, _request: dp.Request, _deadline: float) -> VerbReply:
        return VerbReply("renew", dp.RenewReply(lease_ms=session.lease_ms))

    def _bye(self, session: Session, _request: dp.Request, _deadline: float) -> VerbReply:
        if self._sessions.controls(session) and self._station.moving:
            self._station.stop("the controller left")
        self._sessions.end(session)
        return VerbReply("bye", dp.ByeReply())


def _bad(message: str) -> Refusal:
    return Refusal(dp.ERROR_BAD_ARGUMENT, message)
