from __future__ import annotations

import multiprocessing
import os
import stat
import time
from pathlib import Path

import numpy as np
import pytest

from .plant_memory import MAGIC, OFFSETS, SIZE, PlantMemory


def test_layout_is_the_agreed_one(tmp_path: Path) -> None:
    path = str(tmp_path / "plant")
    memory = PlantMemory.create(path)
    state = memory.arm_state.staged
    state["host_time_s"], state["step"], state["plant_time_s"] = 1.5, 7, 2.5
    state["q_rad"], state["q_reset_count"] = np.arange(6), 3
    memory.arm_state.write()
    memory.gripper_state.staged["force_n"] = 12.5
    memory.gripper_state.write()
    memory.rig_truth.staged["kinematic_deltas"][23] = 9.0
    memory.rig_truth.staged["wrench_bias"][0] = 4.0
    memory.rig_truth.staged["wrench_noise_sigma"][5] = 5.0
    memory.rig_truth.write()
    raw = Path(path).read_bytes()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert raw[:8] == MAGIC and int.from_bytes(raw[8:12], "little") == SIZE == len(raw)

    def f64(offset: int) -> float:
        return float(np.frombuffer(raw, "<f8", 1, offset)[0])

    assert int.from_bytes(raw[256:264], "little") == 2
    assert (f64(264), int.from_bytes(raw[272:280], "little"), f64(280)) == (1.5, 7, 2.5)
    assert [f64(288 + 8 * n) for n in range(6)] == [0, 1, 2, 3, 4, 5]
    assert f64(288 + 8 * 24) == 3  # after q, qd, torque and wrench
    assert f64(776 + 24) == 12.5
    assert (f64(904 + 8 * 23), f64(1096), f64(1144 + 40)) == (9.0, 4.0, 5.0)
    assert raw[64:72] == bytes(8)  # nobody has commanded anything
    ends = {name: offset + 8 + dtype.itemsize for name, (offset, dtype) in OFFSETS.items()}
    starts = [*sorted(offset for offset, _ in OFFSETS.values()), SIZE]
    assert all(any(start >= end for start in starts) for end in ends.values())
    memory.close()


def test_a_block_that_was_never_written_or_is_being_written_gives_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "plant")
    memory = PlantMemory.create(path)
    other = PlantMemory.attach(path)
    assert not other.arm_command.read()
    memory.arm_command.write()
    assert other.arm_command.read()
    with open(path, "r+b") as file:
        file.seek(64)
        file.write((5).to_bytes(8, "little"))
    assert not other.arm_command.read()
    memory.close()
    other.close()


def test_what_is_no_plant_memory_is_refused(tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_bytes(b"S2RPLT01")
    with pytest.raises(ValueError, match="8 bytes"):
        PlantMemory.attach(str(short))
    foreign = tmp_path / "foreign"
    foreign.write_bytes(bytes(SIZE))
    with pytest.raises(ValueError, match="does not begin"):
        PlantMemory.attach(str(foreign))
    existing = str(tmp_path / "existing")
    PlantMemory.create(existing).close()
    with pytest.raises(FileExistsError):
        PlantMemory.create(existing)


def _write_equal_values(path: str, count: int) -> None:
    memory = PlantMemory.attach(path)
    staged = memory.arm_command.staged
    for n in range(1, count + 1):
        staged["host_time_s"] = n
        staged["cycle"] = n
        staged["q_target_rad"] = n
        memory.arm_command.write()
        if n % 400 == 0:
            time.sleep(0.0005)  # on a busy machine the reader gets its turn, too
    memory.close()


def test_a_second_process_never_shows_a_torn_record(tmp_path: Path) -> None:
    path = str(tmp_path / "plant")
    memory = PlantMemory.create(path)
    last = 40_000
    writer = multiprocessing.get_context("spawn").Process(target=_write_equal_values, args=(path, last))
    writer.start()
    seen: set[int] = set()
    staged = memory.arm_command.staged
    while True:
        if memory.arm_command.read():
            values = {float(staged["host_time_s"]), float(staged["cycle"]), *staged["q_target_rad"].tolist()}
            assert len(values) == 1
            seen.add(int(staged["cycle"]))
            if last in seen:
                break
        assert writer.is_alive() or writer.exitcode == 0
    writer.join()
    assert len(seen) > 10
    memory.close()
