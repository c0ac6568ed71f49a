from __future__ import annotations

import pytest

from .camera_channel import MIN_PERIOD_S, PATIENCE_S, Answer, CameraChannel, FrameRequest
from .exposures import Exposure

LATENCY_S = 0.05


class Bench:
    """A channel with a clock of its own and a plant whose newest state is as old as the test says."""

    def __init__(self) -> None:
        self.channel = CameraChannel("wrist", "1234")
        self.now_s = 100.0
        self.exposed: list[float] = []
        self.stands_still = False

    def expose(self, not_before_s: float, infrared: bool) -> Exposure | None:
        if self.stands_still or self.now_s < not_before_s:
            return None
        self.exposed.append(self.now_s)
        header = {"frame_number": len(self.exposed)}
        return Exposure(header, [], self.now_s, self.now_s + LATENCY_S, infrared)

    def ask(self, not_before_s: float = 0.0, infrared: bool = False) -> None:
        self.channel.ask(FrameRequest([b"x"], not_before_s, infrared, self.now_s))

    def run(self, until_s: float) -> list[tuple[float, Answer]]:
        """Jumps from one due time to the next; answers with the time that they came at."""
        answers: list[tuple[float, Answer]] = []
        for _ in range(10_000):
            answers += [(self.now_s, answer) for answer in self.channel.advance(self.now_s, self.expose)]
            due = self.channel.next_due_s(self.now_s)
            if due is None or due > until_s:
                return answers
            self.now_s = max(due, self.now_s + 1e-4)
        raise AssertionError("it never comes to rest")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_an_exposure_is_handed_over_after_its_latency(bench: Bench) -> None:
    bench.ask(100.0)
    [(at_s, answer)] = bench.run(110.0)
    assert answer.exposure is not None and answer.exposure.exposure_time_s == pytest.approx(100.0)
    assert at_s == pytest.approx(100.0 + LATENCY_S, abs=2e-4)


def test_nothing_older_than_not_before_is_given(bench: Bench) -> None:
    bench.ask(100.0)
    bench.run(110.0)
    bench.ask(bench.now_s)
    asked_s = bench.now_s
    [(_, answer)] = bench.run(120.0)
    assert answer.exposure is not None and answer.exposure.exposure_time_s >= asked_s
    assert bench.exposed[1] - bench.exposed[0] == pytest.approx(MIN_PERIOD_S, abs=1e-3)


def test_five_pictures_a_second_at_most_however_many_ask(bench: Bench) -> None:
    for _ in range(200):
        bench.ask(bench.now_s)
        bench.run(bench.now_s + 0.0049)
        bench.now_s += 0.005
    gaps = [b - a for a, b in zip(bench.exposed, bench.exposed[1:], strict=False)]
    assert len(bench.exposed) >= 4 and min(gaps) >= MIN_PERIOD_S - 1e-6


def test_a_young_picture_is_given_again_and_an_old_one_is_not(bench: Bench) -> None:
    bench.ask()
    bench.run(110.0)
    bench.now_s = bench.exposed[0] + 0.15
    bench.ask()
    assert len(bench.run(110.0)) == 1 and len(bench.exposed) == 1
    bench.now_s = bench.exposed[0] + 5.0
    bench.ask()
    assert len(bench.run(120.0)) == 1 and len(bench.exposed) == 2


def test_a_time_ahead_is_waited_for_and_one_far_ahead_refused(bench: Bench) -> None:
    bench.ask(101.0)
    [(_, answer)] = bench.run(110.0)
    assert answer.exposure is not None and 101.0 <= answer.exposure.exposure_time_s < 101.01
    bench.ask(bench.now_s + 3.0)
    [(_, refused)] = bench.run(120.0)
    assert refused.exposure is None and "ahead" in refused.error


def test_a_plant_that_stands_still_gives_no_picture(bench: Bench) -> None:
    bench.stands_still = True
    bench.ask(100.0)
    [(at_s, answer)] = bench.run(200.0)
    assert answer.exposure is None and "stands still" in answer.error
    assert at_s == pytest.approx(100.0 + PATIENCE_S, abs=0.01)


def test_an_infrared_pair_needs_an_exposure_with_one(bench: Bench) -> None:
    bench.ask()
    bench.run(110.0)
    bench.ask(infrared=True)
    [(_, answer)] = bench.run(110.0)
    assert answer.exposure is not None and answer.exposure.with_infrared and len(bench.exposed) == 2


def test_faults(bench: Bench) -> None:
    channel = bench.channel
    bench.ask(100.0)
    bench.run(110.0)
    channel.stuck = True
    bench.now_s += 30
    bench.ask(bench.now_s)
    [(_, stuck)] = bench.run(bench.now_s + 10)
    assert stuck.exposure is not None and stuck.exposure.header["frame_number"] == 1
    channel.clear()
    channel.unplugged = True
    bench.ask()
    [(_, gone)] = bench.run(bench.now_s + 10)
    assert gone.exposure is None and "not connected" in gone.error
    channel.clear()
    channel.delay_s = 0.3
    bench.ask(bench.now_s)
    asked_s = bench.now_s
    [(late_s, _)] = bench.run(bench.now_s + 10)
    assert late_s - asked_s >= 0.3 + LATENCY_S
    channel.clear()
    channel.drop_share = 1.0
    bench.ask()
    assert bench.run(bench.now_s + 20) == []
    channel.clear()
    channel.frozen_until_s = bench.now_s + 2.0
    bench.ask(bench.now_s)
    frozen_s = bench.now_s
    [(thawed_s, _)] = bench.run(bench.now_s + 10)
    assert thawed_s - frozen_s >= 2.0
    assert channel.shown_serial == "1234"
    channel.other_serial = True
    assert channel.shown_serial != "1234"
