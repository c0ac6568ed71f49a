"""A second client of the serial protocol, written from the wire format alone: it shares no code with the
emulator or with the project's driver."""

from __future__ import annotations

import json
import os
import re
import select
import struct
import termios
import time
from typing import Any

STRAY_COMMA = re.compile(r",(\s*[}\]])")


class PlainClient:
    """Opens the line as a first program would: raw, 460800 8N1; reads objects, sends frames."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        attributes = termios.tcgetattr(self._fd)
        attributes[0] = attributes[1] = attributes[3] = 0
        attributes[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
        attributes[4] = attributes[5] = termios.B460800
        attributes[6][termios.VMIN], attributes[6][termios.VTIME] = 0, 0
        termios.tcsetattr(self._fd, termios.TCSANOW, attributes)
        termios.tcflush(self._fd, termios.TCIFLUSH)
        self._text = ""
        self.raw = b""

    def close(self) -> None:
        os.close(self._fd)

    def send(self, code: int, *values: float) -> None:
        floats = values or (0.0,)
        os.write(self._fd, bytes([code]) + struct.pack(f"<{len(floats)}f", *floats) + b"\r\n")

    def send_raw(self, data: bytes) -> None:
        os.write(self._fd, data)

    def objects(self, seconds: float) -> list[dict[str, Any]]:
        """Everything whole that arrives in that time, in order. Raises OSError where the line is gone."""
        found: list[dict[str, Any]] = []
        end_s = time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            ready, _, _ = select.select([self._fd], [], [], left_s)
            if not ready:
                continue
            data = os.read(self._fd, 65536)
            if not data:
                raise OSError("end of file")
            self.raw += data
            self._text += data.decode("latin-1")
            found += self._cut()
        return found

    def read_raw(self, seconds: float) -> None:
        """Takes in what arrives in that time without reading it as anything: ``raw``."""
        end_s = time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            if select.select([self._fd], [], [], left_s)[0]:
                self.raw += os.read(self._fd, 65536)

    def newest(self, seconds: float = 0.1) -> dict[str, Any]:
        """The last telemetry object of that time."""
        return [each for each in self.objects(seconds) if "motor" in each][-1]

    def _cut(self) -> list[dict[str, Any]]:
        found = []
        while (start := self._text.find("{")) >= 0:
            depth = 0
            for at in range(start, len(self._text)):
                depth += {"{": 1, "}": -1}.get(self._text[at], 0)
                if depth == 0:
                    break
            else:
                return found
            whole, self._text = self._text[start : at + 1], self._text[at + 1 :]
            while STRAY_COMMA.search(whole):
                whole = STRAY_COMMA.sub(r"\1", whole)
            found.append(json.loads(whole))
        return found
