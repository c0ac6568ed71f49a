from __future__ import annotations

import threading

from skill2real_sim.core.world_lock import WorldLock


def test_an_urgent_caller_passes_all_ordinary_ones_that_wait() -> None:
    lock = WorldLock()
    order: list[str] = []
    urgent_waits = threading.Event()

    def ordinary() -> None:
        with lock.ordinary():
            order.append("ordinary")

    def urgent() -> None:
        urgent_waits.set()
        with lock.urgent():
            order.append("urgent")

    with lock.ordinary():
        first = threading.Thread(target=urgent)
        first.start()
        urgent_waits.wait()
        while not lock.urgent_waits:
            pass
        others = [threading.Thread(target=ordinary) for _ in range(5)]
        for other in others:
            other.start()
    for thread in (first, *others):
        thread.join()
    assert order == ["urgent"] + ["ordinary"] * 5


def test_a_busy_stepper_does_not_starve_a_stop() -> None:
    lock = WorldLock()
    steps = 0
    closing = threading.Event()

    def step_for_ever() -> None:
        nonlocal steps
        while not closing.is_set():
            with lock.ordinary():
                steps += 1

    stepper = threading.Thread(target=step_for_ever)
    stepper.start()
    try:
        for _ in range(200):
            with lock.urgent():
                inside = steps
                assert steps == inside
    finally:
        closing.set()
        stepper.join()
    assert steps > 0
