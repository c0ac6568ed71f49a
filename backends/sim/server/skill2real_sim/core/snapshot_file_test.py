"""Files of snapshots: whole or refused, and no way to run code."""

from __future__ import annotations

import os
import pickle
import stat
import zlib
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from skill2real_sim.core.snapshot_file import FORMAT, read_snapshot, write_snapshot
from skill2real_sim.core.station import Snapshot
from skill2real_sim.core.stop_latch import LatchState

CONTENT = Snapshot({"q_rad": np.arange(6.0)}, LatchState(3, True, "why", False), 7)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one.snapshot"
    for _ in range(2):
        write_snapshot(str(path), CONTENT)
    read = read_snapshot(str(path))
    assert isinstance(read, Snapshot)
    assert read.latch == CONTENT.latch and read.groups_given == 7
    assert np.array_equal(read.world["q_rad"], CONTENT.world["q_rad"])  # type: ignore[index]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["one.snapshot"]


@pytest.mark.parametrize("keep", [0, 10, len(FORMAT) + 30, -1])
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "one.snapshot"
    write_snapshot(str(path), CONTENT)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"no snapshot|not whole"):
        read_snapshot(str(path))


def test_a_file_cannot_run_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    packed = zlib.compress(pickle.dumps(Evil()))
    path = tmp_path / "evil.snapshot"
    path.write_bytes(FORMAT + sha256(packed).hexdigest().encode() + b"\n" + packed)
    with pytest.raises(ValueError, match=r"holds no posix\.system"):
        read_snapshot(str(path))


def test_a_folder_that_is_missing_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_snapshot(str(tmp_path / "none" / "a.snapshot"), CONTENT)
    with pytest.raises(ValueError, match="not absolute"):
        write_snapshot("a.snapshot", CONTENT)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.snapshot"
    write_snapshot(str(path), CONTENT)
    before = path.read_bytes()

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_snapshot(str(path), Snapshot({}, CONTENT.latch, 8))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["one.snapshot"]
