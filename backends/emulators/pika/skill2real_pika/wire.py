"""Bytes of the serial line: command frames in, telemetry text out.

A frame is a command byte, one float32 little-endian (two for code 13), CR LF: 7 (11) bytes. The firmware has
neither checksum nor acknowledgement; what it does not know it skips without a word.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

DISABLE, ENABLE, SET_ZERO = 10, 11, 12
VELOCITY_PAIR, CURRENT = 13, 15
EFFORT, VELOCITY, POSITION, POSITION_SPEED = 20, 21, 22, 23
DIALECTS = {
    "sdk": frozenset({DISABLE, ENABLE, SET_ZERO, CURRENT, EFFORT, VELOCITY, POSITION}),
    "ros": frozenset({DISABLE, ENABLE, SET_ZERO, VELOCITY_PAIR, CURRENT, POSITION, POSITION_SPEED}),
}
INFO_REQUEST = b"GET_INFO\r\n"
END = b"\r\n"
MAX_BUFFERED = 256


@dataclass(frozen=True)
class Frame:
    """``known``: a code of this firmware's dialect. The second value is that of code 13, else 0."""

    code: int
    first: float
    second: float
    known: bool


@dataclass(frozen=True)
class InfoRequest:
    """The text GET_INFO."""


class FrameReader:
    """Cuts what the host sends into frames, as the firmware of ``dialect`` does."""

    def __init__(self, dialect: str) -> None:
        self.known = DIALECTS[dialect]
        self.dropped_bytes = 0
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame | InfoRequest]:
        self._held += data
        while self._held:
            if self._held.startswith(INFO_REQUEST):
                del self._held[: len(INFO_REQUEST)]
                yield InfoRequest()
                continue
            if INFO_REQUEST.startswith(bytes(self._held)):
                return
            # Only a firmware of the dialect that has code 13 knows that its frames are longer.
            wide = self._held[0] == VELOCITY_PAIR and VELOCITY_PAIR in self.known
            size = 11 if wide else 7
            if len(self._held) < size:
                return
            if self._held[size - 2 : size] != END:
                del self._held[0]
                self.dropped_bytes += 1
                continue
            code = self._held[0]
            (first,) = struct.unpack_from("<f", self._held, 1)
            (second,) = struct.unpack_from("<f", self._held, 5) if wide else (0.0,)
            del self._held[:size]
            yield Frame(code, first, second, code in self.known)


@dataclass(frozen=True)
class Telemetry:
    """What one object tells: rad/s, mA (negative closes), rad, V, Celsius, status bits, mA."""

    speed_rad_s: float
    current_ma: float
    angle_rad: float
    voltage_v: float
    driver_c: float
    motor_c: float
    status: int
    bus_ma: float


def telemetry_text(t: Telemetry, *, trailing_comma: bool) -> bytes:
    """One object as the device prints it: CRLF after each brace, comma and value; stray commas on request."""
    stray = "," if trailing_comma else ""
    return (
        "{\r\n"
        f'"motor":{{\r\n"Speed":{t.speed_rad_s:.4f},\r\n"Current":{t.current_ma:.1f},\r\n'
        f'"Position":{t.angle_rad:.5f}{stray}\r\n}},\r\n'
        f'"motorstatus":{{\r\n"Voltage":{t.voltage_v:.2f},\r\n"DriverTemp":{t.driver_c:.0f},\r\n'
        f'"MotorTemp":{t.motor_c:.0f},\r\n"Status":"0x{t.status:02X}",\r\n"BusCurrent":{t.bus_ma:.0f}{stray}\r\n'
        f"}}{stray}\r\n}}\r\n"
    ).encode()


def info_text(version: str) -> bytes:
    """The answer to GET_INFO."""
    return f'{{\r\n"Version":"{version}",\r\n"Device":"pika_gripper"\r\n}}\r\n'.encode()
