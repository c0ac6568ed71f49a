"""The shared memory of a plant."""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path

import pytest
from emulator import Emulator, Rtde, wait_for
from rtde_control import RTDEControlInterface
from rtde_receive import RTDEReceiveInterface

Q = [0.1, -1.5, 1.5, -1.5, -1.5, 0.2]
COMMAND, STATE, TRUTH = 64, 256, 896


class Memory:
    """The plant's side of the memory."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(2048))
        self.file = path.open("r+b")
        self.map = mmap.mmap(self.file.fileno(), 2048)
        self.steps = 0
        self.map[:12] = b"S2RPLT01" + struct.pack("<I", 2048)

    def write(self, at: int, body: bytes) -> None:
        sequence = struct.unpack("<Q", self.map[at : at + 8])[0]
        self.map[at : at + 8] = struct.pack("<Q", sequence + 1)
        self.map[at + 8 : at + 8 + len(body)] = body
        self.map[at : at + 8] = struct.pack("<Q", sequence + 2)

    def arm(self, q: list[float], wrench: list[float], resets: float = 0) -> None:
        self.steps += 1
        numbers = [*q, *[0.0] * 6, *[0.0] * 6, *wrench, resets]
        self.write(STATE, struct.pack("<dQd25d", time.monotonic(), self.steps, 0.0, *numbers))

    def command(self) -> tuple[int, list[float]]:
        body = self.map[COMMAND + 8 : COMMAND + 8 + 72]
        values = struct.unpack("<dQII6d", body)
        return values[2], list(values[4:])


def test_arm_state_command_truth_and_reset(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "plant")
    deltas = [0.0] * 24
    deltas[5] = 0.0007  # da of the second joint
    memory.write(TRUTH, struct.pack("<24d", *deltas))
    memory.arm(Q, [0, 0, 5, 0, 0, 0])
    with Emulator("--plant", str(tmp_path / "plant")) as emulator, Rtde(emulator) as client:
        client.outputs("actual_q,actual_TCP_force,runtime_state")
        client.call(b"S")
        values = struct.unpack(">12dI", client.data()[1:])
        assert values[:6] == pytest.approx(Q) and values[8] == pytest.approx(5)
        assert wait_for(lambda: memory.command() == (1, pytest.approx(Q)))
        with emulator.connect(30001) as link:
            assert struct.pack(">d", -0.425 + 0.0007) in link.recv(4096) + link.recv(4096)

        control = RTDEControlInterface(emulator.host)
        control.moveJ([Q[0] + 0.1, *Q[1:]], 1.0, 4.0, True)
        for _ in range(200):
            memory.arm(memory.command()[1], [0] * 6)
            time.sleep(0.002)
        assert memory.command()[1][0] == pytest.approx(Q[0] + 0.1)

        memory.arm(Q, [0] * 6, resets=1)  # the arm was put back: its program is dropped
        assert wait_for(lambda: memory.command()[1] == pytest.approx(Q))
        assert wait_for(lambda: struct.unpack(">12dI", client.data()[1:])[12] == 1)
        control.disconnect()


def test_an_arm_that_is_held_fast_stops_protectively(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "plant")
    memory.arm(Q, [0] * 6)
    with Emulator("--plant", str(tmp_path / "plant")) as emulator:
        control = RTDEControlInterface(emulator.host)
        control.moveJ([Q[0] + 0.5, *Q[1:]], 1.0, 4.0, True)
        receive = RTDEReceiveInterface(emulator.host)
        assert wait_for(receive.isProtectiveStopped)
        receive.disconnect()
        control.disconnect()


def test_a_plant_that_never_comes_is_an_error(tmp_path: Path) -> None:
    late = Emulator("--plant", str(tmp_path / "none"), "--plant-wait-s", "0.2", wait_ready=False)
    assert late.process.wait(5) == 2
