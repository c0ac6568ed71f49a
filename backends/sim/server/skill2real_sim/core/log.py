"""Logging of the server: standard error only, because standard output carries one line, the readiness line."""

from __future__ import annotations

import logging
import sys

LOGGER = logging.getLogger("skill2real.sim")


def log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def printable(text: str, limit: int = 200) -> str:
    """What a client wrote, made safe for one line of a log or a message."""
    shown = "".join(c if c.isprintable() else "?" for c in text[: limit + 1])
    return shown if len(shown) <= limit else shown[:limit] + "…"
