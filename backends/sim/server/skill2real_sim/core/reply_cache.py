"""Exactly once: replies kept by request id, so that a repeated request is answered and not done again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum

# The encoded reply first, raw parts after it. Raw parts are references, never copies.
Parts = list[bytes | memoryview]

KEPT_REPLIES = 256
KEPT_IDS = 65_536


def digest_of(request: bytes | memoryview) -> bytes:
    return hashlib.sha256(request).digest()


class Known(Enum):
    NEW = 0
    SAME = 1
    OTHER_BYTES = 2
    EXPIRED = 3


@dataclass
class _Kept:
    digest: bytes
    parts: Parts | None = None  # None while the request is still being worked on
    size: int = 0


class ReplyBudget:
    """Bytes that the kept replies of a process may hold alive together; beyond, the oldest of all go."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._oldest_first: OrderedDict[int, tuple[ReplyCache, str]] = OrderedDict()

    def add(self, cache: ReplyCache, request_id: str, kept: _Kept) -> None:
        self.used += kept.size
        self._oldest_first[id(kept)] = (cache, request_id)
        while self.used > self.limit and len(self._oldest_first) > 1:
            oldest_cache, oldest_id = next(iter(self._oldest_first.values()))
            oldest_cache.expire(oldest_id)

    def release(self, kept: _Kept) -> None:
        if self._oldest_first.pop(id(kept), None) is not None:
            self.used -= kept.size


class ReplyCache:
    """Keeps the last ``keep`` replies and, beyond them, the digests of the last ``KEPT_IDS`` ids."""

    def __init__(self, budget: ReplyBudget, keep: int = KEPT_REPLIES) -> None:
        self._budget = budget
        self._keep = keep
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._expired: OrderedDict[bytes, None] = OrderedDict()

    def look_up(self, request_id: str, digest: bytes) -> tuple[Known, Parts | None]:
        kept = self._kept.get(request_id)
        if kept is not None:
            return (Known.SAME, kept.parts) if kept.digest == digest else (Known.OTHER_BYTES, None)
        if self._expired and digest_of(request_id.encode()) in self._expired:
            return Known.EXPIRED, None
        return Known.NEW, None

    def begin(self, request_id: str, digest: bytes) -> None:
        self._kept[request_id] = _Kept(digest)

    def finish(self, request_id: str, parts: Parts) -> None:
        kept = self._kept.get(request_id)
        if kept is None:
            return
        kept.parts = parts
        kept.size = sum(len(part) for part in parts)
        self._budget.add(self, request_id, kept)
        while len(self._kept) > self._keep:
            self.expire(next(iter(self._kept)))

    def expire(self, request_id: str) -> None:
        self._budget.release(self._kept.pop(request_id))
        self._expired[digest_of(request_id.encode())] = None
        while len(self._expired) > KEPT_IDS:
            self._expired.popitem(last=False)

    def close(self) -> None:
        for kept in self._kept.values():
            self._budget.release(kept)
        self._kept.clear()
        self._expired.clear()
