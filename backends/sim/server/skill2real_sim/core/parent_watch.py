"""The watch on the parent: a server whose parent is gone stops its arm and ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from skill2real_sim.core.log import LOGGER

PR_SET_PDEATHSIG = 1
EXIT_PARENT_DIED = 4
# What the server loop gets for an orderly end before the process ends regardless.
GRACE_S = 1.5


def die_with_parent() -> bool:
    """Second line of defence: asks Linux to kill this process when its parent ends. False where it cannot."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0
    except (OSError, AttributeError):
        return False


class ParentWatch:
    """Waits in a thread for the end of a descriptor that the parent holds the other side of."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._on_death: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._dead = False
        self._thread = threading.Thread(target=self._watch, name="parent-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def on_death(self, act: Callable[[], None]) -> None:
        """What to do first; called at once where the parent is gone already."""
        with self._lock:
            self._on_death = act
            dead = self._dead
        if dead:
            act()

    def _watch(self) -> None:
        while True:
            try:
                if os.read(self._fd, 4096) == b"":
                    break
            except InterruptedError:
                continue
            except OSError:
                break
        LOGGER.warning("the parent is gone: stopping")
        with self._lock:
            self._dead = True
            act = self._on_death
        if act is not None:
            # In a thread of its own: a world that hangs must not keep the process alive.
            threading.Thread(target=_guarded, args=(act,), name="parent-lost", daemon=True).start()
            time.sleep(GRACE_S)
        os._exit(EXIT_PARENT_DIED)


def _guarded(act: Callable[[], None]) -> None:
    try:
        act()
    except Exception:
        LOGGER.exception("defect while stopping for a lost parent")
