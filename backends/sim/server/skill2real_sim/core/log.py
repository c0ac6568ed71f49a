"""Logging of the server: standard error only, and never waited for.

Standard output carries one line, the readiness line. Standard error is a pipe to a parent that may have
stopped reading, and a stop must not wait for it: lines go through a bounded queue to a thread, and are
dropped when it is full.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time

LOGGER = logging.getLogger("skill2real.sim")
KEPT_LINES = 1000


class _QueuedLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._lines: queue.Queue[str] = queue.Queue(KEPT_LINES)
        self._dropped = 0
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if self._dropped:
            line = f"({self._dropped} lines dropped)\n{line}"
        try:
            self._lines.put_nowait(line + "\n")
            self._dropped = 0
        except queue.Full:
            self._dropped += 1

    def settle(self, timeout_s: float) -> None:
        """Waits a moment for what is queued, at the end of the process."""
        until = time.monotonic() + timeout_s
        while self._lines.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.005)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            try:
                sys.stderr.write(line)
                sys.stderr.flush()
            except (OSError, ValueError):
                pass  # nobody reads it any more
            self._lines.task_done()


def log_to_stderr() -> None:
    handler = _QueuedLines()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def settle_log(timeout_s: float = 0.3) -> None:
    for handler in LOGGER.handlers:
        if isinstance(handler, _QueuedLines):
            handler.settle(timeout_s)


def printable(text: str, limit: int = 200) -> str:
    """What a client wrote, made safe for one line of a log or a message."""
    shown = "".join(c if c.isprintable() else "?" for c in text[: limit + 1])
    return shown if len(shown) <= limit else shown[:limit] + "…"
