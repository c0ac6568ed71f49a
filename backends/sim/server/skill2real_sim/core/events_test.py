from __future__ import annotations

import threading

from skill2real_sim.core.events import EventBus
from skill2real_sim.wire import device_pb2 as dp


def test_numbers_rise_by_one_from_any_thread_and_leave_in_order() -> None:
    sent: list[bytes] = []
    bus = EventBus(sent.append)

    def publish() -> None:
        for _ in range(100):
            bus.publish(1.0, "ending", dp.Ending(reason="r"))

    threads = [threading.Thread(target=publish) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [dp.Event.FromString(part).number for part in sent] == list(range(1, 401))


def test_after_gives_the_later_ones_oldest_first() -> None:
    bus = EventBus(lambda _part: None)
    for number in range(5):
        bus.publish(float(number), "resumed", dp.Resumed(stop_epoch=number))
    assert [event.number for event in bus.after(3)] == [4, 5]
    assert bus.after(5) == []


def test_an_empty_body_is_still_a_kind() -> None:
    sent: list[bytes] = []
    EventBus(sent.append).publish(0.0, "world_changed", dp.WorldChanged())
    assert dp.Event.FromString(sent[0]).WhichOneof("kind") == "world_changed"
