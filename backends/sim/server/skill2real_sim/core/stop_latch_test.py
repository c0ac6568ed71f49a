from __future__ import annotations

from skill2real_sim.core.stop_latch import LatchState, StopLatch


def test_each_stop_begins_an_epoch() -> None:
    latch = StopLatch()
    assert latch.state == LatchState(0, False, "", False)
    latch.latch("one")
    assert latch.latch("two") == LatchState(2, True, "two", False)


def test_clearing_fails_where_a_newer_stop_came() -> None:
    latch = StopLatch()
    seen = latch.latch("one")
    latch.latch("two")
    assert not latch.clear(seen.epoch)
    assert latch.state.latched
    assert latch.clear(2)
    assert latch.state == LatchState(2, False, "", False)


def test_a_stop_does_not_hide_a_fault() -> None:
    latch = StopLatch()
    latch.latch("protective_stop: hit", fault=True)
    assert latch.latch("Ctrl-C") == LatchState(2, True, "protective_stop: hit", True)


def test_a_token_counts_once_and_in_its_epoch_only() -> None:
    latch = StopLatch()
    latch.latch("hit", fault=True)
    assert not latch.accepts("")
    old = latch.mint_token()
    token = latch.mint_token()
    assert not latch.accepts(old)
    assert not latch.accepts(token[:-1] + "é")
    assert latch.accepts(token)
    latch.latch("again")
    assert not latch.accepts(token)
    token = latch.mint_token()
    latch.clear(2)
    assert not latch.accepts(token)


def test_a_restored_latch_keeps_the_epoch() -> None:
    latch = StopLatch()
    latch.latch("a")
    latch.latch("b")
    assert latch.put_back(2, LatchState(0, True, "then", True))
    assert latch.state == LatchState(2, True, "then", True)
