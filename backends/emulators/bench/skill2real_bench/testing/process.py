"""A bench in a process of its own, as a rig would start it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zmq
from skill2real_sim.wire import privileged_pb2 as pp

from ..plant_memory import PlantMemory

TOKEN = bytes(range(32))
ROOT = Path(__file__).resolve().parents[5]


class BenchProcess:
    """One running bench with a client of each of its sockets."""

    def __init__(self, socket_dir: str, *arguments: str) -> None:
        token_out, token_in = os.pipe()
        os.write(token_in, TOKEN.hex().encode() + b"\n")
        os.close(token_in)
        folders = (ROOT / "backends/sim/server", ROOT / "backends/emulators/bench")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(folder) for folder in folders),
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "skill2real_bench",
                "--socket-dir",
                socket_dir,
                "--token-fd",
                str(token_out),
                *arguments,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[token_out],
            env=environment,
        )
        os.close(token_out)
        self._buffer = b""
        self.ready = self.line()
        self.memory = PlantMemory.attach(str(self.ready["plant"]))
        self._context = zmq.Context(io_threads=1)
        self.frames = self._socket(str(self.ready["frames"]))
        self._privileged = self._socket(str(self.ready["privileged"]))
        self._requests = 0

    def _socket(self, address: str) -> zmq.Socket:
        socket = self._context.socket(zmq.DEALER)
        socket.linger = 0
        socket.connect(address)
        return socket

    def line(self, timeout_s: float = 30.0) -> dict:
        """The next line of JSON on its standard output."""
        assert self.process.stdout is not None
        until_s = time.monotonic() + timeout_s
        while b"\n" not in self._buffer:
            left_s = until_s - time.monotonic()
            assert left_s > 0 and select.select([self.process.stdout], [], [], left_s)[0], "no line"
            chunk = os.read(self.process.stdout.fileno(), 65_536)
            assert chunk, "the bench ended"
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return json.loads(line)

    def tell(self, order: object) -> dict:
        """Writes one line and returns the answer to it."""
        assert self.process.stdin is not None
        text = order if isinstance(order, str) else json.dumps(order)
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        return self.line()

    def ask_frame(self, camera: str, **more: object) -> None:
        self.frames.send_json({"camera": camera, **more})

    def take_frame(self, timeout_ms: int = 8000) -> tuple[dict, list[bytes]] | None:
        if not self.frames.poll(timeout_ms):
            return None
        header, *parts = self.frames.recv_multipart()
        return json.loads(header), parts

    def frame(self, camera: str, **more: object) -> tuple[dict, list[bytes]]:
        self.ask_frame(camera, **more)
        taken = self.take_frame()
        assert taken is not None, "no frame"
        return taken

    def privileged(self, token: bytes = TOKEN, **body: object) -> pp.PrivilegedReply:
        self._requests += 1
        request = pp.PrivilegedRequest(
            protocol_major=1,
            request_id=f"r{self._requests}",
            token=token,
            deadline_ms=30_000,
            **body,
        )
        self._privileged.send(request.SerializeToString())
        assert self._privileged.poll(30_000), "no reply"
        return pp.PrivilegedReply.FromString(self._privileged.recv())

    def close(self) -> int:
        """Lets go of its standard input; returns its exit code."""
        self.memory.close()
        self.frames.close()
        self._privileged.close()
        self._context.term()
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(10)
        self.process.stdout.close()
        return code


@contextmanager
def running_bench(*arguments: str) -> Iterator[BenchProcess]:
    with tempfile.TemporaryDirectory(prefix="s2r-bench-") as folder:
        bench = BenchProcess(folder, *arguments)
        try:
            yield bench
        finally:
            if bench.process.poll() is None:
                bench.close()
