from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from skill2real_sim.core.events import EventBus
from skill2real_sim.core.evidence_log import EvidenceLog
from skill2real_sim.core.station import Station
from skill2real_sim.core.testing.fake_world import HOME, FakeWorld
from skill2real_sim.worlds import base


def _station(log: EvidenceLog | None = None) -> Station:
    station = Station(FakeWorld(), EventBus(lambda _event: None))
    station.reset("r1", 1, "", "")
    station.record_to(log)
    return station


def _moments(path: Path) -> list[tuple[str, float]]:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [(record["moment"], record["time_s"]) for record in records]


def test_a_full_disk_is_remembered_and_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EvidenceLog(str(tmp_path / "log"))
    station = _station(log)

    def full(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("skill2real_sim.core.evidence_log.os.write", full)
    station.execute(0, [base.GripperMove("arm", 0.05)])
    station.step(0.3, True)
    assert log.failure is not None
    assert "No space left" in log.failure
    assert station.time_s == pytest.approx(
        0.05
    )  # the step ended where evidence was due, then went on without
    station.step(0.3, True)
    assert station.time_s == pytest.approx(0.3)


def test_a_short_write_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_write = os.write
    monkeypatch.setattr(
        "skill2real_sim.core.evidence_log.os.write", lambda fd, data: whole_write(fd, data[:100])
    )
    station = _station()
    EvidenceLog(str(tmp_path / "log")).write(station.world, "mark", label="x")
    assert json.loads((tmp_path / "log").read_text())["label"] == "x"


def test_a_log_that_begins_during_a_motion_records_the_rest(tmp_path: Path) -> None:
    station = _station()
    station.execute(0, [base.GripperMove("arm", 0.05)])
    station.step(0.402, True)
    station.record_to(EvidenceLog(str(tmp_path / "log")))
    while station.moving:
        station.step(2.0, True)
    moments = _moments(tmp_path / "log")
    assert [moment for moment, _ in moments] == ["during", "end"]
    assert moments[-1][1] == pytest.approx(0.5)


def test_nothing_is_recorded_while_nothing_moves(tmp_path: Path) -> None:
    station = _station(EvidenceLog(str(tmp_path / "log")))
    station.step(1.0, True)
    assert (tmp_path / "log").read_text() == ""
    assert station.time_s == pytest.approx(1.0)
    assert station.world.arms()[0].q_rad.tolist() == HOME.tolist()
