"""The wall clock, against a real process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skill2real_sim.core.testing.client import ServerProcess, move_to
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.wire import privileged_pb2 as pp

HOME = [0.0, -1.5, 1.5, -1.5, -1.5, 0.0]


@pytest.fixture(scope="module")
def wall() -> Iterator[ServerProcess]:
    running = ServerProcess(realtime=1.0)
    yield running
    running.close()


def _code(reply: dp.Reply) -> str:
    return dp.ErrorCode.Name(reply.error.code)


def _until(events: object, kind: str) -> dp.Event:
    while True:
        event = dp.Event.FromString(events.recv())
        if event.WhichOneof("kind") == kind:
            return event


def test_time_moves_by_itself_and_advance_is_refused(wall: ServerProcess) -> None:
    client = wall.device()
    assert client.hello(dp.CONTROLLER).hello.capabilities.clock == dp.WALL
    wall.reset()
    first = client.ask(get_state={}).time_s
    while client.ask(get_state={}).time_s <= first:
        pass
    assert _code(client.ask(advance=dp.Advance(until_s=1.0))) == "ERROR_CLOCK"
    client.ask(bye={})


def test_a_motion_plays_and_its_end_is_published(wall: ServerProcess) -> None:
    wall.reset()
    events = wall.dealer("events")
    client = wall.controller()
    epoch = client.ask(get_state={}).stop_epoch
    started = client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.2, HOME, 0.3)])).execute
    assert _until(events, "group_started").group_started.group == started.group
    ended = _until(events, "motion_ended")
    assert ended.time_s == pytest.approx(started.expected_end_time_s, abs=0.005)
    assert ended.motion_ended.motions[0].end_reason == dp.END_COMPLETED
    client.ask(bye={})


def test_a_stop_ends_a_motion_within_a_control_period(wall: ServerProcess) -> None:
    wall.reset(variant="slow_render")
    events = wall.dealer("events")
    client = wall.controller()
    epoch = client.ask(get_state={}).stop_epoch
    client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(1.0, HOME, 5.0)]))
    client.send(client.request(get_frames=dp.GetFrames(cameras=["left"])))
    client.sequence += 1
    stopped = wall.stop()
    ended = _until(events, "motion_ended")
    assert ended.motion_ended.motions[0].end_reason == dp.END_STOPPED
    assert ended.time_s == pytest.approx(stopped.time_s + 0.002, abs=1e-6)
    client.receive()
    client.ask(bye={})


def test_an_early_request_for_pictures_waits_and_others_are_served(wall: ServerProcess) -> None:
    wall.reset()
    client, other = wall.controller(), wall.device()
    other.hello(dp.OBSERVER)
    not_before_s = client.ask(get_state={}).time_s + 0.3
    request = client.request(get_frames=dp.GetFrames(cameras=["left"], not_before_s=not_before_s))
    client.send(request)
    client.sequence += 1
    client.send(request)  # a repetition while it waits
    assert other.ask(get_state={}).time_s < not_before_s
    first, _ = client.receive()
    assert first.frames.frames[0].exposure_time_s >= not_before_s
    client.send(request)
    assert client.receive()[0] == first
    late = client.ask(
        get_frames=dp.GetFrames(cameras=["left"], not_before_s=not_before_s + 100), deadline_ms=50
    )
    assert _code(late) == "ERROR_CAMERA"
    client.ask(bye={})


def test_a_waiting_request_keeps_the_lease(wall: ServerProcess) -> None:
    wall.reset()
    client = wall.controller(lease_ms=100)
    not_before_s = client.ask(get_state={}).time_s + 0.6
    reply = client.ask(get_frames=dp.GetFrames(cameras=["left"], not_before_s=not_before_s))
    assert reply.WhichOneof("body") == "frames"
    assert not client.ask(get_state={}).state.stop_latched
    client.ask(bye={})


def test_settle_waits_for_device_time(wall: ServerProcess) -> None:
    wall.reset()
    before = wall.privileged(get_state_hash={}).state_hash.time_s
    reply = wall.privileged(settle=pp.Settle(duration_s=0.2))
    assert reply.settle.time_s >= before + 0.2


def test_a_world_that_breaks_ends_the_process() -> None:
    running = ServerProcess(realtime=1.0)
    try:
        events = running.dealer("events")
        running.controller()
        running.reset(variant="broken_step")
        assert "stepping" in _until(events, "ending").ending.reason
        assert running.process.wait(10) == 1
    finally:
        assert "this world is broken on purpose" in running.close()
