"""Ports 30001, 30002 and 30003: state messages, kinematics, scripts."""

from __future__ import annotations

import socket
import struct
import time

import numpy as np
import pytest
from emulator import Emulator, Rtde, wait_for

NOMINAL_A = [0, -0.425, -0.3922, 0, 0, 0]
NOMINAL_D = [0.1625, 0, 0, 0.1333, 0.0997, 0.0996]
NOMINAL_ALPHA = [np.pi / 2, 0, 0, np.pi / 2, -np.pi / 2, 0]


def exactly(link: socket.socket, count: int) -> bytes:
    out = b""
    while len(out) < count:
        more = link.recv(count - len(out))
        if not more:
            raise ConnectionError("closed by the controller")
        out += more
    return out


def message(link: socket.socket) -> tuple[int, bytes]:
    size, kind = struct.unpack(">iB", exactly(link, 5))
    return kind, exactly(link, size - 5)


def parts(body: bytes) -> dict[int, bytes]:
    out = {}
    while body:
        size, kind = struct.unpack(">iB", body[:5])
        out[kind] = body[5:size]
        body = body[size:]
    return out


def state(link: socket.socket) -> dict[int, bytes]:
    while True:
        kind, body = message(link)
        if kind == 16:
            return parts(body)


def kinematics(emulator: Emulator) -> tuple[tuple[int, ...], np.ndarray]:
    with emulator.connect(30001) as link:
        info = state(link)[5]
    assert len(info) == 24 + 4 * 48 + 4
    return struct.unpack(">6I", info[:24]), np.frombuffer(info[24:-4], ">f8").reshape(4, 6)


@pytest.mark.parametrize("port", [30001, 30002])
def test_version_comes_first_then_states_at_10_hz(shared: Emulator, port: int) -> None:
    with shared.connect(port) as link:
        kind, body = message(link)
        assert kind == 20
        assert body[9] == 3 and body[10] == 9 and body[11:20] == b"URControl"
        assert tuple(body[20:22]) == (5, 17)
        first = state(link)
        assert set(first) == {0, 1, 2, 3, 4, 5, 6, 8}
        assert len(first[1]) == 6 * 41
        start = time.monotonic()
        for _ in range(10):
            assert 5 not in state(link)
        assert 0.7 < time.monotonic() - start < 1.5


def test_kinematics_info_without_deltas_is_the_published_table(shared: Emulator) -> None:
    _, (theta, a, d, alpha) = kinematics(shared)
    assert np.allclose(theta, 0) and np.allclose(a, NOMINAL_A)
    assert np.allclose(d, NOMINAL_D) and np.allclose(alpha, NOMINAL_ALPHA)


def test_kinematics_info_carries_the_deltas_and_the_controller_uses_them() -> None:
    deltas = np.zeros((6, 4))
    deltas[1] = [0.001, 0.0005, -0.0002, 0.0008]
    with Emulator("--kinematic-deltas", *[repr(float(x)) for x in deltas.ravel()]) as emulator:
        checksums, (theta, a, d, alpha) = kinematics(emulator)
        assert theta[1] == pytest.approx(0.001)
        assert a[1] == pytest.approx(-0.425 + 0.0005)
        assert d[1] == pytest.approx(-0.0002) and alpha[1] == pytest.approx(0.0008)
        with Rtde(emulator) as client:
            client.outputs("actual_q,actual_TCP_pose")
            client.call(b"S")
            values = np.frombuffer(client.data()[1:], ">f8")
        X = np.eye(4)
        for q, t, ai, di, al in zip(values[:6], theta, a, d, alpha, strict=True):
            c, s, ca, sa = np.cos(q + t), np.sin(q + t), np.cos(al), np.sin(al)
            row = [[c, -s * ca, s * sa, ai * c], [s, c * ca, -c * sa, ai * s], [0, sa, ca, di]]
            X = X @ np.vstack([row, [0, 0, 0, 1]])
        assert np.allclose(X[:3, 3], values[6:9], atol=1e-9)
    with Emulator() as plain:
        other, _ = kinematics(plain)
    assert [a == b for a, b in zip(checksums, other, strict=True)] == [i != 1 for i in range(6)]


def test_realtime_port_streams_1220_bytes_at_500_hz(shared: Emulator) -> None:
    with shared.connect(30003) as link:
        stamps = []
        for _ in range(100):
            package = exactly(link, 1220)
            assert struct.unpack(">i", package[:4]) == (1220,)
            stamps.append(struct.unpack(">d", package[4:12])[0])
        values = np.frombuffer(package[4:], ">f8")
    assert np.median(np.diff(stamps)) == pytest.approx(0.002, abs=1e-6)
    assert values[94] == 7 and values[101] == 1  # robot and safety mode
    with Rtde(shared) as client:
        client.outputs("actual_q")
        client.call(b"S")
        assert np.allclose(np.frombuffer(client.data()[1:], ">f8"), values[31:37], atol=1e-6)


def test_an_uploader_that_never_reads_does_no_harm(shared: Emulator) -> None:
    with shared.connect(30003) as link:
        time.sleep(1.0)
        link.sendall(b'textmsg("still here")\n')
        with Rtde(shared) as client:
            client.outputs("timestamp")
            client.call(b"S")
            assert client.data()


def outputs(emulator: Emulator, names: str) -> bytes:
    with Rtde(emulator) as client:
        client.outputs(names)
        client.call(b"S")
        return client.data()[1:]


@pytest.mark.parametrize("port", [30001, 30002, 30003])
def test_straight_line_programs_run_from_every_port(emulator: Emulator, port: int) -> None:
    program = f"""def test_program():
  # a remark
  write_output_integer_register(12, {port})
  movej([0.2, -1.57, 1.57, -1.57, -1.57, 0], a=8, v=2)
  stopj(2)
  write_output_float_register(12, 1.5)
end
"""
    with emulator.connect(port) as link:
        link.sendall(program.encode())
        names = "output_int_register_12,output_double_register_12,runtime_state"
        done = struct.pack(">idI", port, 1.5, 1)
        assert wait_for(lambda: outputs(emulator, names) == done)
    q = struct.unpack(">6d", outputs(emulator, "target_q"))
    assert q == pytest.approx([0.2, -1.57, 1.57, -1.57, -1.57, 0])


def test_single_line_runs_and_a_new_script_replaces_a_running_one(emulator: Emulator) -> None:
    with emulator.connect(30002) as link:
        link.sendall(b"movej([3, -1.57, 1.57, -1.57, -1.57, 0], a=2, v=0.5)\n")
        assert wait_for(lambda: struct.unpack(">I", outputs(emulator, "runtime_state"))[0] == 2)
        link.sendall(b"def stop_it():\n  stopj(5)\n  write_output_integer_register(20, 9)\nend\n")
        assert wait_for(lambda: outputs(emulator, "output_int_register_20") == struct.pack(">i", 9))
        assert struct.unpack(">6d", outputs(emulator, "target_q"))[0] < 1.0


def test_script_errors_reach_the_primary_interface(shared: Emulator) -> None:
    with shared.connect(30001) as link:
        link.sendall(b"while True:\nend\n")
        end = time.monotonic() + 3
        texts = b""
        while b"script refused" not in texts and time.monotonic() < end:
            kind, body = message(link)
            texts += body if kind == 20 else b""
        assert b"script refused: script not understood" in texts
