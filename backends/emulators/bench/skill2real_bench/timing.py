"""How well the plant keeps its time: lateness of steps, dropped time, share of the processor."""

from __future__ import annotations

import threading
import time

import numpy as np

KEPT_STEPS = 60_000


class LoopTiming:
    """Written by the plant's thread, read by others: a figure may be one step old, never torn."""

    def __init__(self) -> None:
        self._late_s = np.zeros(KEPT_STEPS, dtype=np.float32)
        self._work_s = np.zeros(KEPT_STEPS, dtype=np.float32)
        self.steps = 0
        self.caught_up = 0
        self.dropped_s = 0.0
        self.frozen_s = 0.0
        self._began_s = time.monotonic()
        self._cpu_s = 0.0

    def begin(self) -> None:
        self._began_s = time.monotonic()

    def step(self, late_s: float, work_s: float) -> None:
        at = self.steps % KEPT_STEPS
        self._late_s[at] = late_s
        self._work_s[at] = work_s
        self.steps += 1
        if self.steps % 500 == 0:
            self._cpu_s = time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)

    def report(self, period_s: float) -> dict[str, float | int]:
        """Over the last ``KEPT_STEPS`` steps, percentiles in ms; factor 1 means plant time is wall time."""
        count = min(self.steps, KEPT_STEPS)
        wall_s = time.monotonic() - self._began_s
        report: dict[str, float | int] = {
            "steps": self.steps,
            "wall_s": round(wall_s, 3),
            "real_time_factor": round(self.steps * period_s / max(wall_s - self.frozen_s, 1e-9), 5),
            "caught_up_steps": self.caught_up,
            "dropped_s": round(self.dropped_s, 4),
            "frozen_s": round(self.frozen_s, 4),
            "cpu_share": round(self._cpu_s / max(wall_s, 1e-9), 4),
            "threads": threading.active_count(),
        }
        if count:
            for name, values in (("late", self._late_s[:count]), ("work", self._work_s[:count])):
                for label, q in (("p50", 50.0), ("p99", 99.0), ("p99_9", 99.9), ("max", 100.0)):
                    report[f"{name}_{label}_ms"] = round(float(np.percentile(values, q)) * 1000, 3)
        return report
