"""One emulator as a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

PACKAGE_FOLDER = Path(__file__).resolve().parents[2]


class Running:
    """``with Running("--dialect", "ros") as gripper``; its end is that of the emulator's standard input."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "skill2real_pika", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)},
        )
        ready = self._line()
        assert ready["ready"] is True
        self.path: str = ready["path"]

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the emulator ended"
        return json.loads(line)

    def say(self, **what: object) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        return self._line()

    def fault(self, name: str, **parameters: float) -> None:
        assert self.say(fault=name, **parameters) == {"done": name}

    def stats(self) -> dict[str, Any]:
        return self.say(stats=True)["stats"]

    def end(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(timeout=10)

    def wait(self) -> int:
        return self._process.wait(timeout=10)

    def say_without_answer(self, **what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.end()
        assert self._process.stdout is not None
        self._process.stdout.close()
