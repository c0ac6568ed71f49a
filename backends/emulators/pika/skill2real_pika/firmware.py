"""The gripper's program: frames change its settings, each tick gives one telemetry object."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Protocol

from . import wire
from .linkage import MECHANICAL_STOP_RAD, opening_of
from .motor import (
    STATUS_ENABLED,
    STATUS_HOMED,
    STATUS_OVER_CURRENT,
    TRIP_A,
    Reading,
    Settings,
)

BOOT_TEXT = b"\x00\xfePIKA boot\r\ncal ok {\r\n"
BOOT_S = 0.3
TRAILING_COMMA_SHARE = 0.05


class Drive(Protocol):
    """What turns: the first-order motor, or the bench's jaw."""

    reading: Reading

    def advance(self, settings: Settings, seconds: float, *, jammed: bool) -> Reading: ...


class Firmware:
    """One gripper. Faults are its public fields."""

    def __init__(self, drive: Drive, dialect: str, version: str, random_source: random.Random) -> None:
        self.drive = drive
        self.settings = Settings(target_rad=drive.reading.angle_rad)
        self.version = version
        self.counts: Counter[int] = Counter()
        self.unknown: Counter[int] = Counter()
        self.limits_a: list[float] = []
        self.zero_offset_rad = 0.0
        self.fault_bits = 0
        self.jammed = False
        self.dropped_share = 0.0
        self._random = random_source
        self._reader = wire.FrameReader(dialect)
        self._boot_left_s = 0.0
        self._reading = drive.reading

    def reset(self) -> bytes:
        """The controller restarts: the motor goes off, settings are forgotten, text appears on the line."""
        self.settings = Settings(target_rad=self._reading.angle_rad)
        self._boot_left_s = BOOT_S
        return BOOT_TEXT

    def receive(self, data: bytes) -> bytes:
        """Takes what the host sent; gives what is answered at once."""
        if self._boot_left_s > 0.0:
            return b""
        answer = b""
        for item in self._reader.feed(data):
            if self._random.random() < self.dropped_share:
                continue
            if isinstance(item, wire.InfoRequest):
                answer += wire.info_text(self.version)
            elif not item.known:
                self.unknown[item.code] += 1
            elif math.isfinite(item.first) and math.isfinite(item.second):
                self.counts[item.code] += 1
                self._obey(item)
        return answer

    def _obey(self, frame: wire.Frame) -> None:
        settings = self.settings
        if frame.code == wire.DISABLE:
            settings.enabled = False
        elif frame.code == wire.ENABLE and not self.fault_bits:
            # It starts from where it is, not from a target of before.
            if not settings.enabled:
                settings.target_rad = self._reading.angle_rad
            settings.enabled = True
        elif frame.code == wire.SET_ZERO:
            self.zero_offset_rad = self._reading.angle_rad
        elif frame.code in (wire.CURRENT, wire.EFFORT):
            settings.limit_a = max(0.0, frame.first)
            self.limits_a.append(settings.limit_a)
        elif frame.code in (wire.VELOCITY, wire.VELOCITY_PAIR):
            settings.speed_rad_s = max(0.0, frame.first)
        elif frame.code in (wire.POSITION, wire.POSITION_SPEED) and settings.enabled:
            settings.target_rad = max(0.0, frame.first) + self.zero_offset_rad

    def tick(self, seconds: float) -> bytes:
        """Turns the motor for ``seconds`` and gives the telemetry of the moment; nothing while it starts."""
        reading = self.drive.advance(self.settings, seconds, jammed=self.jammed)
        self._reading = reading
        if self.settings.limit_a > TRIP_A and abs(reading.current_a) > TRIP_A:
            self.fault_bits |= STATUS_OVER_CURRENT
        if self.fault_bits:
            self.settings.enabled = False
        if self._boot_left_s > 0.0:
            self._boot_left_s -= seconds
            return b""
        current_ma = reading.current_a * 1e3 + self._random.gauss(0.0, 2.0)
        status = self.fault_bits | STATUS_HOMED | (STATUS_ENABLED if self.settings.enabled else 0)
        telemetry = wire.Telemetry(
            speed_rad_s=reading.speed_rad_s + self._random.gauss(0.0, 0.002),
            current_ma=current_ma,
            angle_rad=reading.angle_rad - self.zero_offset_rad + self._random.gauss(0.0, 1e-4),
            voltage_v=24.0 - 0.05 * abs(reading.current_a),
            driver_c=33.0,
            motor_c=31.0,
            status=status,
            bus_ma=abs(current_ma) * 0.4,
        )
        stray = self._random.random() < TRAILING_COMMA_SHARE
        return wire.telemetry_text(telemetry, trailing_comma=stray)

    def stats(self) -> dict[str, object]:
        """Truth for tests."""
        reading = self._reading
        return {
            "opening_m": opening_of(min(reading.angle_rad, MECHANICAL_STOP_RAD)),
            "angle_rad": reading.angle_rad,
            "current_a": reading.current_a,
            "target_rad": self.settings.target_rad,
            "limit_a": self.settings.limit_a,
            "limits_a": self.limits_a[-32:],
            "speed_rad_s": self.settings.speed_rad_s,
            "enabled": self.settings.enabled,
            "counts": {str(code): count for code, count in sorted(self.counts.items())},
            "unknown": {str(code): count for code, count in sorted(self.unknown.items())},
        }
