"""The privileged plane: the token first, then exactly-once, then the verb."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from skill2real_sim.core.device_plane import MAX_PART_BYTES, Arrival
from skill2real_sim.core.device_verbs import Later
from skill2real_sim.core.log import LOGGER
from skill2real_sim.core.privileged_verbs import PrivilegedVerbs, refusal_of
from skill2real_sim.core.refusal import PrivilegedRefusal
from skill2real_sim.core.reply_cache import Known, Parts, ReplyBudget, ReplyCache, digest_of
from skill2real_sim.wire import privileged_pb2 as pp
from skill2real_sim.worlds.base import BadArgument

MAJOR = 1
MAX_DEADLINE_MS = 3_600_000


@dataclass
class _Waiting:
    due: float
    request: pp.PrivilegedRequest
    deadline: float
    envelopes: list[bytes]


class PrivilegedPlane:
    """Single-threaded: belongs to the server loop."""

    def __init__(
        self, token: bytes, budget: ReplyBudget, verbs: PrivilegedVerbs, send: Callable[[bytes, Parts], None]
    ) -> None:
        self._token = token
        self._verbs = verbs
        self._send = send
        self._replies = ReplyCache(budget)
        self._waiting: dict[str, _Waiting] = {}

    def handle(self, arrival: Arrival, now: float) -> None:
        request_id = ""
        try:
            request = _decode(arrival)
            # What an unknown caller wrote is echoed only in its id, which is its own.
            request_id = request.request_id
            if not hmac.compare_digest(request.token, self._token):
                raise PrivilegedRefusal(pp.PRIVILEGED_TOKEN, "the token is not this process's")
            parts = self._answer(arrival, request, now)
        except PrivilegedRefusal as refusal:
            parts = [_refuse(request_id, refusal)]
        if parts is not None:
            self._send(arrival.envelope, parts)

    def _answer(self, arrival: Arrival, request: pp.PrivilegedRequest, now: float) -> Parts | None:
        if request.protocol_major != MAJOR:
            raise PrivilegedRefusal(
                pp.PRIVILEGED_PROTOCOL_VERSION,
                f"protocol major is {request.protocol_major}; this server speaks {MAJOR}",
            )
        if not 1 <= len(request.request_id) <= 64:
            raise _bad(f"request_id has {len(request.request_id)} characters; give 1 to 64")
        verb = request.WhichOneof("body")
        if verb is None:
            raise PrivilegedRefusal(pp.PRIVILEGED_MALFORMED, "the request has no body that this server knows")
        digest = digest_of(arrival.part)
        known, kept = self._replies.look_up(request.request_id, digest)
        if known is Known.SAME:
            waiting = self._waiting.get(request.request_id)
            if waiting is not None and arrival.envelope not in waiting.envelopes:
                waiting.envelopes.append(arrival.envelope)
            return kept
        if known is Known.OTHER_BYTES:
            raise PrivilegedRefusal(pp.PRIVILEGED_DUPLICATE_ID, "this request_id was used with other bytes")
        if known is Known.EXPIRED:
            raise PrivilegedRefusal(pp.PRIVILEGED_EXPIRED_ID, "this request_id's reply is no longer kept")
        self._replies.begin(request.request_id, digest)
        deadline = arrival.received + request.deadline_ms / 1000
        outcome = self._begin(request, verb, deadline, now)
        if isinstance(outcome, Later):
            self._waiting[request.request_id] = _Waiting(outcome.due, request, deadline, [arrival.envelope])
            return None
        self._replies.finish(request.request_id, outcome)
        return outcome

    def _begin(self, request: pp.PrivilegedRequest, verb: str, deadline: float, now: float) -> Parts | Later:
        try:
            if not 1 <= request.deadline_ms <= MAX_DEADLINE_MS:
                raise _bad(f"deadline_ms is {request.deadline_ms}; give 1 to {MAX_DEADLINE_MS}")
            if now > deadline:
                raise PrivilegedRefusal(
                    pp.PRIVILEGED_DEADLINE,
                    f"not begun within {request.deadline_ms} ms of receipt; nothing was done",
                )
            outcome = self._verbs.table[verb](request, deadline)
        except BadArgument as error:
            return [_refuse(request.request_id, refusal_of(error))]
        except PrivilegedRefusal as refusal:
            return [_refuse(request.request_id, refusal)]
        except Exception as error:
            LOGGER.exception("defect while serving %s", verb)
            defect = PrivilegedRefusal(pp.PRIVILEGED_INTERNAL, f"{type(error).__name__} in {verb}: {error}")
            return [_refuse(request.request_id, defect)]
        if isinstance(outcome, Later):
            return outcome
        reply = pp.PrivilegedReply(protocol_major=MAJOR, request_id=request.request_id)
        body = getattr(reply, outcome.kind)
        body.CopyFrom(outcome.body)
        body.SetInParent()
        return [reply.SerializeToString()]

    def next_due(self) -> float | None:
        return min((w.due for w in self._waiting.values()), default=None)

    def serve_due(self, now: float) -> None:
        for request_id, waiting in [item for item in self._waiting.items() if item[1].due <= now]:
            verb = waiting.request.WhichOneof("body")
            # It was begun in time; waiting is part of the work.
            outcome = self._begin(waiting.request, verb, max(waiting.deadline, now), now)
            if isinstance(outcome, Later):
                waiting.due = outcome.due
                continue
            del self._waiting[request_id]
            self._replies.finish(request_id, outcome)
            for envelope in waiting.envelopes:
                self._send(envelope, outcome)


def _decode(arrival: Arrival) -> pp.PrivilegedRequest:
    if arrival.largest > MAX_PART_BYTES:
        raise PrivilegedRefusal(
            pp.PRIVILEGED_TOO_LARGE, f"a part has {arrival.largest} bytes; at most {MAX_PART_BYTES}"
        )
    if arrival.parts != 1:
        raise PrivilegedRefusal(
            pp.PRIVILEGED_MALFORMED, f"the request has {arrival.parts} parts; it must be one"
        )
    try:
        return pp.PrivilegedRequest.FromString(arrival.part)
    except DecodeError:
        raise PrivilegedRefusal(pp.PRIVILEGED_MALFORMED, "the bytes are not a PrivilegedRequest") from None


def _bad(message: str) -> PrivilegedRefusal:
    return PrivilegedRefusal(pp.PRIVILEGED_BAD_ARGUMENT, message)


def _refuse(request_id: str, refusal: PrivilegedRefusal) -> bytes:
    reply = pp.PrivilegedReply(protocol_major=MAJOR, request_id=request_id)
    reply.error.code = refusal.code
    reply.error.message = refusal.message
    return reply.SerializeToString()
