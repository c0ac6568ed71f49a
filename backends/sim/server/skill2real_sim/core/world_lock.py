"""The lock around a world: a stop passes everybody who is not yet inside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class WorldLock:
    """A mutex with an urgent lane.

    A plain lock is not fair: a stepper that takes it again at once can keep a stop waiting for many steps.
    Here ordinary callers let every waiting urgent one go first, so a stop waits for one step at most.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._count = threading.Lock()
        self._urgent = 0
        self._calm = threading.Event()
        self._calm.set()

    @property
    def urgent_waits(self) -> bool:
        return self._urgent > 0

    @contextmanager
    def ordinary(self) -> Iterator[None]:
        if self._urgent:
            self._calm.wait()
        with self._mutex:
            yield

    @contextmanager
    def urgent(self) -> Iterator[None]:
        with self._count:
            self._urgent += 1
            self._calm.clear()
        try:
            with self._mutex:
                yield
        finally:
            with self._count:
                self._urgent -= 1
                if self._urgent == 0:
                    self._calm.set()
