"""Nothing that anybody sends ends the server: no random bytes, no right request with bytes changed."""

from __future__ import annotations

import random

import pytest
import zmq

from skill2real_sim.core.testing.client import DeviceClient, ServerProcess, move_to
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.wire import privileged_pb2 as pp

HOME = [0.0, -1.5, 1.5, -1.5, -1.5, 0.0]
ROUNDS = 400


def _mutated(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 8)):
        kind = draw.randrange(4)
        at = draw.randrange(len(changed) + 1)
        if kind == 0 and changed:
            changed[at % len(changed)] = draw.randrange(256)
        elif kind == 1:
            changed[at:at] = draw.randbytes(draw.randint(1, 9))
        elif kind == 2:
            del changed[at : at + draw.randint(1, 20)]
        else:
            changed[at:at] = changed[: draw.randint(0, 40)]
    return bytes(changed)


def _bodies() -> list[dict[str, object]]:
    return [
        {"hello": dp.Hello(role=dp.OBSERVER, client="x")},
        {"get_state": {}},
        {"get_frames": dp.GetFrames(cameras=["left", "right"], not_before_s=0.1)},
        {"execute": dp.Execute(stop_epoch=0, motions=[move_to(0.5, HOME)])},
        {"execute": dp.Execute(motions=[dp.Motion(gripper_move=dp.GripperMove(arm="arm", opening_m=0.05))])},
        {"advance": dp.Advance(until_s=0.2)},
        {"resume": dp.Resume(stop_epoch=1, token="x" * 64)},
        {"renew": {}},
        {"bye": {}},
    ]


def _alive(server: ServerProcess) -> bool:
    probe = server.device()
    session = probe.hello(dp.OBSERVER).hello.session
    probe.ask(bye={})
    probe.close()
    return bool(session) and server.process.poll() is None


@pytest.mark.parametrize("seed", range(3))
def test_the_device_plane_survives(server: ServerProcess, client: DeviceClient, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(ROUNDS):
        if draw.random() < 0.2:
            data = draw.randbytes(draw.randint(0, 300))
        else:
            data = client.request(deadline_ms=200, **draw.choice(_bodies())).SerializeToString()
            if draw.random() < 0.9:
                data = _mutated(draw, data)
        reply = client.raw(*([data] * draw.choice((1, 1, 1, 1, 2))))
        assert reply.protocol_major == 1
        assert (reply.WhichOneof("body") is None) == reply.HasField("error")
        assert reply.error.code != dp.ERROR_INTERNAL, reply.error.message
        # Whatever used up the number, the next try is with the right one.
        client.sequence = _next_sequence(client)
    assert _alive(server)


def _next_sequence(client: DeviceClient) -> int:
    reply = client.raw(client.request(renew={}, sequence=2**63).SerializeToString())
    if reply.error.code == dp.ERROR_SEQUENCE:
        return int(reply.error.message.split()[-1])
    client.hello(dp.CONTROLLER)
    return client.sequence


@pytest.mark.parametrize("seed", range(3))
def test_the_privileged_plane_survives(server: ServerProcess, seed: int) -> None:
    draw = random.Random(seed)
    socket = server.dealer("privileged")
    bodies = [
        {"reset": pp.Reset(task="r1", seed=1)},
        {"evaluate": {}},
        {"get_true_state": {}},
        {"snapshot": {}},
        {"restore": pp.Restore(id="x")},
        {"mark_evidence": pp.MarkEvidence(label="x")},
        {"get_resume_token": {}},
        {"settle": pp.Settle(duration_s=0.1)},
    ]
    for number in range(ROUNDS):
        request = pp.PrivilegedRequest(
            protocol_major=1,
            request_id=f"{seed}-{number}",
            token=server.token,
            deadline_ms=200,
            **draw.choice(bodies),
        )
        data = request.SerializeToString()
        socket.send(_mutated(draw, data) if draw.random() < 0.9 else data)
        reply = pp.PrivilegedReply.FromString(socket.recv())
        assert (reply.WhichOneof("body") is None) == reply.HasField("error")
        assert reply.error.code != pp.PRIVILEGED_INTERNAL, reply.error.message
    socket.close()
    assert _alive(server)


def test_the_stop_plane_survives(server: ServerProcess) -> None:
    draw = random.Random(7)
    socket = server.dealer("stop")
    last = 0
    for _ in range(ROUNDS):
        socket.send_multipart([draw.randbytes(draw.randint(0, 200)) for _ in range(draw.randint(1, 4))])
        epoch = dp.StopReply.FromString(socket.recv()).stop_epoch
        assert epoch > last
        last = epoch
    socket.close()
    assert _alive(server)


def test_a_client_that_reads_nothing_costs_only_itself(server: ServerProcess) -> None:
    deaf = server.device()
    deaf.hello(dp.OBSERVER)
    deaf.socket.sndtimeo = 2000
    for _ in range(1500):
        deaf.send(deaf.request(get_frames=dp.GetFrames(cameras=["left", "right"])))
        deaf.sequence += 1
    assert _alive(server)
    deaf.close()


def test_connections_that_speak_no_zeromq(server: ServerProcess) -> None:
    import socket as plain

    for name in ("device", "stop", "events", "privileged"):
        stream = plain.socket(plain.AF_UNIX)
        stream.connect(str(server.ready[name]).removeprefix("ipc://"))
        stream.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + bytes(range(256)) * 10)
        stream.close()
    assert _alive(server)


def test_other_kinds_of_sockets(server: ServerProcess) -> None:
    for kind in (zmq.REQ, zmq.ROUTER, zmq.SUB):
        socket = server.context.socket(kind)
        socket.linger = 0
        for name in ("device", "privileged", "events"):
            socket.connect(server.ready[name])
        if kind == zmq.REQ:
            socket.rcvtimeo = 500
            socket.send(b"x")
        socket.close()
    assert _alive(server)
