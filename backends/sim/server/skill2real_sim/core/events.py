"""Events: numbered in one order, published, and remembered for the Advance during which they happened."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from itertools import takewhile

from google.protobuf.message import Message

from skill2real_sim.wire import device_pb2 as dp

KEPT_EVENTS = 4096


class EventBus:
    """Publishes from any thread. One lock around ``send`` lets the threads share a PUB socket."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._number = 0
        self._kept: deque[dp.Event] = deque(maxlen=KEPT_EVENTS)

    def publish(self, time_s: float, kind: str, body: Message) -> dp.Event:
        """``kind`` is the field of Event's oneof that takes ``body``."""
        with self._lock:
            self._number += 1
            event = dp.Event(number=self._number, time_s=time_s)
            getattr(event, kind).CopyFrom(body)
            # A message without set fields is still the kind that happened.
            getattr(event, kind).SetInParent()
            self._kept.append(event)
            self._send(event.SerializeToString())
        return event

    @property
    def last_number(self) -> int:
        return self._number

    def after(self, number: int) -> list[dp.Event]:
        """The kept events later than ``number``, oldest first."""
        with self._lock:
            return list(takewhile(lambda e: e.number > number, reversed(self._kept)))[::-1]
