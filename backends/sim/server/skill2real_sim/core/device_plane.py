"""The device plane: from a request's bytes to its reply, by the protocol's rules in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from skill2real_sim.core.device_verbs import DeviceVerbs, Later, VerbReply
from skill2real_sim.core.log import LOGGER, printable
from skill2real_sim.core.refusal import Refusal
from skill2real_sim.core.reply_cache import Known, Parts, ReplyBudget, ReplyCache, digest_of
from skill2real_sim.core.sessions import Session, Sessions
from skill2real_sim.wire import device_pb2 as dp

MAJOR = 1
MINOR = 0
MAX_PART_BYTES = 1 << 20
MAX_DEADLINE_MS = 600_000
KEPT_HELLOS = 1024

_EVERYBODY = frozenset((dp.CONTROLLER, dp.OBSERVER, dp.STOPPER))
_WATCHERS = frozenset((dp.CONTROLLER, dp.OBSERVER))
_CONTROLLER = frozenset((dp.CONTROLLER,))
ROLES: dict[str, frozenset[int]] = {
    "get_state": _EVERYBODY,
    "get_frames": _WATCHERS,
    "execute": _CONTROLLER,
    "advance": _CONTROLLER,
    "resume": _CONTROLLER,
    "renew": _CONTROLLER,
    "bye": _EVERYBODY,
}


@dataclass
class Arrival:
    """One message as it came: its sender, last part, number of parts, size of the largest, and time."""

    envelope: bytes
    part: bytes
    parts: int
    largest: int
    received: float


@dataclass
class Postponed:
    """A request whose reply comes later; ``envelopes`` are those that asked, the repeaters too."""

    due: float
    session: Session
    request: dp.Request
    arrival: Arrival
    envelopes: list[bytes]


class DevicePlane:
    """Single-threaded: belongs to the server loop. ``send`` gets an envelope and the parts of a reply."""

    def __init__(
        self,
        sessions: Sessions,
        budget: ReplyBudget,
        verbs: DeviceVerbs,
        send: Callable[[bytes, Parts], None],
    ) -> None:
        self._sessions = sessions
        self._verbs = verbs
        self._send = send
        self._hellos = ReplyCache(budget, KEPT_HELLOS)
        self._postponed: dict[tuple[str, str], Postponed] = {}
        # A reply that is to be kept once it is on its way: the client need not wait for the bookkeeping.
        self._to_keep: tuple[ReplyCache, str, Parts] | None = None

    def handle(self, arrival: Arrival, now: float) -> None:
        """Answers the message, or takes note to do so later."""
        request_id = ""
        try:
            request = _decode(arrival)
            request_id = request.request_id
            parts = self._answer(arrival, request, now)
        except Refusal as refusal:
            parts = [self._refuse(request_id, refusal)]
        if parts is not None:
            self._send(arrival.envelope, parts)
        if self._to_keep is not None:
            cache, kept_id, kept_parts = self._to_keep
            self._to_keep = None
            cache.finish(kept_id, kept_parts)

    # ------------------------------------------------------------ the rules, in their order

    def _answer(self, arrival: Arrival, request: dp.Request, now: float) -> Parts | None:
        if request.protocol_major != MAJOR:
            raise Refusal(
                dp.ERROR_PROTOCOL_VERSION,
                f"protocol major is {request.protocol_major}; this server speaks {MAJOR}.{MINOR}",
            )
        if not 1 <= len(request.request_id) <= 64:
            raise Refusal(
                dp.ERROR_BAD_ARGUMENT, f"request_id has {len(request.request_id)} characters; give 1 to 64"
            )
        verb = request.WhichOneof("body")
        if verb is None:
            raise Refusal(dp.ERROR_MALFORMED, "the request has no body that this server knows")
        digest = digest_of(arrival.part)
        if verb == "hello":
            return self._hello(request, arrival, digest, now)

        session = self._sessions.find(request.session)
        if session is None:
            raise Refusal(
                dp.ERROR_UNKNOWN_SESSION,
                "no such session in this process; begin with Hello (nothing old continues)",
            )
        self._sessions.enter(session, now)
        postponed = False
        try:
            known, kept = session.replies.look_up(request.request_id, digest)
            if known is not Known.NEW:
                return self._repeat(arrival, session, request, known, kept)
            if session.ended:
                raise Refusal(
                    dp.ERROR_UNKNOWN_SESSION, "this session ended with Bye; begin another with Hello"
                )
            if request.sequence != session.next_sequence:
                raise Refusal(
                    dp.ERROR_SEQUENCE,
                    f"sequence is {request.sequence}; the next one is {session.next_sequence}",
                )
            session.next_sequence += 1
            session.replies.begin(request.request_id, digest)
            outcome = self._begin(session, request, arrival, verb, now)
            if isinstance(outcome, Later):
                postponed = True
                self._postponed[(session.name, request.request_id)] = Postponed(
                    outcome.due, session, request, arrival, [arrival.envelope]
                )
                return None
            self._to_keep = (session.replies, request.request_id, outcome)
            return outcome
        finally:
            if not postponed:
                self._sessions.leave(session, self._verbs.monotonic())

    def _hello(self, request: dp.Request, arrival: Arrival, digest: bytes, now: float) -> Parts:
        known, kept = self._hellos.look_up(request.request_id, digest)
        if known is Known.SAME and kept is not None:
            return kept
        _refuse_repeat(known)
        if request.session:
            raise Refusal(
                dp.ERROR_BAD_ARGUMENT, "Hello carries a session; it must be empty, the reply names it"
            )
        if request.sequence != 0:
            raise Refusal(dp.ERROR_SEQUENCE, f"sequence of Hello is {request.sequence}; it must be 0")
        self._hellos.begin(request.request_id, digest)
        try:
            _require_limits(request, arrival)
            session = self._sessions.open(request.hello, now)
            LOGGER.info(
                "session of %s, role %s", printable(session.client) or "?", dp.Role.Name(session.role)
            )
            parts = self._encode(request.request_id, VerbReply("hello", self._verbs.hello(session)))
        except Refusal as refusal:
            parts = [self._refuse(request.request_id, refusal)]
        self._hellos.finish(request.request_id, parts)
        return parts

    def _repeat(
        self, arrival: Arrival, session: Session, request: dp.Request, known: Known, kept: Parts | None
    ) -> Parts | None:
        if known is Known.SAME and kept is not None:
            return kept
        _refuse_repeat(known)
        waiting = self._postponed.get((session.name, request.request_id))
        if waiting is not None and arrival.envelope not in waiting.envelopes:
            waiting.envelopes.append(arrival.envelope)
        return None

    def _begin(
        self,
        session: Session,
        request: dp.Request,
        arrival: Arrival,
        verb: str,
        now: float,
        begun: bool = False,
    ) -> Parts | Later:
        try:
            _require_limits(request, arrival)
            deadline = arrival.received + request.deadline_ms / 1000
            if now > deadline and not begun:
                raise Refusal(
                    dp.ERROR_DEADLINE,
                    f"not begun within {request.deadline_ms} ms of receipt; nothing was done",
                )
            if session.role not in ROLES[verb]:
                raise Refusal(dp.ERROR_ROLE, f"a session of role {dp.Role.Name(session.role)} may not {verb}")
            if session.role == dp.CONTROLLER and verb not in ("get_state", "get_frames", "bye"):
                self._sessions.require_control(session)
            outcome = self._verbs.table[verb](session, request, deadline)
        except Refusal as refusal:
            return [self._refuse(request.request_id, refusal)]
        except Exception as error:
            LOGGER.exception("defect while serving %s", verb)
            defect = Refusal(
                dp.ERROR_INTERNAL, f"{type(error).__name__} in {verb}; the server's log says more"
            )
            return [self._refuse(request.request_id, defect)]
        return outcome if isinstance(outcome, Later) else self._encode(request.request_id, outcome)

    # ------------------------------------------------------------ later

    def next_due(self) -> float | None:
        return min((p.due for p in self._postponed.values()), default=None)

    def serve_due(self, now: float) -> None:
        for key, waiting in [item for item in self._postponed.items() if item[1].due <= now]:
            verb = waiting.request.WhichOneof("body")
            outcome = self._begin(waiting.session, waiting.request, waiting.arrival, verb, now, begun=True)
            if isinstance(outcome, Later):
                waiting.due = outcome.due
                continue
            del self._postponed[key]
            waiting.session.replies.finish(waiting.request.request_id, outcome)
            self._sessions.leave(waiting.session, now)
            for envelope in waiting.envelopes:
                self._send(envelope, outcome)

    # ------------------------------------------------------------ encoding

    def _encode(self, request_id: str, outcome: VerbReply) -> Parts:
        reply = self._verbs.blank_reply(request_id)
        reply.raw_parts = len(outcome.raw)
        body = getattr(reply, outcome.kind)
        body.CopyFrom(outcome.body)
        body.SetInParent()
        return [reply.SerializeToString(), *outcome.raw]

    def _refuse(self, request_id: str, refusal: Refusal) -> bytes:
        reply = self._verbs.blank_reply(request_id)
        reply.error.code = refusal.code
        reply.error.message = refusal.message
        return reply.SerializeToString()


def _decode(arrival: Arrival) -> dp.Request:
    """A part that is too large is still read here, so that its refusal can carry the request's id."""
    too_large = Refusal(dp.ERROR_TOO_LARGE, f"a part has {arrival.largest} bytes; at most {MAX_PART_BYTES}")
    if arrival.parts != 1:
        if arrival.largest > MAX_PART_BYTES:
            raise too_large
        raise Refusal(dp.ERROR_MALFORMED, f"the request has {arrival.parts} parts; it must be one")
    if not arrival.part:
        raise Refusal(dp.ERROR_MALFORMED, "the request is empty")
    try:
        return dp.Request.FromString(arrival.part)
    except DecodeError:
        if arrival.largest > MAX_PART_BYTES:
            raise too_large from None
        raise Refusal(dp.ERROR_MALFORMED, "the bytes are not a Request") from None


def _require_limits(request: dp.Request, arrival: Arrival) -> None:
    if arrival.largest > MAX_PART_BYTES:
        raise Refusal(
            dp.ERROR_TOO_LARGE,
            f"the request has {arrival.largest} bytes; at most {MAX_PART_BYTES}: send fewer points",
        )
    if not 1 <= request.deadline_ms <= MAX_DEADLINE_MS:
        raise Refusal(
            dp.ERROR_BAD_ARGUMENT, f"deadline_ms is {request.deadline_ms}; give 1 to {MAX_DEADLINE_MS}"
        )


def _refuse_repeat(known: Known) -> None:
    if known is Known.OTHER_BYTES:
        raise Refusal(
            dp.ERROR_DUPLICATE_ID, "this request_id was used with other bytes; give each request its own"
        )
    if known is Known.EXPIRED:
        raise Refusal(dp.ERROR_EXPIRED_ID, "this request_id was used and its reply is no longer kept")
