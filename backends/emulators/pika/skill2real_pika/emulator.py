"""The loop: ticks at the telemetry rate, host bytes and fault lines in between."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
from collections import deque
from dataclasses import dataclass

from .faults import BadFault, Fault, parse_fault
from .firmware import Drive, Firmware
from .line import Line
from .motor import FirstOrderMotor


@dataclass(frozen=True)
class Options:
    """``rate_hz`` of telemetry, 50 to 250 on the device."""

    dialect: str = "sdk"
    rate_hz: float = 200.0
    link: str | None = None
    version: str = "1.3.0"
    seed: int = 0
    reset_on_open: bool = False


class Emulator:
    """One gripper on one line. ``run`` returns at the end of standard input."""

    def __init__(self, options: Options, drive: Drive) -> None:
        self.options = options
        self._random = random.Random(options.seed)
        self.firmware = Firmware(drive, options.dialect, options.version, self._random)
        self.line = Line(options.link)
        self._host = False
        self._noise = self._half = 0.0
        self._reset_on_open = options.reset_on_open
        self._frozen_until_s = 0.0
        self._plug_at_s: float | None = None
        self._other_name = False
        self._delay_s = 0.0
        self._late: deque[tuple[float, bytes]] = deque()
        self._typed = b""

    def run(self) -> None:
        period_s = 1.0 / self.options.rate_hz
        last_s = time.monotonic()
        next_s = last_s + period_s
        open_input = True
        while open_input:
            open_input = self._wait(next_s)
            now_s = time.monotonic()
            if now_s < next_s:
                continue
            # A loop that was held up says so with one late object, not with a burst of old ones.
            next_s = max(next_s + period_s, now_s)
            self._tick(now_s, min(now_s - last_s, 0.1))
            last_s = now_s
        self.line.unplug()

    def _wait(self, until_s: float) -> bool:
        """Serves host and standard input until then; False at the end of standard input."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if self.line.plugged and self._host:
            poll.register(self.line.fileno, select.POLLIN)
        left_ms = max(0.0, until_s - time.monotonic()) * 1e3
        for descriptor, _ in poll.poll(left_ms):
            if descriptor == 0:
                data = os.read(0, 4096)
                if not data:
                    return False
                self._typed += data
                *lines, self._typed = self._typed.split(b"\n")
                for line in lines:
                    self._obey(line.decode(errors="replace"))
            elif self._frozen_until_s <= time.monotonic():
                self._send(self.firmware.receive(self.line.read()))
            else:
                time.sleep(0.001)
        return True

    def _tick(self, now_s: float, seconds: float) -> None:
        if self._plug_at_s is not None and now_s >= self._plug_at_s:
            self._plug_at_s = None
            self.line.plug(other_name=self._other_name)
        host = self.line.host_present()
        if host and not self._host and self._reset_on_open:
            self._send(self.firmware.reset())
        self._host = host
        if now_s < self._frozen_until_s:
            return
        text = self.firmware.tick(seconds)
        if host:
            self._late.append((now_s + self._delay_s, self._damage(text)))
        while self._late and self._late[0][0] <= now_s:
            self._send(self._late.popleft()[1])

    def _send(self, data: bytes) -> None:
        if self._host:
            self.line.write(data)

    def _damage(self, text: bytes) -> bytes:
        if text and self._random.random() < self._half:
            cut = self._random.randrange(1, len(text))
            text = text[:cut] if self._random.random() < 0.5 else text[cut:]
        if text and self._random.random() < self._noise:
            at = self._random.choice((0, self._random.randrange(len(text))))
            foreign = bytes(self._random.randrange(256) for _ in range(self._random.randrange(1, 24)))
            text = text[:at] + foreign + text[at:]
        return text

    def _obey(self, line: str) -> None:
        if not line.strip():
            return
        try:
            fault = parse_fault(line)
            if fault.kind == "stats":
                tell({"stats": {**self.firmware.stats(), "host": self._host, "path": self.line.path}})
                return
            self._apply(fault)
            tell({"done": fault.kind})
        except BadFault as error:
            tell({"error": str(error)})

    def _apply(self, fault: Fault) -> None:
        now_s = time.monotonic()
        value = fault.value if fault.value is not None else 0.0
        match fault.kind:
            case "clear":
                self._clear(now_s)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "freeze":
                self._frozen_until_s = now_s + value
            case "delay":
                self._delay_s = value / 1e3
            case "drop":
                self.firmware.dropped_share = value
            case "noise":
                self._noise = value
            case "half_frames":
                self._half = value
            case "stuck":
                self.firmware.jammed = True
            case "unplug" | "replug_other_name":
                self._unplug()
                self._other_name = fault.kind == "replug_other_name"
                self._plug_at_s = None if fault.value is None else now_s + value
            case "reset":
                self._send(self.firmware.reset())
            case "reset_on_open":
                self._reset_on_open = True
            case "status":
                self.firmware.fault_bits = int(value)
            case "power_off":
                self.firmware.settings.enabled = False
            case "bad_zero":
                self.firmware.zero_offset_rad = -value
            case "obstacle":
                if not isinstance(self.firmware.drive, FirstOrderMotor):
                    raise BadFault("obstacle: the bench's world decides what is between the fingers")
                self.firmware.drive.set_obstacle(None if fault.value is None else value / 1e3)

    def _unplug(self) -> None:
        self.line.unplug()
        self._host = False
        self._late.clear()

    def _clear(self, now_s: float) -> None:
        self._frozen_until_s = 0.0
        self._noise = self._half = self._delay_s = 0.0
        self._reset_on_open = self.options.reset_on_open
        firmware = self.firmware
        firmware.dropped_share = 0.0
        firmware.jammed = False
        firmware.fault_bits = 0
        firmware.zero_offset_rad = 0.0
        if not self.line.plugged:
            self._plug_at_s = now_s


def tell(what: dict[str, object]) -> None:
    """One JSON line on standard output."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()
