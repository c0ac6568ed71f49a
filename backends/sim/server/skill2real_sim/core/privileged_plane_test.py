"""The privileged plane, against a real process."""

from __future__ import annotations

import json
import os
import pickle
import secrets
import stat
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from skill2real_sim.core.snapshot_file import FORMAT
from skill2real_sim.core.stop_latch import LatchState
from skill2real_sim.core.testing.client import DeviceClient, ServerProcess, move_to
from skill2real_sim.wire import device_pb2 as dp
from skill2real_sim.wire import privileged_pb2 as pp

HOME = [0.0, -1.5, 1.5, -1.5, -1.5, 0.0]


def _code(reply: pp.PrivilegedReply) -> str:
    return pp.PrivilegedErrorCode.Name(reply.error.code)


def _raw(server: ServerProcess, *parts: bytes) -> pp.PrivilegedReply:
    socket = server.dealer("privileged")
    socket.send_multipart(parts)
    reply = pp.PrivilegedReply.FromString(socket.recv())
    socket.close()
    return reply


def _hash(server: ServerProcess) -> str:
    return server.privileged(get_state_hash={}).state_hash.state_hash


@pytest.mark.parametrize("token", [b"", b"x", b"\x00" * 32, secrets.token_bytes(32), secrets.token_bytes(64)])
def test_without_the_token_nothing_is_told(server: ServerProcess, token: bytes) -> None:
    before = _hash(server)
    for verb in ("reset", "evaluate", "get_true_state", "snapshot", "get_resume_token", "get_state_hash"):
        reply = server.privileged(token=token, **{verb: {}})
        assert _code(reply) == "PRIVILEGED_TOKEN"
        assert reply.WhichOneof("body") is None
        assert reply.error.message == "the token is not this process's"
    assert _hash(server) == before


def test_a_refused_id_may_be_used_with_the_token(server: ServerProcess) -> None:
    assert _code(server.privileged(token=b"", request_id="mine", evaluate={})) == "PRIVILEGED_TOKEN"
    assert server.privileged(request_id="mine", evaluate={}).WhichOneof("body") == "evaluate"


def test_form_is_checked(server: ServerProcess) -> None:
    assert _code(_raw(server, b"\xff")) == "PRIVILEGED_MALFORMED"
    assert _code(_raw(server, b"", b"")) == "PRIVILEGED_MALFORMED"
    assert _code(_raw(server, b"\xff" * (2 << 20))) == "PRIVILEGED_TOO_LARGE"
    assert _code(server.privileged()) == "PRIVILEGED_MALFORMED"
    assert _code(server.privileged(protocol_major=2, evaluate={})) == "PRIVILEGED_PROTOCOL_VERSION"
    assert _code(server.privileged(request_id="", evaluate={})) == "PRIVILEGED_BAD_ARGUMENT"
    assert _code(server.privileged(deadline_ms=0, evaluate={})) == "PRIVILEGED_BAD_ARGUMENT"


def test_requests_are_done_once(server: ServerProcess) -> None:
    first = server.privileged(request_id="reset-1", reset=pp.Reset(task="r1", seed=5))
    again = server.privileged(request_id="reset-1", reset=pp.Reset(task="r1", seed=5))
    assert again == first
    other = server.privileged(request_id="reset-1", reset=pp.Reset(task="r1", seed=6))
    assert _code(other) == "PRIVILEGED_DUPLICATE_ID"
    for _ in range(256):
        server.privileged(get_state_hash={})
    old = server.privileged(request_id="reset-1", reset=pp.Reset(task="r1", seed=5))
    assert _code(old) == "PRIVILEGED_EXPIRED_ID"


def test_nothing_is_ready_before_the_first_reset() -> None:
    fresh = ServerProcess()
    try:
        for verb in ("evaluate", "get_true_state", "snapshot", "mark_evidence", "get_state_hash", "settle"):
            assert _code(fresh.privileged(**{verb: {}})) == "PRIVILEGED_NOT_READY"
    finally:
        fresh.close()


@pytest.mark.parametrize(
    "reset",
    [
        pp.Reset(),
        pp.Reset(task="other"),
        pp.Reset(task="r1", seed=2**53),
        pp.Reset(task="r1", variant="other"),
    ],
)
def test_a_reset_that_cannot_be_leaves_the_world(
    server: ServerProcess, client: DeviceClient, reset: pp.Reset
) -> None:
    client.ask(advance=dp.Advance(until_s=0.2))
    before = _hash(server)
    assert _code(server.privileged(reset=reset)) == "PRIVILEGED_BAD_ARGUMENT"
    assert _hash(server) == before


def test_a_reset_starts_anew_and_keeps_sessions(server: ServerProcess, client: DeviceClient) -> None:
    events = server.dealer("events")
    epoch = client.ask(get_state={}).stop_epoch
    first = client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)])).execute.group
    client.ask(advance=dp.Advance(until_s=0.3))
    server.stop()
    world_epoch = server.reset(seed=1).reset.world_epoch
    state = client.ask(get_state={})
    assert state.time_s == 0.0
    assert state.stop_epoch == epoch + 1
    assert not state.state.stop_latched
    assert len(state.state.groups) == 0
    second = client.ask(execute=dp.Execute(stop_epoch=epoch + 1, motions=[move_to(0.5, HOME)]))
    assert second.execute.group == first + 1
    while True:
        event = dp.Event.FromString(events.recv())
        if event.WhichOneof("kind") == "world_changed" and event.world_changed.world_epoch == world_epoch:
            break


def test_the_same_seed_and_calls_give_the_same_hash(server: ServerProcess, client: DeviceClient) -> None:
    hashes = []
    for _ in range(2):
        server.reset(seed=9)
        epoch = client.ask(get_state={}).stop_epoch
        client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)]))
        client.ask(advance=dp.Advance(until_s=0.5))
        client.ask(get_frames=dp.GetFrames(cameras=["left"]))
        hashes.append(_hash(server))
    assert hashes[0] == hashes[1]


def test_truth_and_judgement(server: ServerProcess) -> None:
    truth = server.privileged(get_true_state={}).true_state
    assert [body.name for body in truth.bodies] == ["cube"]
    assert len(truth.bodies[0].X_world_body) == 16
    assert list(truth.q_rad) == HOME
    assert list(truth.contacts) == ["cube|table"]
    judged = server.privileged(evaluate={}).evaluate
    assert not judged.success
    assert judged.failure_kind == "not_moved"
    assert judged.predicates[0].unit == "rad"


def test_a_restore_goes_back_in_the_middle_of_a_motion(server: ServerProcess, client: DeviceClient) -> None:
    epoch = client.ask(get_state={}).stop_epoch
    client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)]))
    client.ask(advance=dp.Advance(until_s=0.4))
    kept = server.privileged(snapshot={}).snapshot
    client.ask(advance=dp.Advance(until_s=1.5, through_motion_ends=True))
    after = _hash(server)
    server.stop()

    restored = server.privileged(restore=pp.Restore(id=kept.id)).restore
    assert restored.state_hash == kept.state_hash
    state = client.ask(get_state={})
    assert state.time_s == pytest.approx(0.4)
    assert state.stop_epoch == epoch + 1
    assert not state.state.stop_latched
    assert state.state.groups[-1].active
    client.ask(advance=dp.Advance(until_s=1.5, through_motion_ends=True))
    assert _hash(server) == after
    second = server.privileged(restore=pp.Restore(id=kept.id)).restore
    assert second.world_epoch == restored.world_epoch + 1


def test_a_restore_takes_the_latch_along(server: ServerProcess, client: DeviceClient) -> None:
    assert not server.privileged(snapshot={}).snapshot.stop_latched
    epoch = server.stop("then").stop_epoch
    kept = server.privileged(snapshot={}).snapshot
    assert kept.stop_latched
    server.reset()
    server.privileged(restore=pp.Restore(id=kept.id))
    state = client.ask(get_state={})
    assert state.stop_epoch == epoch
    assert state.state.stop_latched
    assert state.state.stop_reason == "then"


def test_a_snapshot_on_disk_goes_on_in_another_process(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    first, second = ServerProcess(), ServerProcess()
    try:
        first.reset()
        client = first.controller()
        first.stop("then")
        client.ask(resume=dp.Resume(stop_epoch=1))
        client.ask(execute=dp.Execute(stop_epoch=1, motions=[move_to(0.5, HOME)]))
        client.ask(advance=dp.Advance(until_s=1.5, through_motion_ends=True))
        kept = first.privileged(snapshot=pp.Snapshot(path=path)).snapshot
        missing = first.privileged(snapshot=pp.Snapshot(path=str(tmp_path / "none" / "kept")))
        assert _code(missing) == "PRIVILEGED_INTERNAL"
        client.close()

        assert _code(second.privileged(restore=pp.Restore(path=path))) == "PRIVILEGED_NOT_READY"
        second.reset(seed=4)
        assert _code(second.privileged(restore=pp.Restore(path=path))) == "PRIVILEGED_BAD_ARGUMENT"
        second.reset()
        assert second.privileged(restore=pp.Restore(path=path)).restore.state_hash == kept.state_hash
        client = second.controller()
        state = client.ask(get_state={})
        assert (state.stop_epoch, state.time_s) == (1, pytest.approx(1.5))
        onward = move_to(0.7, [0.5, *HOME[1:]])
        assert client.ask(execute=dp.Execute(stop_epoch=1, motions=[onward])).execute.group == 2
        Path(path).write_bytes(Path(path).read_bytes()[:-1])
        assert "not whole" in second.privileged(restore=pp.Restore(path=path)).error.message
        for content in (pickle.dumps(1), pickle.dumps(LatchState), b"h\x07."):
            packed = zlib.compress(content)
            Path(path).write_bytes(FORMAT + sha256(packed).hexdigest().encode() + b"\n" + packed)
            assert _code(second.privileged(restore=pp.Restore(path=path))) == "PRIVILEGED_BAD_ARGUMENT"
        os.unlink(path)
        os.mkfifo(path)
        assert _code(second.privileged(restore=pp.Restore(path=path))) == "PRIVILEGED_BAD_ARGUMENT"
        assert _hash(second) != ""
        client.close()
    finally:
        first.close()
        second.close()


def test_64_snapshots_are_kept(server: ServerProcess) -> None:
    names = [server.privileged(snapshot={}).snapshot.id for _ in range(65)]
    assert _code(server.privileged(restore=pp.Restore(id=names[0]))) == "PRIVILEGED_BAD_ARGUMENT"
    assert server.privileged(restore=pp.Restore(id=names[1])).WhichOneof("body") == "restore"


def test_settle_lets_time_pass_and_holds(server: ServerProcess, client: DeviceClient) -> None:
    assert server.privileged(settle=pp.Settle(duration_s=1.0)).settle.time_s == pytest.approx(1.0)
    epoch = client.ask(get_state={}).stop_epoch
    client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)]))
    assert server.privileged(settle=pp.Settle(duration_s=0.5)).settle.time_s == pytest.approx(1.5)
    state = client.ask(get_state={}).state
    assert state.stop_latched
    assert state.groups[-1].motions[0].end_reason == dp.END_STOPPED
    for wrong in (-1.0, 61.0, float("nan")):
        assert _code(server.privileged(settle=pp.Settle(duration_s=wrong))) == "PRIVILEGED_BAD_ARGUMENT"


def test_settle_says_where_its_deadline_came(server: ServerProcess) -> None:
    server.reset(variant="slow_step")
    reply = server.privileged(settle=pp.Settle(duration_s=50.0), deadline_ms=100)
    assert _code(reply) == "PRIVILEGED_DEADLINE"


# ---------------------------------------------------------------- evidence


def test_the_evidence_log_tells_before_during_and_after(
    server: ServerProcess, client: DeviceClient, tmp_path: Path
) -> None:
    path = tmp_path / "evidence.jsonl"
    path.touch(mode=0o644)
    assert server.privileged(set_evidence_log=pp.SetEvidenceLog(path=str(path))).WhichOneof("body")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    epoch = client.ask(get_state={}).stop_epoch
    group = client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)])).execute.group
    client.ask(advance=dp.Advance(until_s=2.0, through_motion_ends=True))
    server.privileged(mark_evidence=pp.MarkEvidence(label="judged"))
    assert server.privileged(set_evidence_log=pp.SetEvidenceLog()).WhichOneof("body") == "set_evidence_log"
    client.ask(advance=dp.Advance(until_s=2.5))

    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["moment"] for record in records] == ["start", *["during"] * 20, "end", "mark"]
    during = [record["time_s"] for record in records[1:21]]
    assert during == pytest.approx([0.05 * (k + 1) for k in range(20)])
    assert all(record["groups"] == [group] for record in records[:-1])
    assert records[-1]["label"] == "judged"
    assert records[0]["bodies"][0]["name"] == "cube"
    assert records[0]["contacts"] == ["cube|table"]
    assert records[0]["arms"][0]["q_rad"] == HOME


def test_the_evidence_log_leaves_the_world_alone(
    server: ServerProcess, client: DeviceClient, tmp_path: Path
) -> None:
    hashes = []
    for path in ("", str(tmp_path / "log")):
        server.reset(seed=2)
        server.privileged(set_evidence_log=pp.SetEvidenceLog(path=path))
        epoch = client.ask(get_state={}).stop_epoch
        client.ask(execute=dp.Execute(stop_epoch=epoch, motions=[move_to(0.5, HOME)]))
        client.ask(advance=dp.Advance(until_s=0.73))
        hashes.append(_hash(server))
    server.privileged(set_evidence_log=pp.SetEvidenceLog())
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("path", ["relative", "/nowhere/at/all", "/dev/null", "/tmp"])
def test_an_evidence_path_that_cannot_be(server: ServerProcess, path: str) -> None:
    reply = server.privileged(set_evidence_log=pp.SetEvidenceLog(path=path))
    assert _code(reply) == "PRIVILEGED_BAD_ARGUMENT"


def test_a_link_is_not_followed(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    reply = server.privileged(set_evidence_log=pp.SetEvidenceLog(path=str(tmp_path / "link")))
    assert _code(reply) == "PRIVILEGED_BAD_ARGUMENT"
    assert not (tmp_path / "target").exists()


def test_a_mark_without_a_log_is_refused(server: ServerProcess) -> None:
    assert _code(server.privileged(mark_evidence=pp.MarkEvidence(label="x"))) == "PRIVILEGED_BAD_ARGUMENT"
