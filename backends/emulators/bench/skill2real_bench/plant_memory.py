"""Memory that the bench, the emulated controller and the emulated gripper share: one mapped file.

Little-endian. Each block has one writer and begins with a counter that is odd while the block is being
written:

| offset | block | writer |
| --- | --- | --- |
| 0 | magic, size | bench, magic last |
| 64 | arm command | controller |
| 256 | arm state | bench |
| 640 | gripper command | gripper |
| 768 | gripper state | bench |
| 896 | rig truth | bench |

A writer makes the counter odd, copies the payload, makes the counter even; a reader takes a copy and keeps it
where the counter was even and the same before and after. Python offers no memory fences: what orders the
accesses is x86-64, where stores become visible in program order and loads are not reordered among each other;
on machines that promise less the interpreter's own locking around each call is all there is.
"""

from __future__ import annotations

import mmap
import os

import numpy as np
from numpy.typing import NDArray

MAGIC = b"S2RPLT01"
SIZE = 2048

_COUNTER = "<u8"
ARM_COMMAND = np.dtype(
    [
        ("host_time_s", "<f8"),
        ("cycle", "<u8"),
        ("mode", "<u4"),
        ("zero", "<u4"),
        ("q_target_rad", "<f8", 6),
    ]
)
ARM_STATE = np.dtype(
    [
        ("host_time_s", "<f8"),
        ("step", "<u8"),
        ("plant_time_s", "<f8"),
        ("q_rad", "<f8", 6),
        ("qd_rad_s", "<f8", 6),
        ("torque_nm", "<f8", 6),
        # What the world exerts on the TCP, base axes, gravity compensated, before bias and noise.
        ("wrench_base", "<f8", 6),
        ("q_reset_count", "<f8"),
    ]
)
GRIPPER_COMMAND = np.dtype(
    [
        ("host_time_s", "<f8"),
        ("opening_m", "<f8"),
        ("force_n", "<f8"),
        ("speed_m_s", "<f8"),
        ("enabled", "<u4"),
        ("zero", "<u4"),
    ]
)
# force_n is that of the jaw's drive; positive closes.
GRIPPER_STATE = np.dtype(
    [("host_time_s", "<f8"), ("opening_m", "<f8"), ("opening_speed_m_s", "<f8"), ("force_n", "<f8")]
)
RIG_TRUTH = np.dtype(
    [
        # theta, a, d, alpha of one joint after the other; added to the nominal Denavit-Hartenberg rows.
        ("kinematic_deltas", "<f8", 24),
        # Base axes: force [N], torque [Nm].
        ("wrench_bias", "<f8", 6),
        ("wrench_noise_sigma", "<f8", 6),
    ]
)
OFFSETS = {
    "arm_command": (64, ARM_COMMAND),
    "arm_state": (256, ARM_STATE),
    "gripper_command": (640, GRIPPER_COMMAND),
    "gripper_state": (768, GRIPPER_STATE),
    "rig_truth": (896, RIG_TRUTH),
}
# A writer is inside a block for well under a microsecond; one that was preempted there is given up on.
READ_TRIES = 64

MODE_BRAKES, MODE_POSITION = 0, 1


class Block:
    """One block: ``staged`` is this side's own record, which ``write`` publishes and ``read`` fills."""

    def __init__(self, memory: mmap.mmap, offset: int, dtype: np.dtype) -> None:
        self._counter = np.ndarray((), _COUNTER, memory, offset)
        self._payload = memoryview(memory)[offset + 8 : offset + 8 + dtype.itemsize]
        self.staged = np.zeros((), dtype)
        self._staged_bytes = _bytes_of(self.staged)

    @property
    def counter(self) -> int:
        return int(self._counter)

    def write(self) -> None:
        """Publishes ``staged``. Only the block's writer may call it."""
        odd = int(self._counter) | 1
        # Nothing is called from here on, so the interpreter does not hand over to another thread in between.
        self._counter[()] = odd
        self._payload[:] = self._staged_bytes
        self._counter[()] = odd + 1

    def read(self) -> bool:
        """Copies the block into ``staged``; False where it was never written, or is always being written.

        ``staged`` then holds nothing that may be used.
        """
        for _ in range(READ_TRIES):
            before = int(self._counter)
            if before == 0:
                return False
            if before & 1:
                continue
            self._staged_bytes[:] = self._payload
            if int(self._counter) == before:
                return True
        return False

    def close(self) -> None:
        self._payload.release()
        self._counter = np.zeros((), _COUNTER)


def _bytes_of(record: NDArray[np.void]) -> memoryview:
    return memoryview(np.ndarray((record.dtype.itemsize,), np.uint8, record.data))


class PlantMemory:
    """The mapped file with its blocks."""

    def __init__(self, memory: mmap.mmap, path: str) -> None:
        self.path = path
        self._memory = memory
        blocks = {name: Block(memory, *where) for name, where in OFFSETS.items()}
        self.arm_command = blocks["arm_command"]
        self.arm_state = blocks["arm_state"]
        self.gripper_command = blocks["gripper_command"]
        self.gripper_state = blocks["gripper_state"]
        self.rig_truth = blocks["rig_truth"]
        self._blocks = blocks

    @classmethod
    def create(cls, path: str) -> PlantMemory:
        """Makes the file, mode 0600; it must not exist. Whoever sees the magic sees all of it."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, SIZE)
            memory = mmap.mmap(descriptor, SIZE)
        finally:
            os.close(descriptor)
        memory[8:12] = SIZE.to_bytes(4, "little")
        memory[0:8] = MAGIC
        return cls(memory, path)

    @classmethod
    def attach(cls, path: str) -> PlantMemory:
        """Maps a file that a bench made. Raises ValueError where it is none."""
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            length = os.fstat(descriptor).st_size
            if length < SIZE:
                raise ValueError(f"{path} has {length} bytes; plant memory has {SIZE}")
            memory = mmap.mmap(descriptor, SIZE)
        finally:
            os.close(descriptor)
        if memory[0:8] != MAGIC:
            memory.close()
            raise ValueError(f"{path} does not begin with {MAGIC.decode()}")
        return cls(memory, path)

    def close(self) -> None:
        for block in self._blocks.values():
            block.close()
        self._memory.close()
