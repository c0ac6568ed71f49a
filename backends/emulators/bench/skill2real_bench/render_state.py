"""The newest state of the plant for the camera process: a second mapped file, written each step, read when
exposing."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .plant_memory import Block

F64 = NDArray[np.float64]

MAX_QPOS = 256
_STATE = np.dtype(
    [("epoch", "<u8"), ("tick", "<u8"), ("host_time_s", "<f8"), ("count", "<u8"), ("qpos", "<f8", MAX_QPOS)]
)
SIZE = 4096


@dataclass(frozen=True)
class RenderState:
    """``epoch`` names the model that qpos belongs to; ``host_time_s`` (CLOCK_MONOTONIC) is the exposure's."""

    epoch: int
    tick: int
    host_time_s: float
    qpos: F64


class RenderMemory:
    def __init__(self, path: str, create: bool) -> None:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            if create:
                os.ftruncate(descriptor, SIZE)
            self._memory = mmap.mmap(descriptor, SIZE)
        finally:
            os.close(descriptor)
        self._block = Block(self._memory, 0, _STATE)
        self._qpos = self._block.staged["qpos"]

    def write(self, epoch: int, tick: int, host_time_s: float, qpos: F64) -> None:
        staged = self._block.staged
        staged["epoch"], staged["tick"], staged["host_time_s"] = epoch, tick, host_time_s
        staged["count"] = len(qpos)
        self._qpos[: len(qpos)] = qpos
        self._block.write()

    def read(self) -> RenderState | None:
        """None before the first step."""
        if not self._block.read():
            return None
        staged = self._block.staged
        return RenderState(
            int(staged["epoch"]),
            int(staged["tick"]),
            float(staged["host_time_s"]),
            self._qpos[: int(staged["count"])].copy(),
        )

    def close(self) -> None:
        self._block.close()
        self._memory.close()
