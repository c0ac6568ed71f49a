"""Stops, faults and Resume, against a real process; and the order of a stop and a step, in this one."""

from __future__ import annotations

import secrets
import threading

import pytest

from skill2real_sim.core.events import EventBus
from skill2real_sim.core.station import Station
from skill2real_sim.core.testing.client import DeviceClient, ServerProcess, move_to
from skill2real_sim.core.testing.fake_world import FakeWorld
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.worlds import base

HOME = [0.0, -1.5, 1.5, -1.5, -1.5, 0.0]


def _code(reply: dp.Reply) -> str:
    return dp.ErrorCode.Name(reply.error.code)


def _execute(client: DeviceClient, epoch: int, to: float = 0.5, start: list[float] = HOME) -> dp.Reply:
    return client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(to, start)]))


def test_a_stop_latches_and_old_epochs_never_move(server: ServerProcess, client: DeviceClient) -> None:
    epoch = client.ask(get_state={}).stop_epoch
    _execute(client, epoch)
    client.ask(advance=dp.Advance(until_s=0.3))
    reply = server.stop("Ctrl-C")
    assert reply.stop_epoch == epoch + 1
    assert reply.time_s == pytest.approx(0.3)

    ended = client.ask(advance=dp.Advance(until_s=1.0)).advance
    assert ended.state.groups[-1].motions[0].end_reason == dp.END_STOPPED
    assert ended.state.stop_latched
    assert ended.state.stop_reason == "Ctrl-C"
    assert ended.state.arms[0].mode == dp.STOPPED

    at = client.ask(advance=dp.Advance(until_s=1.5)).advance.state.arms[0]
    assert max(map(abs, at.qd_rad_s)) < 1e-3
    assert _code(_execute(client, epoch, start=list(at.q_rad))) == "ERROR_STOP_EPOCH"
    assert _code(_execute(client, epoch + 1, start=list(at.q_rad))) == "ERROR_STOP_EPOCH"
    assert _code(client.ask(resume=dp.Resume(stop_epoch=epoch))) == "ERROR_STOP_EPOCH"
    assert client.ask(resume=dp.Resume(stop_epoch=epoch + 1)).WhichOneof("body") == "resume"
    assert _code(_execute(client, epoch, start=list(at.q_rad))) == "ERROR_STOP_EPOCH"
    assert _execute(client, epoch + 1, start=list(at.q_rad)).WhichOneof("body") == "execute"


def test_a_stop_ends_a_running_advance(server: ServerProcess, client: DeviceClient) -> None:
    server.reset(variant="slow_step")
    events = server.dealer("events")
    _execute(client, client.ask(get_state={}).stop_epoch)
    client.send(
        client.request(advance=dp.Advance(until_s=30.0, through_motion_ends=True), deadline_ms=60_000)
    )
    client.sequence += 1
    while dp.Event.FromString(events.recv()).WhichOneof("kind") != "group_progress":
        pass
    stopped = server.stop()
    reply, _ = client.receive()
    assert reply.time_s < 30.0
    assert reply.advance.state.stop_latched
    assert "stopped" in [event.WhichOneof("kind") for event in reply.advance.events]
    assert reply.stop_epoch == stopped.stop_epoch


@pytest.mark.parametrize("junk", [b"", b"\xff\xff", secrets.token_bytes(300), b"\x00" * (2 << 20)])
def test_whatever_arrives_is_a_stop(server: ServerProcess, client: DeviceClient, junk: bytes) -> None:
    before = client.ask(get_state={}).stop_epoch
    socket = server.dealer("stop")
    socket.send(junk)
    assert dp.StopReply.FromString(socket.recv()).stop_epoch == before + 1
    socket.close()


def test_a_stop_does_not_wait_for_a_picture() -> None:
    stopped = threading.Event()
    rendering = threading.Event()

    class PatientWorld(FakeWorld):
        def render(self, cameras: list[str], state: object | None = None) -> list[base.Frame]:
            rendering.set()
            assert stopped.wait(10), "the stop waited for the picture"
            return super().render(cameras, state)

        def stop(self, reason: str) -> None:
            super().stop(reason)
            stopped.set()

    station = Station(PatientWorld(), EventBus(lambda _event: None))
    station.reset("r1", 1, "", "")

    def stop_when_rendering() -> None:
        rendering.wait()
        station.stop("test")

    stopper = threading.Thread(target=stop_when_rendering)
    stopper.start()
    (frame,) = station.frames(["left"])
    stopper.join()
    assert frame.arms[0].mode == "IDLE"  # as it was at the exposure
    assert station.state().arms[0].mode == dp.STOPPED


def test_a_stop_while_the_world_is_replaced_stays(server: ServerProcess, client: DeviceClient) -> None:
    resetting = threading.Thread(target=server.reset, kwargs={"variant": "slow_reset"})
    resetting.start()
    socket = server.dealer("stop")
    epochs = []
    while resetting.is_alive():
        socket.send(b"")
        epochs.append(dp.StopReply.FromString(socket.recv()).stop_epoch)
    resetting.join()
    socket.close()
    assert len(epochs) > 1
    assert client.ask(get_state={}).state.stop_latched


def test_a_protective_stop_needs_a_person(server: ServerProcess, client: DeviceClient) -> None:
    epoch = client.ask(get_state={}).stop_epoch
    _execute(client, epoch, to=3.0)
    reply = client.ask(advance=dp.Advance(until_s=5.0, through_motion_ends=True))
    kinds = [event.WhichOneof("kind") for event in reply.advance.events]
    assert kinds[-3:] == ["motion_ended", "fault", "stopped"]
    assert reply.advance.events[-2].fault.code == "protective_stop"
    assert reply.stop_epoch == epoch + 1
    state = reply.advance.state
    assert state.arms[0].mode == dp.PROTECTIVE_STOP
    assert state.groups[-1].motions[0].end_reason == dp.END_PROTECTIVE_STOP
    assert state.stop_latched
    q = list(state.arms[0].q_rad)

    assert _code(_execute(client, epoch + 1, start=q)) == "ERROR_FAULT"
    for token in ("", "0" * 64, "é"):
        assert _code(client.ask(resume=dp.Resume(stop_epoch=epoch + 1, token=token))) == "ERROR_RESUME_TOKEN"
    stale = server.privileged(get_resume_token={}).resume_token.token
    server.stop()
    assert _code(client.ask(resume=dp.Resume(stop_epoch=epoch + 2, token=stale))) == "ERROR_RESUME_TOKEN"
    token = server.privileged(get_resume_token={}).resume_token.token
    assert client.ask(resume=dp.Resume(stop_epoch=epoch + 2, token=token)).WhichOneof("body") == "resume"
    q = list(client.ask(get_state={}).state.arms[0].q_rad)
    assert _execute(client, epoch + 2, to=0.0, start=q).WhichOneof("body") == "execute"

    server.stop()
    again = client.ask(resume=dp.Resume(stop_epoch=epoch + 3, token=token))
    assert again.WhichOneof("body") == "resume"  # an ordinary stop asks for none


def test_a_resume_without_a_stop_does_nothing(client: DeviceClient) -> None:
    epoch = client.ask(get_state={}).stop_epoch
    assert client.ask(resume=dp.Resume(stop_epoch=epoch)).WhichOneof("body") == "resume"
    assert _code(client.ask(resume=dp.Resume(stop_epoch=epoch + 1))) == "ERROR_STOP_EPOCH"


def test_a_stop_waits_for_at_most_the_step_in_progress() -> None:
    class CountingWorld(FakeWorld):
        steps = 0
        steps_at_stop: list[int]

        def step_until(self, until_s: float, through_motion_ends: bool) -> list[base.WorldEvent]:
            self.steps += 1
            return super().step_until(until_s, through_motion_ends)

        def stop(self, reason: str) -> None:
            self.steps_at_stop.append(self.steps)
            super().stop(reason)

    world = CountingWorld()
    world.steps_at_stop = []
    station = Station(world, EventBus(lambda _event: None))
    station.reset("r1", 1, "", "slow_step")
    closing = threading.Event()

    def keep_stepping() -> None:
        while not closing.is_set():
            station.step(station.time_s + world.control_period_s, True)

    stepper = threading.Thread(target=keep_stepping)
    stepper.start()
    try:
        for _ in range(50):
            before = world.steps
            station.stop("test")
            # One more may begin between the reading of the count and the request.
            assert world.steps_at_stop[-1] <= before + 2
    finally:
        closing.set()
        stepper.join()
