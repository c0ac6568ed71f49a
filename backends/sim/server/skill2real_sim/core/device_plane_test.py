"""The device plane's rules, against a real process."""

from __future__ import annotations

import secrets
import time

import pytest
import zmq

from skill2real_sim.core.testing.client import DeviceClient, ServerProcess, move_to
from skill2real_sim.wire import device_pb2 as dp

HOME = [0.0, -1.5, 1.5, -1.5, -1.5, 0.0]


def _code(reply: dp.Reply) -> str:
    return dp.ErrorCode.Name(reply.error.code)


def _move(
    client: DeviceClient, to: float = 0.5, start: list[float] = HOME, epoch: int | None = None
) -> dp.Reply:
    if epoch is None:
        epoch = client.ask(get_state={}).stop_epoch
    return client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(to, start)]))


# ---------------------------------------------------------------- form


@pytest.mark.parametrize(
    "junk", [b"", b"\xff", b"\x00" * 100, secrets.token_bytes(500), b"GET / HTTP/1.1\r\n\r\n"]
)
def test_bytes_that_are_no_request_are_malformed(server: ServerProcess, junk: bytes) -> None:
    reply = server.device().raw(junk)
    assert _code(reply) == "ERROR_MALFORMED"
    assert reply.request_id == ""


def test_two_parts_are_malformed(client: DeviceClient) -> None:
    request = client.request(get_state={}).SerializeToString()
    assert _code(client.raw(request, b"")) == "ERROR_MALFORMED"


def test_a_missing_body_is_malformed_and_uses_up_nothing(client: DeviceClient) -> None:
    assert _code(client.raw(client.request().SerializeToString())) == "ERROR_MALFORMED"
    assert client.ask(get_state={}).WhichOneof("body") == "state"


def test_another_major_version_is_refused(client: DeviceClient) -> None:
    reply = client.raw(client.request(get_state={}, protocol_major=2).SerializeToString())
    assert _code(reply) == "ERROR_PROTOCOL_VERSION"
    assert reply.protocol_major == 1


def test_another_minor_version_is_served(client: DeviceClient) -> None:
    reply = client.ask(get_state={}, protocol_minor=7)
    assert reply.WhichOneof("body") == "state"
    assert reply.protocol_minor == 0


@pytest.mark.parametrize("request_id", ["", "x" * 65])
def test_a_request_id_has_1_to_64_characters(client: DeviceClient, request_id: str) -> None:
    reply = client.raw(client.request(get_state={}, request_id=request_id).SerializeToString())
    assert _code(reply) == "ERROR_BAD_ARGUMENT"


@pytest.mark.parametrize("deadline_ms", [0, 600_001])
def test_a_deadline_has_its_range(client: DeviceClient, deadline_ms: int) -> None:
    assert _code(client.ask(get_state={}, deadline_ms=deadline_ms)) == "ERROR_BAD_ARGUMENT"
    assert client.ask(get_state={}).WhichOneof("body") == "state"


def test_a_large_request_is_refused_by_its_id_and_the_session_goes_on(client: DeviceClient) -> None:
    request = client.request(execute=dp.Execute(motions=[dp.Motion()] * 600_000))
    client.sequence += 1
    client.send(request)
    reply, _ = client.receive()
    assert _code(reply) == "ERROR_TOO_LARGE"
    assert reply.request_id == request.request_id
    assert client.ask(get_state={}).WhichOneof("body") == "state"


def test_large_junk_is_refused_and_huge_junk_cuts_the_connection_only(server: ServerProcess) -> None:
    assert _code(server.device().raw(b"\xff" * (2 << 20))) == "ERROR_TOO_LARGE"
    assert _code(server.device().raw(b"", b"\xff" * (2 << 20))) == "ERROR_TOO_LARGE"
    huge = server.device()
    huge.socket.rcvtimeo = 300
    huge.socket.send(b"\xff" * (17 << 20))
    with pytest.raises(zmq.Again):
        huge.socket.recv()
    assert server.device().hello(dp.OBSERVER).hello.session


# ---------------------------------------------------------------- sessions


def test_hello_tells_the_capabilities(server: ServerProcess) -> None:
    reply = server.device().hello(dp.OBSERVER)
    assert reply.hello.capabilities.backend == "sim"
    assert reply.hello.capabilities.clock == dp.SIM
    assert reply.hello.capabilities.arms[0].name == "arm"
    assert len(reply.hello.capabilities.arms[0].X_world_base) == 16


def test_a_repeated_hello_is_the_same_session(server: ServerProcess) -> None:
    client = server.device()
    request = client.request(hello=dp.Hello(role=dp.OBSERVER, client="a"))
    client.send(request)
    first, _ = client.receive()
    other = server.device()
    other.send(request)
    assert other.receive()[0] == first
    request.hello.client = "b"
    other.send(request)
    assert _code(other.receive()[0]) == "ERROR_DUPLICATE_ID"


@pytest.mark.parametrize(
    ("hello", "fields", "code"),
    [
        (dp.Hello(), {}, "ERROR_BAD_ARGUMENT"),
        (dp.Hello(role=9), {}, "ERROR_BAD_ARGUMENT"),
        (dp.Hello(role=dp.CONTROLLER, lease_ms=99), {}, "ERROR_BAD_ARGUMENT"),
        (dp.Hello(role=dp.CONTROLLER, lease_ms=60_001), {}, "ERROR_BAD_ARGUMENT"),
        (dp.Hello(role=dp.OBSERVER), {"session": "x"}, "ERROR_BAD_ARGUMENT"),
        (dp.Hello(role=dp.OBSERVER), {"sequence": 1}, "ERROR_SEQUENCE"),
        (dp.Hello(role=dp.OBSERVER), {"deadline_ms": 0}, "ERROR_BAD_ARGUMENT"),
    ],
)
def test_a_wrong_hello_is_refused(
    server: ServerProcess, hello: dp.Hello, fields: dict[str, object], code: str
) -> None:
    assert _code(server.device().ask(hello=hello, **fields)) == code


def test_there_is_one_controller(server: ServerProcess, client: DeviceClient) -> None:
    second = server.device()
    assert _code(second.hello(dp.CONTROLLER)) == "ERROR_CONTROLLER_TAKEN"
    client.ask(bye={})
    assert second.hello(dp.CONTROLLER).hello.lease_ms == 60_000
    second.ask(bye={})


def test_an_unknown_or_ended_session_is_refused(server: ServerProcess) -> None:
    stranger = server.device()
    assert _code(stranger.ask(get_state={}, session="0" * 32)) == "ERROR_UNKNOWN_SESSION"
    assert _code(stranger.ask(get_state={})) == "ERROR_UNKNOWN_SESSION"
    stranger.hello(dp.OBSERVER)
    bye = stranger.request(bye={})
    stranger.send(bye)
    first, _ = stranger.receive()
    stranger.send(bye)
    assert stranger.receive()[0] == first
    stranger.sequence += 1
    assert _code(stranger.ask(get_state={})) == "ERROR_UNKNOWN_SESSION"


def test_roles_have_their_verbs(server: ServerProcess) -> None:
    observer, stopper = server.device(), server.device()
    observer.hello(dp.OBSERVER)
    stopper.hello(dp.STOPPER)
    frames = {"get_frames": dp.GetFrames(cameras=["left"])}
    for verb in ({"execute": {}}, {"advance": {}}, {"resume": {}}, {"renew": {}}):
        assert _code(observer.ask(**verb)) == "ERROR_ROLE"
        assert _code(stopper.ask(**verb)) == "ERROR_ROLE"
    assert observer.ask(**frames).WhichOneof("body") == "frames"
    assert _code(stopper.ask(**frames)) == "ERROR_ROLE"
    assert stopper.ask(get_state={}).WhichOneof("body") == "state"
    assert stopper.ask(bye={}).WhichOneof("body") == "bye"


# ---------------------------------------------------------------- exactly once


def test_a_repeated_execute_moves_once(server: ServerProcess, client: DeviceClient) -> None:
    epoch = client.ask(get_state={}).stop_epoch
    request = client.request(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)]))
    client.send(request)
    client.sequence += 1
    first, _ = client.receive()
    assert first.WhichOneof("body") == "execute"
    client.ask(advance=dp.Advance(until_s=3.0, through_motion_ends=True))
    for _ in range(3):
        client.send(request)
        assert client.receive()[0] == first
    other = server.device()
    other.send(request)
    assert other.receive()[0] == first
    state = client.ask(get_state={}).state
    assert [group.group for group in state.groups] == [first.execute.group]
    assert not state.groups[0].active


def test_the_same_id_with_other_bytes_is_refused_and_uses_up_nothing(client: DeviceClient) -> None:
    client.ask(get_state={}, request_id="same")
    assert (
        _code(client.raw(client.request(renew={}, request_id="same").SerializeToString()))
        == "ERROR_DUPLICATE_ID"
    )
    assert client.ask(renew={}).WhichOneof("body") == "renew"


def test_a_repeated_frames_request_gets_the_same_pixels_later(client: DeviceClient) -> None:
    request = client.request(get_frames=dp.GetFrames(cameras=["right", "left"]))
    client.send(request)
    client.sequence += 1
    first = client.receive()
    client.ask(advance=dp.Advance(until_s=0.1))
    client.send(request)
    assert client.receive() == first


def test_the_sequence_rises_by_one(client: DeviceClient) -> None:
    client.ask(renew={})
    for wrong in (0, client.sequence - 1, client.sequence + 1, 2**64 - 1):
        reply = client.raw(client.request(get_state={}, sequence=wrong).SerializeToString())
        assert _code(reply) == "ERROR_SEQUENCE"
    assert client.ask(get_state={}).WhichOneof("body") == "state"


def test_an_error_uses_up_its_number_and_is_repeated(client: DeviceClient) -> None:
    request = client.request(advance=dp.Advance(until_s=-5.0))
    client.send(request)
    client.sequence += 1
    first, _ = client.receive()
    assert _code(first) == "ERROR_BAD_ARGUMENT"
    client.send(request)
    assert client.receive()[0] == first
    assert client.ask(get_state={}).WhichOneof("body") == "state"


def test_an_old_id_expires_after_256_replies(client: DeviceClient) -> None:
    first = client.request(get_state={})
    client.send(first)
    client.sequence += 1
    client.receive()
    for _ in range(255):
        client.ask(renew={})
    client.send(first)
    assert client.receive()[0].WhichOneof("body") == "state"
    client.ask(renew={})
    client.send(first)
    assert _code(client.receive()[0]) == "ERROR_EXPIRED_ID"


# ---------------------------------------------------------------- verbs


def test_nothing_is_ready_before_the_first_reset() -> None:
    fresh = ServerProcess()
    try:
        client = fresh.controller()
        for verb in (
            {"get_state": {}},
            {"get_frames": dp.GetFrames(cameras=["left"])},
            {"execute": {}},
            {"advance": {}},
        ):
            assert _code(client.ask(**verb)) == "ERROR_NOT_READY"
        assert client.ask(renew={}).WhichOneof("body") == "renew"
        assert fresh.stop().stop_epoch == 1
        assert fresh.reset().WhichOneof("body") == "reset"
        state = client.ask(get_state={})
        assert not state.state.stop_latched
        assert state.stop_epoch == 1
    finally:
        fresh.close()


def test_frames_come_in_the_order_asked_for(client: DeviceClient) -> None:
    reply, raw = client.ask_raw(get_frames=dp.GetFrames(cameras=["right", "left"]))
    assert reply.raw_parts == len(raw) == 2
    assert [frame.camera for frame in reply.frames.frames] == ["right", "left"]
    for frame, pixels in zip(reply.frames.frames, raw, strict=True):
        assert len(pixels) == frame.width * frame.height * 3
        assert pixels == raw[frame.part]
        assert len(frame.X_world_camera) == 16
        assert frame.arms_at_exposure[0].name == "arm"
    assert raw[0][:3] == b"\x04\x05\x06"
    assert raw[1][:3] == b"\x01\x02\x03"


@pytest.mark.parametrize(
    ("cameras", "not_before_s", "code"),
    [
        ([], 0.0, "ERROR_BAD_ARGUMENT"),
        (["left", "left"], 0.0, "ERROR_BAD_ARGUMENT"),
        (["other"], 0.0, "ERROR_BAD_ARGUMENT"),
        (["left"] * 17, 0.0, "ERROR_BAD_ARGUMENT"),
        (["left"], float("nan"), "ERROR_BAD_ARGUMENT"),
        (["left"], float("inf"), "ERROR_BAD_ARGUMENT"),
        (["left"], 0.5, "ERROR_CAMERA"),
    ],
)
def test_frames_that_cannot_be(
    client: DeviceClient, cameras: list[str], not_before_s: float, code: str
) -> None:
    assert _code(client.ask(get_frames=dp.GetFrames(cameras=cameras, not_before_s=not_before_s))) == code


def test_frames_follow_the_world(client: DeviceClient) -> None:
    before, _ = client.ask_raw(get_frames=dp.GetFrames(cameras=["left"]))
    client.ask(advance=dp.Advance(until_s=0.5))
    after, _ = client.ask_raw(get_frames=dp.GetFrames(cameras=["left"], not_before_s=0.5))
    assert before.frames.frames[0].exposure_time_s == 0.0
    assert after.frames.frames[0].exposure_time_s == 0.5


def test_a_motion_runs_to_its_end(server: ServerProcess, client: DeviceClient) -> None:
    started = _move(client)
    assert started.execute.expected_end_time_s == pytest.approx(1.0)
    reply = client.ask(advance=dp.Advance(until_s=5.0))
    assert reply.time_s == pytest.approx(1.0)
    assert [event.WhichOneof("kind") for event in reply.advance.events][-1] == "motion_ended"
    numbers = [event.number for event in reply.advance.events]
    assert numbers == sorted(numbers)
    motion = reply.advance.state.groups[-1].motions[0]
    assert motion.end_reason == dp.END_COMPLETED
    assert reply.advance.state.arms[0].q_rad[0] == pytest.approx(0.5)
    assert reply.advance.state.arms[0].mode == dp.IDLE


def test_progress_is_told_at_most_ten_times_a_second(client: DeviceClient) -> None:
    _move(client)
    events = client.ask(advance=dp.Advance(until_s=1.0)).advance.events
    assert 5 <= sum(event.WhichOneof("kind") == "group_progress" for event in events) <= 10


def test_advance_through_motion_ends(client: DeviceClient) -> None:
    _move(client)
    reply = client.ask(advance=dp.Advance(until_s=2.0, through_motion_ends=True))
    assert reply.time_s == pytest.approx(2.0)


@pytest.mark.parametrize("until_s", [-1.0, 61.0, float("nan"), float("inf")])
def test_advance_has_its_range(client: DeviceClient, until_s: float) -> None:
    assert _code(client.ask(advance=dp.Advance(until_s=until_s))) == "ERROR_BAD_ARGUMENT"


def test_advance_to_now_does_nothing(client: DeviceClient) -> None:
    assert client.ask(advance=dp.Advance(until_s=0.0)).time_s == 0.0


def test_advance_in_pieces_is_advance_in_one(server: ServerProcess, client: DeviceClient) -> None:
    hashes = []
    for cuts in ([0.7], [0.1, 0.102, 0.35, 0.7], [k * 0.002 for k in range(1, 351)]):
        server.reset(seed=3)
        _move(client)
        for until_s in cuts:
            client.ask(advance=dp.Advance(until_s=until_s))
        hashes.append(server.privileged(get_state_hash={}).state_hash.state_hash)
    assert len(set(hashes)) == 1


def test_execute_where_the_arm_is_not(client: DeviceClient) -> None:
    assert _code(_move(client, start=[0.1, *HOME[1:]])) == "ERROR_NOT_START"


def test_execute_out_of_range(client: DeviceClient) -> None:
    assert _code(_move(client, to=7.0)) == "ERROR_BAD_ARGUMENT"
    assert _code(client.ask(execute=dp.Execute())) in ("ERROR_BAD_ARGUMENT", "ERROR_STOP_EPOCH")


def test_execute_while_moving(client: DeviceClient) -> None:
    first = _move(client)
    assert _code(_move(client)) == "ERROR_BUSY"
    assert first.execute.group > 0


def test_a_deadline_cuts_an_advance_short(server: ServerProcess, client: DeviceClient) -> None:
    server.reset(variant="slow_step")
    reply = client.ask(advance=dp.Advance(until_s=50.0), deadline_ms=100)
    assert reply.WhichOneof("body") == "advance"
    assert 0 < reply.time_s < 5.0


def test_what_waited_too_long_is_not_done(server: ServerProcess, client: DeviceClient) -> None:
    server.reset(variant="slow_step")
    epoch = client.ask(get_state={}).stop_epoch
    client.send(client.request(advance=dp.Advance(until_s=50.0), deadline_ms=300))
    client.sequence += 1
    client.send(
        client.request(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)]), deadline_ms=1)
    )
    client.sequence += 1
    assert client.receive()[0].WhichOneof("body") == "advance"
    assert _code(client.receive()[0]) == "ERROR_DEADLINE"
    assert len(client.ask(get_state={}).state.groups) == 0


def test_a_defect_of_the_world_is_told_and_survived(server: ServerProcess, client: DeviceClient) -> None:
    server.reset(variant="broken_step")
    assert _code(client.ask(advance=dp.Advance(until_s=1.0))) == "ERROR_INTERNAL"
    server.reset()
    assert client.ask(advance=dp.Advance(until_s=1.0)).time_s == pytest.approx(1.0)


def test_bye_of_a_moving_controller_stops_the_arm(server: ServerProcess) -> None:
    leaving = server.controller()
    _move(leaving)
    leaving.ask(advance=dp.Advance(until_s=0.3))
    leaving.ask(bye={})
    watcher = server.device()
    watcher.hello(dp.OBSERVER)
    state = watcher.ask(get_state={}).state
    assert state.stop_latched
    assert state.stop_reason == "the controller left"


def test_the_lease_ignores_time_inside_own_requests(server: ServerProcess) -> None:
    client = server.controller(lease_ms=200)
    server.reset(variant="slow_step")
    client.ask(advance=dp.Advance(until_s=50.0), deadline_ms=1000)
    assert not client.ask(get_state={}).state.stop_latched
    client.ask(bye={})


def test_a_lapsed_lease_stops_and_frees_the_controller(server: ServerProcess) -> None:
    events = server.dealer("events")
    silent = server.controller(lease_ms=100)
    while True:
        event = dp.Event.FromString(events.recv())
        if event.WhichOneof("kind") == "fault":
            break
        last = event
    assert last.stopped.reason == "lease lapsed"
    assert event.fault.code == "lease_lapsed"

    client = server.controller()
    state = client.ask(get_state={})
    assert state.state.stop_latched
    assert _code(_move(client)) == "ERROR_STOP_EPOCH"
    assert client.ask(resume=dp.Resume(stop_epoch=state.stop_epoch)).WhichOneof("body") == "resume"
    assert _code(silent.ask(renew={})) == "ERROR_CONTROLLER_TAKEN"
    assert silent.ask(get_state={}).WhichOneof("body") == "state"
    client.ask(bye={})


def test_a_lapsed_controller_that_comes_back_goes_on(server: ServerProcess) -> None:
    client = server.controller(lease_ms=100)
    time.sleep(0.4)
    state = client.ask(get_state={})
    assert state.state.stop_latched
    assert client.ask(resume=dp.Resume(stop_epoch=state.stop_epoch)).WhichOneof("body") == "resume"
    assert _move(client).WhichOneof("body") == "execute"
    client.ask(bye={})
