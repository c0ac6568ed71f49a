from __future__ import annotations

import random

from skill2real_sim.core.reply_cache import Known, ReplyBudget, ReplyCache


def _kept(cache: ReplyCache, request_id: str, size: int = 10) -> None:
    cache.begin(request_id, request_id.encode())
    cache.finish(request_id, [b"x" * size])


def test_same_bytes_get_the_first_reply_and_other_bytes_none() -> None:
    cache = ReplyCache(ReplyBudget(1000))
    parts = [b"reply", memoryview(b"pixels")]
    cache.begin("a", b"1")
    assert cache.look_up("a", b"1") == (Known.SAME, None)
    cache.finish("a", parts)
    assert cache.look_up("a", b"1")[1] is parts
    assert cache.look_up("a", b"2") == (Known.OTHER_BYTES, None)
    assert cache.look_up("b", b"1") == (Known.NEW, None)


def test_an_old_id_is_known_to_be_expired() -> None:
    cache = ReplyCache(ReplyBudget(10**6), keep=256)
    for number in range(300):
        _kept(cache, str(number))
    assert cache.look_up("43", b"43")[0] is Known.EXPIRED
    assert cache.look_up("44", b"44")[0] is Known.SAME


def test_the_budget_drops_the_oldest_of_all_caches() -> None:
    budget = ReplyBudget(100)
    first, second = ReplyCache(budget), ReplyCache(budget)
    _kept(first, "a", 60)
    _kept(second, "b", 30)
    _kept(second, "c", 30)
    assert first.look_up("a", b"a")[0] is Known.EXPIRED
    assert second.look_up("b", b"b")[0] is Known.SAME
    assert budget.used == 60
    _kept(first, "huge", 500)
    assert first.look_up("huge", b"huge")[0] is Known.SAME


def test_the_budget_counts_right_whatever_happens() -> None:
    draw = random.Random(1)
    budget = ReplyBudget(2000)
    caches = [ReplyCache(budget, keep=draw.randint(1, 30)) for _ in range(4)]
    for number in range(3000):
        cache = draw.choice(caches)
        _kept(cache, f"{number}", draw.randint(0, 150))
        if draw.random() < 0.01:
            draw.choice(caches).close()
        assert 0 <= budget.used <= 2000
    for cache in caches:
        cache.close()
    assert budget.used == 0
