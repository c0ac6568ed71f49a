"""Files of snapshots: whole or refused, and no way to run code."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import threading
import zlib
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from skill2real_sim.core import snapshot_file
from skill2real_sim.core.snapshot_file import FORMAT, read_snapshot, write_snapshot
from skill2real_sim.core.station import Snapshot
from skill2real_sim.core.stop_latch import LatchState

CLASSES = (Snapshot, LatchState)
CONTENT = Snapshot({"q_rad": np.arange(6.0)}, LatchState(3, True, "why", False), 7)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one.snapshot"
    for _ in range(2):
        write_snapshot(str(path), CONTENT)
    read = read_snapshot(str(path), CLASSES)
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
        read_snapshot(str(path), CLASSES)


def seal(path: Path, packed: bytes) -> None:
    path.write_bytes(FORMAT + sha256(packed).hexdigest().encode() + b"\n" + packed)


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [
        # A class of this package that starts a process when it is made.
        ("skill2real_sim.core.testing.client", "ServerProcess", ("fake", "this")),
        # One that a module of this package has from elsewhere, under this package's name.
        ("skill2real_sim.core.testing.client", "subprocess.Popen", (["true"],)),
        ("skill2real_sim.core.evidence_log", "Path", ("/",)),
        ("skill2real_sim.core.station", "LatchState", (1, True, "", False)),
        ("skill2real_sim.worlds.twin.world", "TwinWorld", ()),
        ("mujoco._structs", "MjModel", ()),
    ],
)
def test_a_class_that_is_not_named_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, arguments: tuple[object, ...]
) -> None:
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **_rest: started.append(given))
    call = pickle.dumps(arguments, protocol=2)[2:-1]  # without its opcodes of protocol and end
    path = tmp_path / "evil.snapshot"
    seal(path, zlib.compress(b"c" + f"{module}\n{name}\n".encode() + call + b"R."))
    with pytest.raises(ValueError, match=f"holds no {module}.{name}"):
        read_snapshot(str(path), CLASSES)
    assert started == []


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.snapshot"
    monkeypatch.setattr(snapshot_file, "MAX_BYTES", 1 << 16)
    seal(path, zlib.compress(pickle.dumps(b"0" * (1 << 20))))
    with pytest.raises(ValueError, match="unpacks to more than 65536 bytes"):
        read_snapshot(str(path), CLASSES)


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x04\x95",
        b"cskill2real_sim.core.stop_latch\nLatchState\n(tR.",  # too few arguments
        b"cskill2real_sim.core.stop_latch\nLatchState\n)\x81X\x01\x00\x00\x00ab.",  # no state
        b"h\x07.",  # nothing was kept there
        b"K\x01K\x01R.",
    ],
)
def test_a_bad_pickle_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.snapshot"
    seal(path, zlib.compress(content))
    with pytest.raises(ValueError, match="is no snapshot"):
        read_snapshot(str(path), CLASSES)


def test_a_pack_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.snapshot"
    for packed, why in ((zlib.compress(pickle.dumps(1))[:-4], "too early"), (b"none", "is no snapshot")):
        seal(path, packed)
        with pytest.raises(ValueError, match=why):
            read_snapshot(str(path), CLASSES)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    said: list[str] = []

    def read() -> None:
        try:
            read_snapshot(str(path), CLASSES)
        except ValueError as error:
            said.append(str(error))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(30)
    assert said == ["this is no regular file"]
    with pytest.raises((OSError, ValueError)):
        read_snapshot(str(tmp_path), CLASSES)


def test_a_file_cannot_run_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    path = tmp_path / "evil.snapshot"
    seal(path, zlib.compress(pickle.dumps(Evil())))
    with pytest.raises(ValueError, match=r"holds no posix\.system"):
        read_snapshot(str(path), CLASSES)


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
