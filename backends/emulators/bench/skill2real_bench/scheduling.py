"""Asks for the first-in-first-out scheduler, which other programs' load does not delay."""

from __future__ import annotations

import os

from skill2real_sim.core.thread_priority import prefer_this_thread


def first_in_first_out(priority: int) -> tuple[str, str]:
    """For the calling thread alone; returns what was granted in words, and why it was not more (or nothing).

    Processes that the thread starts are ordinary again.
    """
    try:
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(priority))
        return f"fifo {priority}", ""
    except (OSError, AttributeError) as error:
        return "raised niceness" if prefer_this_thread() else "ordinary priority", str(error)
