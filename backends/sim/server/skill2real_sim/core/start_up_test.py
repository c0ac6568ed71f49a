"""How a server process starts and ends."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import zmq
import zmq.utils.z85

from skill2real_sim.core.testing.client import SERVER_ROOT, DeviceClient, ServerProcess, move_to
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.wire import privileged_pb2 as pp

HOME = [0.0, -1.5, 1.5, -1.5, -1.5, 0.0]
COMMAND = [sys.executable, "-m", "skill2real_sim.core.testing", "--world", "fake"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SERVER_ROOT)}


def _start_moving(server: ServerProcess) -> DeviceClient:
    server.reset()
    client = server.controller()
    client.ask(execute=dp.Execute(motions=[move_to(0.5, HOME)]))
    return client


def _kinds_until_ending(events: zmq.Socket) -> list[str]:
    kinds = []
    while not kinds or kinds[-1] != "ending":
        kinds.append(dp.Event.FromString(events.recv()).WhichOneof("kind"))
    return kinds


def test_the_ready_line_names_everything_and_stdout_stays_silent() -> None:
    server = ServerProcess()
    assert server.ready["ready"] is True
    assert server.ready["pid"] == server.process.pid
    assert server.ready["renderer"] == "none"
    for name in ("device", "stop", "events", "privileged"):
        path = str(server.ready[name]).removeprefix("ipc://")
        assert path == f"{server.folder.name}/{name}"
        assert stat.S_ISSOCK(os.stat(path).st_mode)
    client = _start_moving(server)
    client.ask(advance=dp.Advance(until_s=0.5))
    server.process.terminate()
    assert server.process.wait(10) == 0
    assert server.process.stdout.read() == b""
    server.close()


def test_secrets_are_in_neither_arguments_nor_environment() -> None:
    server = ServerProcess()
    for file in ("cmdline", "environ"):
        content = Path(f"/proc/{server.process.pid}/{file}").read_bytes()
        assert server.token.hex().encode() not in content
    server.close()


def test_without_a_token_there_is_no_privileged_plane() -> None:
    server = ServerProcess(privileged_token_hex=None)
    assert server.ready["privileged"] is None
    assert not (Path(server.folder.name) / "privileged").exists()
    server.close()


@pytest.mark.parametrize("config", [{"realtime": -1}, {"unknown": 1}, {"socket_dir": "/nowhere"}])
def test_a_bad_option_ends_the_start_with_words(config: dict[str, object]) -> None:
    server = ServerProcess(**config)
    assert server.process.wait(10) == 2
    assert server.ready == {}
    assert "cannot start" in server.close()


def test_an_address_in_use_ends_the_start_with_words() -> None:
    first = ServerProcess(bind={"device": "tcp://127.0.0.1:0"})
    second = ServerProcess(bind={"device": first.ready["device"]})
    assert second.process.wait(10) == 2
    assert "cannot bind device" in second.close()
    first.close()


def test_no_options_at_all_end_the_start_with_words() -> None:
    run = subprocess.run(COMMAND, env=ENVIRONMENT, capture_output=True, timeout=20, close_fds=True)
    assert run.returncode == 2
    assert b"descriptor 3" in run.stderr
    assert run.stdout == b""


def test_a_manual_start_has_no_privileged_plane() -> None:
    with tempfile.TemporaryDirectory(prefix="s2r-") as folder:
        command = [*COMMAND, "--socket-dir", folder, "--realtime", "1.0"]
        with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE) as process:
            ready = json.loads(process.stdout.readline())
            assert ready["privileged"] is None
            with zmq.Context() as context:
                client = DeviceClient(context, ready["device"])
                assert client.hello(dp.OBSERVER).hello.capabilities.clock == dp.WALL
                client.close()
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 0


def test_a_parent_that_lets_go_ends_the_process_with_the_arm_stopped_first() -> None:
    server = ServerProcess()
    events = server.dealer("events")
    client = _start_moving(server)
    os.close(server.parent_end)
    server.parent_end = None
    kinds = _kinds_until_ending(events)
    assert kinds[-2:] == ["stopped", "ending"]
    assert server.process.wait(10) == 4
    client.close()
    assert "the parent is gone" in server.close()


def test_a_parent_that_lets_go_ends_a_long_advance_too() -> None:
    server = ServerProcess()
    client = server.controller()
    server.reset(variant="slow_step")
    client.send(client.request(advance=dp.Advance(until_s=60.0), deadline_ms=600_000))
    os.close(server.parent_end)
    server.parent_end = None
    assert server.process.wait(10) == 4
    server.close()


def test_a_killed_parent_takes_the_server_along() -> None:
    script = (
        "import json\n"
        "from skill2real_sim.core.testing.client import ServerProcess\n"
        "server = ServerProcess()\n"
        "print(json.dumps(server.ready), flush=True)\n"
        "import time\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], env=ENVIRONMENT, stdout=subprocess.PIPE) as parent:
        pid = json.loads(parent.stdout.readline())["pid"]
        watch = os.pidfd_open(pid)
        parent.kill()
    poller = zmq.Poller()
    poller.register(watch, zmq.POLLIN)
    try:
        assert poller.poll(5000), "the server outlived its parent"
    finally:
        os.close(watch)


def test_a_lapsed_lease_ends_the_process_where_asked() -> None:
    server = ServerProcess(exit_on_lease_lapse=True)
    events = server.dealer("events")
    server.reset()
    client = server.controller(lease_ms=150)
    client.ask(execute=dp.Execute(motions=[move_to(0.5, HOME)]))
    kinds = _kinds_until_ending(events)
    assert kinds[-3:] == ["stopped", "fault", "ending"]
    assert server.process.wait(10) == 3
    server.close()


def test_a_signal_stops_the_arm_and_ends_in_order() -> None:
    server = ServerProcess()
    events = server.dealer("events")
    _start_moving(server)
    server.process.send_signal(signal.SIGTERM)
    assert _kinds_until_ending(events)[-2:] == ["stopped", "ending"]
    assert server.process.wait(10) == 0
    server.close()


def test_a_stop_is_served_while_nobody_reads_the_log() -> None:
    server = ServerProcess()
    socket = server.dealer("stop")
    # Each stop writes a line of some 60 bytes; a pipe holds 65536, and nobody reads this one.
    for _ in range(3000):
        socket.send(b"")
        socket.recv()
    server.close()


def test_a_session_of_an_earlier_process_is_unknown() -> None:
    first = ServerProcess()
    old = first.controller()
    first.close()
    second = ServerProcess()
    client = second.device()
    reply = client.ask(get_state={}, session=old.session)
    assert reply.error.code == dp.ERROR_UNKNOWN_SESSION
    second.close()


# ---------------------------------------------------------------- between machines


def test_curve_lets_in_known_keys_only() -> None:
    public, secret = zmq.curve_keypair()
    client_public, client_secret = zmq.curve_keypair()
    address = "tcp://127.0.0.1:0"
    names = ("device", "stop", "events", "privileged")
    server = ServerProcess(
        bind=dict.fromkeys(names, address),
        curve={
            "public_key": public.decode(),
            "secret_key": secret.decode(),
            "client_keys": [client_public.decode()],
        },
    )

    def connect(name: str, keys: tuple[bytes, bytes] | None) -> zmq.Socket:
        socket = server.context.socket(zmq.DEALER)
        socket.linger = 0
        if keys is not None:
            socket.curve_serverkey = public
            socket.curve_publickey, socket.curve_secretkey = keys
        socket.connect(server.ready[name])
        return socket

    request = pp.PrivilegedRequest(
        protocol_major=1, request_id="r", token=server.token, deadline_ms=5000, reset=pp.Reset(task="r1")
    ).SerializeToString()
    known = connect("privileged", (client_public, client_secret))
    known.rcvtimeo = 10_000
    known.send(request)
    assert pp.PrivilegedReply.FromString(known.recv()).WhichOneof("body") == "reset"
    for keys in (None, zmq.curve_keypair()):
        for name in ("privileged", "stop"):
            stranger = connect(name, keys)
            stranger.rcvtimeo = 300
            stranger.send(request)
            with pytest.raises(zmq.Again):
                stranger.recv()
    server.close()
