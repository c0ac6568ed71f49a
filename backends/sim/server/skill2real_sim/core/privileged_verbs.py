"""The verbs of the privileged plane: what the evaluator may do to a simulated world."""

from __future__ import annotations

import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.message import Message

from skill2real_sim.core import codec
from skill2real_sim.core.device_verbs import Later
from skill2real_sim.core.evidence_log import EvidenceLog
from skill2real_sim.core.refusal import PrivilegedRefusal
from skill2real_sim.core.slices import Slices
from skill2real_sim.core.snapshot_file import read_snapshot, write_snapshot
from skill2real_sim.core.station import Snapshot, Station
from skill2real_sim.wire import privileged_pb2 as pp
from skill2real_sim.worlds.base import BadArgument

MAX_SNAPSHOTS = 64
MAX_SETTLE_S = 60.0
MAX_SEED = (1 << 53) - 1  # what a JavaScript number holds exactly


@dataclass
class PrivilegedAnswer:
    kind: str  # field of PrivilegedReply's oneof
    body: Message


Verb = Callable[[pp.PrivilegedRequest, float], PrivilegedAnswer | Later]


class PrivilegedVerbs:
    def __init__(self, station: Station, breathe: Callable[[], bool], rate: float) -> None:
        self._station = station
        self._breathe = breathe
        self._rate = rate
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._settling: dict[str, float] = {}
        self.table: dict[str, Verb] = {
            "reset": self._reset,
            "evaluate": self._evaluate,
            "get_true_state": self._get_true_state,
            "snapshot": self._snapshot,
            "restore": self._restore,
            "set_evidence_log": self._set_evidence_log,
            "mark_evidence": self._mark_evidence,
            "get_resume_token": self._get_resume_token,
            "get_state_hash": self._get_state_hash,
            "settle": self._settle,
        }

    def close(self) -> None:
        log = self._station.record_to(None)
        if log is not None:
            log.close()

    def _require_ready(self) -> None:
        if not self._station.world.ready:
            raise PrivilegedRefusal(pp.PRIVILEGED_NOT_READY, "no world is loaded yet; Reset first")

    def _reset(self, request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        asked = request.reset
        station = self._station
        if asked.task not in station.world.tasks():
            raise _bad(f"no task {asked.task[:64]!r}; there is: {', '.join(station.world.tasks())}")
        if asked.seed > MAX_SEED:
            raise _bad(f"seed is {asked.seed}; at most {MAX_SEED}")
        info = station.reset(asked.task, asked.seed, asked.hidden_salt, asked.variant)
        cameras = station.capabilities()["cameras"]
        if self._rate != 0 and cameras:
            # The first picture of a world costs several others: on a wall clock the arm would wait for it.
            station.frames([cameras[0]["name"]])
        reply = pp.ResetReply(
            instruction=info.instruction,
            world_epoch=station.world_epoch,
            state_hash=self._hash(),
            rejected_draws=info.rejected_draws,
            rejected_reasons=info.rejected_reasons,
            details_json=info.details_json,
        )
        return PrivilegedAnswer("reset", reply)

    def _evaluate(self, _request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        self._require_ready()
        with self._station.lock.ordinary():
            return PrivilegedAnswer("evaluate", codec.evaluation_message(self._station.world.evaluate()))

    def _get_true_state(self, _request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        self._require_ready()
        world = self._station.world
        with self._station.lock.ordinary():
            grippers = world.grippers()
            reply = pp.TrueStateReply(
                time_s=world.time_s,
                bodies=[codec.body_message(body) for body in world.true_bodies()],
                q_rad=[q for arm in world.arms() for q in codec.numbers(arm.q_rad)],
                opening_m=grippers[0].opening_m if grippers else 0.0,
                contacts=world.true_contacts(),
            )
        return PrivilegedAnswer("true_state", reply)

    def _snapshot(self, request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        self._require_ready()
        name = secrets.token_hex(8)
        taken = self._station.snapshot()
        if request.snapshot.path:
            try:
                write_snapshot(request.snapshot.path, self._station.pack(taken))
            except (OSError, ValueError) as error:
                raise PrivilegedRefusal(
                    pp.PRIVILEGED_INTERNAL, f"the snapshot cannot be written: {error}"
                ) from None
        self._snapshots[name] = taken
        while len(self._snapshots) > MAX_SNAPSHOTS:
            self._snapshots.popitem(last=False)
        reply = pp.SnapshotReply(id=name, state_hash=self._hash(), stop_latched=taken.latch.latched)
        return PrivilegedAnswer("snapshot", reply)

    def _restore(self, request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        if request.restore.path:
            snapshot = self._from_file(request.restore.path)
        elif (snapshot := self._snapshots.get(request.restore.id)) is None:
            raise _bad(f"no snapshot {request.restore.id[:64]!r}; the newest {MAX_SNAPSHOTS} are kept")
        self._station.restore(snapshot)
        reply = pp.RestoreReply(world_epoch=self._station.world_epoch, state_hash=self._hash())
        return PrivilegedAnswer("restore", reply)

    def _from_file(self, path: str) -> Snapshot:
        self._require_ready()
        try:
            return self._station.unpack(read_snapshot(path, self._station.packed_classes))
        except BadArgument:
            raise
        except (OSError, ValueError) as error:
            raise _bad(f"the snapshot cannot be taken from its file: {error}") from None

    def _set_evidence_log(self, request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        path = request.set_evidence_log.path
        station = self._station
        log = None
        if path:
            try:
                log = EvidenceLog(path)
            except (OSError, ValueError) as error:
                raise _bad(f"the evidence log cannot be opened: {error}") from None
        before = station.record_to(log)
        if before is not None:
            before.close()
            if before.failure is not None:
                raise PrivilegedRefusal(
                    pp.PRIVILEGED_INTERNAL, f"the log before this one is incomplete: {before.failure}"
                )
        return PrivilegedAnswer("set_evidence_log", pp.SetEvidenceLogReply())

    def _mark_evidence(self, request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        self._require_ready()
        station = self._station
        if station.evidence is None:
            raise _bad("no evidence log is open; SetEvidenceLog first")
        with station.lock.ordinary():
            station.evidence.write(station.world, "mark", label=request.mark_evidence.label)
        if station.evidence.failure is not None:
            raise PrivilegedRefusal(pp.PRIVILEGED_INTERNAL, station.evidence.failure)
        return PrivilegedAnswer("mark_evidence", pp.MarkEvidenceReply())

    def _get_resume_token(self, _request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        return PrivilegedAnswer("resume_token", pp.ResumeTokenReply(token=self._station.latch.mint_token()))

    def _get_state_hash(self, _request: pp.PrivilegedRequest, _deadline: float) -> PrivilegedAnswer:
        self._require_ready()
        reply = pp.StateHashReply(state_hash=self._hash(), time_s=self._station.time_s)
        return PrivilegedAnswer("state_hash", reply)

    def _settle(self, request: pp.PrivilegedRequest, deadline: float) -> PrivilegedAnswer | Later:
        self._require_ready()
        duration_s = request.settle.duration_s
        if not 0.0 <= duration_s <= MAX_SETTLE_S or not math.isfinite(duration_s):
            raise _bad(f"duration_s is {duration_s:.6g}; give 0 to {MAX_SETTLE_S:g}")
        station = self._station
        until_s = self._settling.get(request.request_id)
        if until_s is None:
            until_s = station.time_s + duration_s
            if station.moving:
                station.stop("the evaluator let the world settle")
        if self._rate == 0:
            for _step in Slices(station).run(until_s, True):
                if not self._breathe() or time.monotonic() >= deadline:
                    break
            if until_s - station.time_s > station.nearest_s:
                raise PrivilegedRefusal(
                    pp.PRIVILEGED_DEADLINE, f"settled only until {station.time_s:.6g} s of {until_s:.6g} s"
                )
        elif station.time_s < until_s:
            self._settling[request.request_id] = until_s
            return Later(time.monotonic() + (until_s - station.time_s) / self._rate)
        self._settling.pop(request.request_id, None)
        return PrivilegedAnswer("settle", pp.SettleReply(time_s=station.time_s))

    def _hash(self) -> str:
        with self._station.lock.ordinary():
            return self._station.world.state_hash()


def _bad(message: str) -> PrivilegedRefusal:
    return PrivilegedRefusal(pp.PRIVILEGED_BAD_ARGUMENT, message)


def refusal_of(error: BadArgument) -> PrivilegedRefusal:
    return _bad(str(error))
