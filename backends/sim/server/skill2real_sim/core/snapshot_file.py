"""Snapshots on disk: a line of format, a line with the digest of what follows, and that, pickled and packed.

A file is whole or it is refused: it is written beside its place, flushed, and only then moved there, and
whoever reads it compares the digest first. What is unpickled may hold nothing but those classes
that its reader names, arrays and engine data, so that a file that somebody else wrote cannot run code.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import stat
import zlib
from collections.abc import Iterable

FORMAT = b"skill2real-snapshot-1\n"
MAX_BYTES = 256 << 20  # of the file, and of what it unpacks to
# What comes of a pickle that fits its digest and its classes, but not each other.
_MALFORMED = (
    pickle.UnpicklingError,
    zlib.error,
    EOFError,
    AttributeError,
    ImportError,
    LookupError,
    TypeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
_FOREIGN = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("mujoco._structs", "MjData"),
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


def read_snapshot(path: str, classes: Iterable[type]) -> object:
    """What was written, of ``classes`` and plain values, arrays and engine data.

    Raises OSError, or ValueError for a file that is none, is not whole, or holds something else.
    """
    if not os.path.isabs(path):
        raise ValueError(f"the snapshot's path {path!r} is not absolute")
    # Not to wait for whoever would write into a pipe.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("this is no regular file")
        if file.readline(len(FORMAT)) != FORMAT:
            raise ValueError("this is no snapshot of this version")
        digest = file.readline(65).strip()
        packed = file.read(MAX_BYTES + 1)
    if hashlib.sha256(packed).hexdigest().encode() != digest:
        raise ValueError("the file is not whole")
    try:
        return _Reader(io.BytesIO(_unpacked(packed)), classes).load()
    except _MALFORMED as error:
        raise ValueError(f"what it holds is no snapshot: {type(error).__name__}: {error}") from None


def _unpacked(packed: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(packed, MAX_BYTES)
    if unpacking.unconsumed_tail:
        raise ValueError(f"it unpacks to more than {MAX_BYTES} bytes")
    if not unpacking.eof:
        raise ValueError("what it holds ends too early")
    return content


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, classes: Iterable[type]) -> None:
        super().__init__(file)
        self._classes = {(one.__module__, one.__qualname__): one for one in classes}

    def find_class(self, module: str, name: str) -> object:
        if (module, name) in _FOREIGN:
            return super().find_class(module, name)
        found = self._classes.get((module, name))
        if found is None:
            raise ValueError(f"a snapshot holds no {module}.{name}")
        return found
