"""Cuts a long stretch of simulated time into slices, between which deadlines and arrivals are looked at."""

from __future__ import annotations

import time
from collections.abc import Iterator

from skill2real_sim.core.station import Station, Step

# Real time that a slice should take: short for a stop that waits (on a simulated clock nothing hurries),
# long beside what a slice costs.
TARGET_S = 0.016
SHORTEST_S = 0.02
LONGEST_S = 0.25


class Slices:
    """Learns from each slice how fast the world is. Where the cuts are changes nothing that happens in it."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._slice_s = SHORTEST_S

    def run(self, until_s: float, through_motion_ends: bool) -> Iterator[Step]:
        """Steps slice by slice up to ``until_s``, as long as the caller takes the next one."""
        station = self._station
        period_s = station.world.control_period_s
        while until_s - station.time_s > station.nearest_s:
            before_s, began = station.time_s, time.perf_counter()
            periods = max(1, round(self._slice_s / period_s))
            step = station.step(min(until_s, before_s + periods * period_s), through_motion_ends)
            stepped_s, took_s = station.time_s - before_s, time.perf_counter() - began
            if stepped_s <= 0:
                raise RuntimeError(f"the world did not step from {before_s} s")
            fitting_s = stepped_s * TARGET_S / max(took_s, 1e-6)
            self._slice_s = min(max(fitting_s, SHORTEST_S), LONGEST_S, 2 * self._slice_s)
            yield step
