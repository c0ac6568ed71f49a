"""Exactly once: replies kept by request id, so that a repeated request is answered and not done again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum

# Anything that pyzmq sends: the encoded reply first, raw parts after it. Raw parts are references, never copies.
Parts = list[bytes | memoryview]

KEPT_REPLIES = 256
KEPT_IDS = 65_536


def digest_of(request: bytes | memoryview) -> bytes:
    return hashlib.blake2b(request, digest_size=16).digest()


class Known(Enum):
    NEW = 0
    SAME = 1
    OTHER_BYTES = 2
    EXPIRED = 3


@dataclass
class RawBudget:
    """Bytes of raw parts that all caches of a process may keep alive together."""

    limit: int
    used: int = 0


@dataclass
class _Kept:
    digest: bytes
    parts: Parts | None = None  # None while the request is still being worked on
    raw_bytes: int = 0


@dataclass
class ReplyCache:
    """Keeps the last ``keep`` replies and, beyond them, that an id was used.

    Replies with raw parts leave earlier, oldest first, when the budget is exceeded. Ids are remembered as 16-byte
    digests, the last ``KEPT_IDS`` of them.
    """

    budget: RawBudget
    keep: int = KEPT_REPLIES
    _kept: OrderedDict[str, _Kept] = field(default_factory=OrderedDict)
    _expired: OrderedDict[bytes, None] = field(default_factory=OrderedDict)

    def look_up(self, request_id: str, digest: bytes) -> tuple[Known, Parts | None]:
        kept = self._kept.get(request_id)
        if kept is not None:
            return (Known.SAME, kept.parts) if kept.digest == digest else (Known.OTHER_BYTES, None)
        if self._expired and digest_of(request_id.encode()) in self._expired:
            return Known.EXPIRED, None
        return Known.NEW, None

    def begin(self, request_id: str, digest: bytes) -> None:
        self._kept[request_id] = _Kept(digest)
        while len(self._kept) > self.keep:
            self._expire(next(iter(self._kept)))

    def finish(self, request_id: str, parts: Parts) -> None:
        kept = self._kept.get(request_id)
        if kept is None:
            return
        kept.parts = parts
        kept.raw_bytes = sum(memoryview(part).nbytes for part in parts[1:])
        self.budget.used += kept.raw_bytes
        if self.budget.used > self.budget.limit:
            for old in [key for key, value in self._kept.items() if value.raw_bytes and key != request_id]:
                self._expire(old)
                if self.budget.used <= self.budget.limit:
                    break

    def close(self) -> None:
        self.budget.used -= sum(kept.raw_bytes for kept in self._kept.values())
        self._kept.clear()
        self._expired.clear()

    def _expire(self, request_id: str) -> None:
        kept = self._kept.pop(request_id)
        self.budget.used -= kept.raw_bytes
        self._expired[digest_of(request_id.encode())] = None
        while len(self._expired) > KEPT_IDS:
            self._expired.popitem(last=False)
