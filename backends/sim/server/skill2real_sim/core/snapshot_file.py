"""Snapshots on disk: a line of format, a line with the digest of what follows, and that, pickled and packed.

A file is whole or it is refused: it is written beside its place, flushed, and only then moved there, and
whoever reads it compares the digest first. What is unpickled may hold nothing but this package's own classes,
arrays and engine data, so that a file that somebody else wrote cannot run code.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import zlib

FORMAT = b"skill2real-snapshot-1\n"
MAX_BYTES = 256 << 20
_FOREIGN = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("mujoco._structs", "MjData"),
    ("mujoco._structs", "MjModel"),
}


def write_snapshot(path: str, content: object) -> None:
    """Replaces the file at ``path``, mode 0600. Raises OSError or ValueError, and then leaves the old one."""
    if not os.path.isabs(path):
        raise ValueError(f"the snapshot's path {path!r} is not absolute")
    packed = zlib.compress(pickle.dumps(content, protocol=4), 1)
    beside = f"{path}.{os.getpid()}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
            file.write(FORMAT + hashlib.sha256(packed).hexdigest().encode() + b"\n" + packed)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_snapshot(path: str) -> object:
    """Raises OSError, or ValueError for a file that is none, is not whole, or holds something else."""
    if not os.path.isabs(path):
        raise ValueError(f"the snapshot's path {path!r} is not absolute")
    with open(path, "rb") as file:
        if file.readline(len(FORMAT)) != FORMAT:
            raise ValueError("this is no snapshot of this version")
        digest = file.readline(65).strip()
        packed = file.read(MAX_BYTES + 1)
    if hashlib.sha256(packed).hexdigest().encode() != digest:
        raise ValueError("the file is not whole")
    return _Reader(io.BytesIO(zlib.decompress(packed))).load()


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        own = module.split(".")[0] == "skill2real_sim" and "." not in name
        found = super().find_class(module, name) if own or (module, name) in _FOREIGN else None
        if found is None or (own and not isinstance(found, type)):
            raise ValueError(f"a snapshot holds no {module}.{name}")
        return found
