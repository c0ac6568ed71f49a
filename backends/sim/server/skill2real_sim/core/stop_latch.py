"""The latch behind every stop: its epoch only rises, and a fault needs a person to clear it."""

from __future__ import annotations

import hmac
import secrets
import threading
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class LatchState:
    epoch: int
    latched: bool
    reason: str
    fault: bool


class StopLatch:
    """Thread-safe. Epoch 0 is the process's beginning, nothing latched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = LatchState(0, False, "", False)
        self._token: tuple[int, str] | None = None

    @property
    def state(self) -> LatchState:
        return self._state

    def latch(self, reason: str, fault: bool = False) -> LatchState:
        """Begins a new epoch. A stop on top of a fault leaves the fault and its reason in force."""
        with self._lock:
            was = self._state
            if was.fault and not fault:
                reason, fault = was.reason, True
            self._state = LatchState(was.epoch + 1, True, reason, fault)
            self._token = None
            return self._state

    def clear(self, epoch: int) -> bool:
        """Clears what was latched in ``epoch``; False where a newer stop came in between, which stays."""
        return self.put_back(epoch, LatchState(epoch, False, "", False))

    def put_back(self, epoch: int, state: LatchState) -> bool:
        """Takes over another latch, unless a stop came after ``epoch``. The epoch itself never goes back.

        It goes on from the other latch's where that is higher, as one of another process may be.
        """
        with self._lock:
            if self._state.epoch != epoch:
                return False
            self._state = replace(state, epoch=max(epoch, state.epoch))
            self._token = None
            return True

    def mint_token(self) -> str:
        """A single-use token of the current epoch; minting another voids it."""
        with self._lock:
            token = secrets.token_hex(32)
            self._token = (self._state.epoch, token)
            return token

    def accepts(self, token: str) -> bool:
        """Constant-time comparison with the current epoch's token. A wrong guess does not use it up."""
        held = self._token
        known = held is not None and held[0] == self._state.epoch
        expected = held[1] if held is not None else ""
        return hmac.compare_digest(expected.encode(), token.encode()) and known
