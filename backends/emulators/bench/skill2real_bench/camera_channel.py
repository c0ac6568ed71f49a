"""When a camera exposes and who gets which exposure.

Pictures are made on demand, ``MIN_PERIOD_S`` apart at least. A request gets the newest exposure that is not
older than its ``not_before_s``, once its latency has passed; where the newest is older than a period, a new
one is made.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from .exposures import Exposure

MIN_PERIOD_S = 0.2
MAX_AHEAD_S = 2.0
# A request that no exposure could satisfy for this long (a plant that stands still) is refused.
PATIENCE_S = 5.0
# The plant writes its state every 2 ms: one that it wrote longer ago is not the present.
RETRY_S = 0.002

# Makes an exposure at or after the time, or None where the plant has no state that young yet.
Expose = Callable[[float, bool], Exposure | None]


@dataclass
class FrameRequest:
    envelope: list[bytes]
    not_before_s: float
    with_infrared: bool
    received_s: float


@dataclass
class Answer:
    envelope: list[bytes]
    exposure: Exposure | None
    error: str = ""


@dataclass
class CameraChannel:
    name: str
    serial: str
    waiting: list[FrameRequest] = field(default_factory=list)
    latest: Exposure | None = None
    # Faults.
    frozen_until_s: float = 0.0
    delay_s: float = 0.0
    drop_share: float = 0.0
    noisy: bool = False
    half: bool = False
    stuck: bool = False
    unplugged: bool = False
    other_serial: bool = False
    _retry_s: float = 0.0
    _chance: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def shown_serial(self) -> str:
        return self.serial[::-1] if self.other_serial else self.serial

    def clear(self) -> None:
        self.frozen_until_s = self.delay_s = self.drop_share = 0.0
        self.noisy = self.half = self.stuck = self.unplugged = self.other_serial = False

    def forget_pictures(self) -> None:
        """The scene was replaced: what was seen before is not shown any more."""
        self.latest = None

    def ask(self, request: FrameRequest) -> None:
        if self.drop_share and self._chance.random() < self.drop_share:
            return
        self.waiting.append(request)

    def _serves(self, request: FrameRequest, now_s: float) -> bool:
        latest = self.latest
        if latest is None or (request.with_infrared and not latest.with_infrared):
            return False
        if self.stuck:
            return True
        fresh = latest.exposure_time_s >= max(request.not_before_s, request.received_s - MIN_PERIOD_S)
        return fresh or (now_s < latest.arrival_time_s and latest.exposure_time_s >= request.not_before_s)

    def advance(self, now_s: float, expose: Expose) -> list[Answer]:
        """Exposes where due; returns what can be sent now."""
        if now_s < self.frozen_until_s:
            return []
        answers: list[Answer] = []
        left: list[FrameRequest] = []
        for request in self.waiting:
            if self.unplugged:
                answers.append(Answer(request.envelope, None, f"camera {self.name} is not connected"))
            elif request.not_before_s > request.received_s + MAX_AHEAD_S:
                ahead = request.not_before_s - request.received_s
                answers.append(
                    Answer(
                        request.envelope,
                        None,
                        f"not_before_s is {ahead:.1f} s ahead; at most {MAX_AHEAD_S:g} s",
                    )
                )
            elif now_s - request.received_s > PATIENCE_S:
                answers.append(Answer(request.envelope, None, "no exposure: the plant stands still"))
            else:
                left.append(request)
        unserved = [request for request in left if not self._serves(request, now_s)]
        if unserved and now_s >= self._next_exposure_s(unserved):
            infrared = any(request.with_infrared for request in left)
            earliest_s = min(request.not_before_s for request in unserved)
            taken = expose(earliest_s, infrared)
            if taken is None:
                self._retry_s = now_s + RETRY_S
            else:
                self.latest = taken
        self.waiting = []
        for request in left:
            latest = self.latest
            if self._serves(request, now_s) and latest is not None and self._due_s(latest) <= now_s:
                answers.append(Answer(request.envelope, latest))
            else:
                self.waiting.append(request)
        return answers

    def _due_s(self, exposure: Exposure) -> float:
        return exposure.arrival_time_s + self.delay_s

    def _next_exposure_s(self, unserved: list[FrameRequest]) -> float:
        wanted_s = min(request.not_before_s for request in unserved)
        rested_s = self.latest.exposure_time_s + MIN_PERIOD_S if self.latest is not None else 0.0
        return max(wanted_s, rested_s, self._retry_s)

    def next_due_s(self, now_s: float) -> float | None:
        """When ``advance`` has something to do next; None where nothing waits."""
        if not self.waiting:
            return None
        if now_s < self.frozen_until_s:
            return self.frozen_until_s
        unserved = [request for request in self.waiting if not self._serves(request, now_s)]
        dues = [min(request.received_s for request in self.waiting) + PATIENCE_S]
        if unserved:
            dues.append(self._next_exposure_s(unserved))
        if len(unserved) < len(self.waiting) and self.latest is not None:
            dues.append(self._due_s(self.latest))
        return min(dues)
