"""Sessions: who speaks, in which role, with which sequence; and the one controller with its lease."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass

from skill2real_sim.core.refusal import Refusal
from skill2real_sim.core.reply_cache import ReplyBudget, ReplyCache
from skill2real_sim.wire import device_pb2 as dp

MIN_LEASE_MS = 100
MAX_LEASE_MS = 60_000
# Sessions beyond this many are forgotten, the longest silent first; the controller's never is.
MAX_SESSIONS = 256


@dataclass
class Session:
    name: str
    role: dp.Role
    client: str
    lease_ms: int
    replies: ReplyCache
    next_sequence: int = 1
    ended: bool = False


class Sessions:
    def __init__(self, budget: ReplyBudget) -> None:
        self._budget = budget
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._controller: Session | None = None
        self._renewed_at = 0.0
        self._lapsed = False
        # Requests of the controller that the backend is inside of; the lease stands still meanwhile.
        self._inside = 0

    def open(self, hello: dp.Hello, now: float) -> Session:
        """Raises Refusal for an unknown role, a lease out of range, or a second controller."""
        if hello.role not in (dp.CONTROLLER, dp.OBSERVER, dp.STOPPER):
            raise Refusal(
                dp.ERROR_BAD_ARGUMENT, f"role {hello.role} is unknown; be CONTROLLER, OBSERVER or STOPPER"
            )
        lease_ms = hello.lease_ms if hello.role == dp.CONTROLLER else 0
        if hello.role == dp.CONTROLLER:
            if not MIN_LEASE_MS <= lease_ms <= MAX_LEASE_MS:
                raise Refusal(
                    dp.ERROR_BAD_ARGUMENT,
                    f"lease_ms is {lease_ms}; a controller asks for {MIN_LEASE_MS} to {MAX_LEASE_MS}",
                )
            if self._controller is not None and not self._lapsed:
                raise Refusal(
                    dp.ERROR_CONTROLLER_TAKEN,
                    "another session is the controller; wait for its Bye or until its lease lapses",
                )
        session = Session(secrets.token_hex(16), hello.role, hello.client, lease_ms, ReplyCache(self._budget))
        self._sessions[session.name] = session
        if session.role == dp.CONTROLLER:
            self._controller = session
            self._lapsed = False
            self._inside = 0
            self._renewed_at = now
        self._forget_oldest()
        return session

    def find(self, name: str) -> Session | None:
        session = self._sessions.get(name)
        if session is not None:
            self._sessions.move_to_end(name)
        return session

    def end(self, session: Session) -> None:
        """The session stays known, so that a repeated Bye gets its reply, and takes nothing new."""
        session.ended = True
        if self._controller is session:
            self._controller = None

    def controls(self, session: Session) -> bool:
        return session is self._controller

    def require_control(self, session: Session) -> None:
        if session is not self._controller:
            raise Refusal(
                dp.ERROR_CONTROLLER_TAKEN,
                "this session's lease lapsed and another session is the controller now",
            )

    # ------------------------------------------------------------ lease

    def enter(self, session: Session, now: float) -> None:
        """A request of the session arrived. It renews the lease, also a lapsed one that nobody took over."""
        if session is self._controller:
            self._renewed_at = now
            self._lapsed = False
            self._inside += 1

    def leave(self, session: Session, now: float) -> None:
        if session is self._controller:
            self._renewed_at = now
            self._inside = max(0, self._inside - 1)

    def lease_left_s(self, now: float) -> float | None:
        """Seconds until the lease lapses (negative: overdue), or None where nothing can lapse."""
        if self._controller is None or self._lapsed or self._inside > 0:
            return None
        return self._renewed_at + self._controller.lease_ms / 1000 - now

    def lapse(self) -> str:
        """Marks the lease as lapsed; returns the controller's client name."""
        self._lapsed = True
        return self._controller.client if self._controller is not None else ""

    def _forget_oldest(self) -> None:
        while len(self._sessions) > MAX_SESSIONS:
            oldest = next(s for s in self._sessions.values() if s is not self._controller)
            oldest.replies.close()
            del self._sessions[oldest.name]
