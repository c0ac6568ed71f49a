"""Drives the jaw: an opening command that moves at a limited speed, and what counts as a stall.

A step of the command on a force-limited servo makes the fingers bounce against their own damping; a command
that moves no faster than the fingers may does not.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from . import pika

REACHED_M = 0.0005
STALL_GAP_M = 0.001
STILL_M_S = 0.002
STALL_TIME_S = 0.06
TIMEOUT_EXTRA_S = 0.6


@dataclass
class JawPlayer:
    """Commanded opening of the jaw and the watch over one move."""

    period_s: float
    command_m: float = pika.MAX_OPENING_M
    target_m: float = pika.MAX_OPENING_M
    speed_m_s: float = pika.DEFAULT_SPEED_M_S
    force_n: float = pika.DEFAULT_FORCE_N
    moving: bool = False
    stalled: bool = False
    still_s: float = 0.0
    elapsed_s: float = 0.0
    expected_s: float = 0.0
    start_m: float = pika.MAX_OPENING_M

    def begin(self, opening_m: float, target_m: float, force_n: float, speed_m_s: float) -> float:
        """Starts a move from the measured opening_m; returns its expected duration [s]."""
        self.target_m, self.force_n, self.speed_m_s = target_m, force_n, speed_m_s
        # While gripping, the command lies inside the object: an opening move starts from the fingers.
        if target_m > opening_m and self.command_m < opening_m:
            self.command_m = opening_m
        self.start_m = opening_m
        self.moving, self.stalled = True, False
        self.still_s = self.elapsed_s = 0.0
        self.expected_s = abs(target_m - self.command_m) / speed_m_s + 0.05
        return self.expected_s

    def freeze(self) -> None:
        """Ends a move where it is; a grip is kept, since the command inside the object stays."""
        self.target_m = self.command_m
        self.moving = False

    def next_command(self) -> float:
        gap = self.target_m - self.command_m
        if gap:
            step = self.speed_m_s * self.period_s
            self.command_m = (
                self.target_m if abs(gap) <= step else self.command_m + (step if gap > 0 else -step)
            )
        return self.command_m

    def watch(self, opening_m: float, rate_m_s: float, force_n: float) -> str | None:
        """After a period of a move: the name of its end ("COMPLETED", "STALLED", "TIMEOUT"), or None."""
        self.elapsed_s += self.period_s
        arrived = self.command_m == self.target_m
        if arrived and abs(opening_m - self.target_m) <= REACHED_M and abs(rate_m_s) < STILL_M_S:
            return self._end("COMPLETED")
        pushing = arrived or abs(force_n) >= 0.9 * self.force_n
        if pushing and abs(rate_m_s) < STILL_M_S and abs(opening_m - self.target_m) > REACHED_M:
            self.still_s += self.period_s
        else:
            self.still_s = 0.0
        if self.still_s >= STALL_TIME_S:
            close = abs(opening_m - self.target_m) <= STALL_GAP_M
            return self._end("COMPLETED" if close else "STALLED")
        if self.elapsed_s > self.expected_s + TIMEOUT_EXTRA_S:
            return self._end("TIMEOUT")
        return None

    def _end(self, reason: str) -> str:
        self.moving = False
        self.stalled = reason == "STALLED"
        return reason

    def fraction(self, opening_m: float) -> float:
        span = self.target_m - self.start_m
        return 1.0 if span == 0 else min(1.0, max(0.0, (opening_m - self.start_m) / span))

    def digest(self, into: hashlib._Hash) -> None:
        into.update(repr(self).encode())
