"""Starts the emulated controller on a loopback address of its own and talks to it, for tests."""

from __future__ import annotations

import itertools
import json
import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

EXECUTABLE = Path(__file__).resolve().parents[3] / "build" / "Release" / "ur-controller"
_hosts = itertools.count(2)


def free_host() -> str:
    """A loopback address where the controller's fixed ports are free."""
    for number in _hosts:
        host = f"127.{100 + os.getpid() % 100}.{number // 250}.{number % 250 + 2}"
        probe = socket.socket()
        try:
            probe.bind((host, 30004))
            return host
        except OSError:
            continue
        finally:
            probe.close()
    raise RuntimeError("no free loopback address")


class Emulator:
    """The running executable. Use as a context manager."""

    def __init__(self, *arguments: str, wait_ready: bool = True) -> None:
        self.host = free_host()
        self.process = subprocess.Popen(
            [str(EXECUTABLE), "--host", self.host, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ready = json.loads(self.process.stdout.readline()) if wait_ready else {}

    def __enter__(self) -> Emulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        """Ends the executable by the end of its standard input; its exit status."""
        if self.process.poll() is None:
            self.process.stdin.close()
        try:
            return self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def ask(self, **request: object) -> dict:
        """One line of JSON in, one out."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def connect(self, port: int) -> socket.socket:
        """Plain connection with a deadline on every read."""
        link = socket.create_connection((self.host, port), timeout=3)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link

    def dashboard(self, *lines: str) -> list[str]:
        """Answers of the dashboard to some commands, without its banner."""
        with self.connect(29999) as link, link.makefile("rw", newline="\n") as stream:
            stream.readline()
            answers = []
            for line in lines:
                stream.write(line + "\n")
                stream.flush()
                answers.append(stream.readline().rstrip("\n"))
            return answers


def wait_for(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Polls until a condition holds; False when it did not in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return condition()


class Rtde:
    """A bare client of the data exchange, for byte tests."""

    def __init__(self, emulator: Emulator, protocol: int | None = 2) -> None:
        self.link = emulator.connect(30004)
        self.pending = b""
        self.texts: list[bytes] = []
        if protocol is not None:
            assert self.call(b"V", struct.pack(">H", protocol)) == b"\x01"

    def __enter__(self) -> Rtde:
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()

    def send(self, kind: bytes, body: bytes = b"") -> None:
        self.link.sendall(struct.pack(">H", len(body) + 3) + kind + body)

    def package(self) -> tuple[bytes, bytes]:
        """Next package: type and body."""
        while len(self.pending) < 3 or len(self.pending) < struct.unpack(">H", self.pending[:2])[0]:
            more = self.link.recv(65536)
            if not more:
                raise ConnectionError("closed by the controller")
            self.pending += more
        size = struct.unpack(">H", self.pending[:2])[0]
        package, self.pending = self.pending[:size], self.pending[size:]
        return package[2:3], package[3:]

    def call(self, kind: bytes, body: bytes = b"") -> bytes:
        """Sends and waits for the answer of the same type; texts are kept aside, data dropped."""
        self.send(kind, body)
        while True:
            got, answer = self.package()
            if got == kind:
                return answer
            if got == b"M":
                self.texts.append(answer)

    def data(self) -> bytes:
        """Next data package, recipe id included in version 2."""
        while True:
            kind, body = self.package()
            if kind == b"U":
                return body
            if kind == b"M":
                self.texts.append(body)

    def outputs(self, names: str, frequency: float = 500.0) -> bytes:
        return self.call(b"O", struct.pack(">d", frequency) + names.encode())

    def inputs(self, names: str) -> bytes:
        return self.call(b"I", names.encode())
