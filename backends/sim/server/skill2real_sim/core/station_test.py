from __future__ import annotations

import threading

import pytest

from skill2real_sim.core.events import EventBus
from skill2real_sim.core.station import Station
from skill2real_sim.core.testing.fake_world import FakeWorld


class SlowToReset(FakeWorld):
    """Its second reset waits until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.resetting, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()

    def reset(self, *arguments: str) -> object:
        self.resetting.set()
        assert self.go_on.wait(10)
        return super().reset(*arguments)


def test_a_step_that_waits_while_the_world_is_replaced_is_one_step_of_the_new_one() -> None:
    world = SlowToReset()
    station = Station(world, EventBus(lambda _event: None))
    task = world.tasks()[0]
    station.reset(task, 1, "", "")
    station.step(5.0, True)
    world.go_on.clear()
    world.resetting.clear()
    resetting = threading.Thread(target=station.reset, args=(task, 2, "", ""))
    resetting.start()
    assert world.resetting.wait(10)
    stepping = threading.Thread(target=station.step_by, args=(0.002,))
    stepping.start()
    stepping.join(0.2)
    assert stepping.is_alive()  # it waits for the lock
    world.go_on.set()
    resetting.join(10)
    stepping.join(10)
    assert station.time_s == world.time_s == pytest.approx(0.002)
