"""Lets the threads that stop and step the arm go before those that draw pictures."""

from __future__ import annotations

import os
import threading

NICENESS = -10


def prefer_this_thread() -> bool:
    """On Linux niceness belongs to a thread. False where the system does not allow it: no failure."""
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    except (OSError, AttributeError):
        return False
    return True
