"""A plain client of all four sockets, and a server process started as the launcher starts it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import zmq

from skill2real_sim.core.bootstrap import CONFIG_FD
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.wire import privileged_pb2 as pp

SERVER_ROOT = Path(__file__).resolve().parents[3]
PATIENCE_MS = 10_000


class DeviceClient:
    """One DEALER with a session of its own."""

    def __init__(self, context: zmq.Context, address: str) -> None:
        self.socket = context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvtimeo = PATIENCE_MS
        self.socket.connect(address)
        self.session = ""
        self.sequence = 0

    def request(self, **body: object) -> dp.Request:
        """The next request of the session; keyword arguments are fields of Request, before the defaults."""
        fields = {
            "protocol_major": 1,
            "session": self.session,
            "request_id": secrets.token_hex(8),
            "sequence": self.sequence,
            "deadline_ms": 5000,
            **body,
        }
        return dp.Request(**fields)

    def send(self, request: dp.Request) -> None:
        self.socket.send(request.SerializeToString())

    def receive(self) -> tuple[dp.Reply, list[bytes]]:
        parts = self.socket.recv_multipart()
        return dp.Reply.FromString(parts[0]), parts[1:]

    def raw(self, *parts: bytes) -> dp.Reply:
        self.socket.send_multipart(parts)
        return self.receive()[0]

    def ask(self, **body: object) -> dp.Reply:
        return self.ask_raw(**body)[0]

    def ask_raw(self, **body: object) -> tuple[dp.Reply, list[bytes]]:
        self.send(self.request(**body))
        self.sequence += 1
        return self.receive()

    def hello(self, role: dp.Role = dp.CONTROLLER, lease_ms: int = 60_000) -> dp.Reply:
        self.session, self.sequence = "", 0
        reply = self.ask(hello=dp.Hello(role=role, client="test", lease_ms=lease_ms))
        self.session = reply.hello.session
        return reply

    def close(self) -> None:
        self.socket.close()


class ServerProcess:
    """A real server process over the test world, with the configuration on descriptor 3."""

    def __init__(
        self, world: str = "fake", module: str = "skill2real_sim.core.testing", **config: object
    ) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="s2r-")
        self.token = secrets.token_bytes(32)
        theirs, self.parent_end = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, "--world", world],
            preexec_fn=lambda: os.dup2(theirs, CONFIG_FD),
            pass_fds=[CONFIG_FD],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SERVER_ROOT)},
        )
        os.close(theirs)
        line = {
            "socket_dir": self.folder.name,
            "privileged_token_hex": self.token.hex(),
            "realtime": 0,
            "exit_on_lease_lapse": False,
            "curve": None,
            "bind": None,
            **config,
        }
        os.write(self.parent_end, json.dumps(line).encode() + b"\n")
        self.context = zmq.Context()
        first = self.process.stdout.readline()
        self.ready: dict[str, object] = json.loads(first) if first else {}
        self._privileged: zmq.Socket | None = None

    def device(self) -> DeviceClient:
        return DeviceClient(self.context, self.ready["device"])

    def controller(self, lease_ms: int = 60_000) -> DeviceClient:
        client = self.device()
        reply = client.hello(dp.CONTROLLER, lease_ms)
        assert client.session, reply
        return client

    def dealer(self, name: str) -> zmq.Socket:
        socket = self.context.socket(zmq.SUB if name == "events" else zmq.DEALER)
        socket.linger = 0
        socket.rcvtimeo = PATIENCE_MS
        socket.connect(self.ready[name])
        if name == "events":
            socket.subscribe(b"")
        return socket

    def stop(self, reason: str = "test") -> dp.StopReply:
        socket = self.dealer("stop")
        socket.send(dp.StopRequest(protocol_major=1, reason=reason).SerializeToString())
        reply = dp.StopReply.FromString(socket.recv())
        socket.close()
        return reply

    def privileged(self, **body: object) -> pp.PrivilegedReply:
        if self._privileged is None:
            self._privileged = self.dealer("privileged")
        fields = {
            "protocol_major": 1,
            "request_id": secrets.token_hex(8),
            "token": self.token,
            "deadline_ms": 10_000,
            **body,
        }
        self._privileged.send(pp.PrivilegedRequest(**fields).SerializeToString())
        return pp.PrivilegedReply.FromString(self._privileged.recv())

    def reset(self, seed: int = 1, variant: str = "") -> pp.PrivilegedReply:
        return self.privileged(reset=pp.Reset(task="r1", seed=seed, variant=variant))

    def close(self) -> str:
        """Ends the process; returns what it wrote to standard error."""
        self.context.destroy(linger=0)
        if self.process.poll() is None:
            self.process.terminate()
        try:
            _, err = self.process.communicate(timeout=10)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            if self.parent_end is not None:
                os.close(self.parent_end)
            self.folder.cleanup()
        return err.decode()


def move_to(first_joint_rad: float, q_rad: list[float], duration_s: float = 1.0) -> dp.Motion:
    """A straight joint trajectory from ``q_rad`` that moves the first joint."""
    points = 51
    goal = [first_joint_rad, *q_rad[1:]]
    time_s = [duration_s * k / (points - 1) for k in range(points)]
    path = [a + (b - a) * t / duration_s for t in time_s for a, b in zip(q_rad, goal, strict=True)]
    return dp.Motion(joint_trajectory=dp.JointTrajectory(arm="arm", time_s=time_s, q_rad=path))
