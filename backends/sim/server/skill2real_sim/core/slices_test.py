from __future__ import annotations

import pytest

from skill2real_sim.core.events import EventBus
from skill2real_sim.core.slices import LONGEST_S, Slices
from skill2real_sim.core.station import Station
from skill2real_sim.core.testing.fake_world import FakeWorld
from skill2real_sim.worlds import base


class _SlicedWorld(FakeWorld):
    """Notes how far each step was asked to go, and may move in longer control periods than its ticks."""

    def __init__(self, period_s: float) -> None:
        super().__init__()
        self.control_period_s = period_s
        self.asked: list[float] = []

    def step_until(self, until_s: float, through_motion_ends: bool) -> list[base.WorldEvent]:
        self.asked.append(until_s - self.time_s)
        whole = round(until_s / self.control_period_s) * self.control_period_s
        return super().step_until(whole, through_motion_ends)


def _run(period_s: float, until_s: float, variant: str = "") -> _SlicedWorld:
    world = _SlicedWorld(period_s)
    station = Station(world, EventBus(lambda _event: None))
    station.reset("r1", 1, "", variant)
    for _step in Slices(station).run(until_s, True):
        pass
    return world


def test_slices_grow_with_a_fast_world_up_to_a_limit() -> None:
    asked = _run(0.002, 20.0).asked
    assert asked[0] == pytest.approx(0.02)
    assert max(asked) <= LONGEST_S + 0.002
    assert sum(asked) == pytest.approx(20.0)


def test_slices_of_a_slow_world_stay_short() -> None:
    assert max(_run(0.002, 0.3, "slow_step").asked) <= 0.02 + 1e-9


@pytest.mark.parametrize("until_s", [1.0, 1.01, 1.024, 0.06, 0.03])
def test_a_period_longer_than_a_slice_still_arrives(until_s: float) -> None:
    world = _run(0.05, until_s)
    assert abs(world.time_s - until_s) <= 0.025 + 1e-9


def test_a_world_that_stands_still_is_a_defect() -> None:
    class StuckWorld(FakeWorld):
        def step_until(self, until_s: float, through_motion_ends: bool) -> list[base.WorldEvent]:
            return []

    station = Station(StuckWorld(), EventBus(lambda _event: None))
    station.reset("r1", 1, "", "")
    with pytest.raises(RuntimeError, match="did not step"):
        next(Slices(station).run(1.0, True))
