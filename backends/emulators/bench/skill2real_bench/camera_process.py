"""The bench's side of the camera process: starts it, tells it of models and faults, sees it die."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict

import mujoco

from .faults import Fault

START_S = 30.0
ANSWER_S = 20.0


class CameraProcessError(RuntimeError):
    """The camera process does not answer, or is gone."""


class CameraProcess:
    """Calls belong to the thread that made it.

    ``on_death`` comes from another thread, for an end that nobody asked for.
    """

    def __init__(
        self, rig_seed: int, address: str, render_path: str, socket_dir: str, on_death: Callable[[str], None]
    ) -> None:
        self._socket_dir = socket_dir
        self._on_death = on_death
        self._expected_end = False
        self._input = b""
        config = json.dumps({"rig_seed": rig_seed, "address": address, "render": render_path})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "skill2real_bench.frames_server", config],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._line(START_S)
        threading.Thread(target=self._watch, name="camera-watch", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def use_model(self, model: mujoco.MjModel, epoch: int) -> None:
        """Returns when the cameras can see the new scene. Raises CameraProcessError."""
        path = os.path.join(self._socket_dir, f"model-{epoch}.mjb")
        mujoco.mj_saveModel(model, path, None)
        self._ask({"model": path, "epoch": epoch})

    def fault(self, fault: Fault) -> None:
        self._ask({"fault": asdict(fault)})

    def stats(self) -> dict[str, object]:
        return self._ask({"stats": True})

    def kill(self) -> None:
        """The fault of that name."""
        self._expected_end = True
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self._expected_end = True
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _ask(self, order: dict[str, object]) -> dict[str, object]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise CameraProcessError("the camera process is gone") from None
        answer = self._line(ANSWER_S)
        if "error" in answer:
            raise CameraProcessError(f"the camera process failed: {answer['error']}")
        return answer

    def _line(self, timeout_s: float) -> dict[str, object]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        until_s = time.monotonic() + timeout_s
        while b"\n" not in self._input:
            left_s = until_s - time.monotonic()
            if left_s <= 0 or not select.select([descriptor], [], [], left_s)[0]:
                raise CameraProcessError(f"the camera process said nothing for {timeout_s:g} s")
            chunk = os.read(descriptor, 65_536)
            if chunk == b"":
                raise CameraProcessError("the camera process is gone")
            self._input += chunk
        line, self._input = self._input.split(b"\n", 1)
        return json.loads(line)

    def _watch(self) -> None:
        code = self._process.wait()
        if not self._expected_end:
            self._on_death(f"the camera process ended with {code}")
