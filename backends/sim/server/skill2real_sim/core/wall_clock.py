"""The wall clock: a thread that steps the world as monotonic time passes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from skill2real_sim.core.log import LOGGER
from skill2real_sim.core.station import Station
from skill2real_sim.core.thread_priority import prefer_this_thread

# A world further behind than this stays behind: catching up would play motions faster than they were planned.
MAX_LAG_S = 0.1
IDLE_S = 0.02


class WallClock:
    """Runs ``rate`` device seconds per second, one control period at a time, so that a stop waits for one."""

    def __init__(self, station: Station, rate: float, on_defect: Callable[[str], None]) -> None:
        self._station = station
        self._rate = rate
        self._on_defect = on_defect
        self._period_s = station.world.control_period_s
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="physics", daemon=True)
        self.dropped_s = 0.0

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        if not prefer_this_thread():
            LOGGER.info("the physics runs at ordinary priority: pictures may delay it on a busy machine")
        try:
            self._keep_up()
        except Exception:
            LOGGER.exception("the world failed while stepping")
            self._station.latch.latch("the simulator failed while stepping", fault=True)
            self._on_defect("the simulator failed while stepping")

    def _keep_up(self) -> None:
        station = self._station
        epoch, base_mono, base_device = -1, 0.0, 0.0
        while not self._closing.is_set():
            if not station.world.ready:
                self._closing.wait(IDLE_S)
                continue
            now = time.monotonic()
            if station.world_epoch != epoch:
                epoch, base_mono, base_device = station.world_epoch, now, station.time_s
            target_s = base_device + (now - base_mono) * self._rate
            lag_s = target_s - station.time_s
            if lag_s > MAX_LAG_S * max(1.0, self._rate):
                if self.dropped_s == 0.0:
                    LOGGER.warning(
                        "the world is %.2f s behind the clock; device time is slowed to what it can do", lag_s
                    )
                self.dropped_s += lag_s
                base_mono, base_device = now, station.time_s
                continue
            if lag_s < self._period_s:
                self._closing.wait((self._period_s - lag_s) / self._rate)
                continue
            station.step_by(self._period_s)
