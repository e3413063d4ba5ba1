"""Fast tiers: they answer as filters do, and say truly what they take."""

from __future__ import annotations

import gc
import tracemalloc
from math import inf

import pytest

from thatch import parse
from thatch.tiering import DiagramTier, SegmentTier
from thatch.tiering.problem import StoredSubscription


def made(number: int, text: str, subscriber: str | None = None, expires: float = inf) -> StoredSubscription:
    return StoredSubscription(f"s{number}", parse(text), text, subscriber, expires)


@pytest.fixture(params=[DiagramTier, SegmentTier])
def tier(request):
    return request.param()


@pytest.mark.parametrize("count", [5, 100])
def test_it_answers_as_filters_do_whatever_is_replaced_and_removed(tier, count):
    many = [made(number, f"x > {number} and y = {number % 3}") for number in range(count)]
    tier.put(many)
    tier.put([made(1, "x = 0 or y like 'a%b%'"), made(2, "y = 2", "desk", 5.0)])
    tier.remove(["s0", "never"])
    tier.compact()
    kept = {each.identity: each for each in many} | {
        "s1": made(1, "x = 0 or y like 'a%b%'"),
        "s2": made(2, "y = 2", "desk", 5.0),
    }
    del kept["s0"]
    assert len(tier) == count - 1
    for event in ({"x": 4, "y": 2}, {"x": 0}, {"x": [3, 0], "y": ["acb", 1]}, {}):
        found = tier.match(event, now=0.0)
        assert sorted(found) == sorted(name for name, each in kept.items() if each.filter.matches(event))
    assert "s2" not in tier.match({"y": 2}, now=5.0)
    assert "desk" in tier.match({"y": 2}, "subscriber", now=4.0)


@pytest.mark.slow
@pytest.mark.parametrize("values", [10, 10**9], ids=["shared", "unshared"])
def test_diagrams_take_what_they_say(values):
    texts = [
        f"kind = 'k{number % 7}' and a > {number * 7_919 % values} and b < {number * 104_729 % values}"
        for number in range(1_000)
    ]
    warm = DiagramTier()
    warm.put([made(number, text) for number, text in enumerate(texts)])
    warm.match({"kind": "k1", "a": 5, "b": 3})  # loads the kernels
    gc.collect()
    tracemalloc.start()
    tier = DiagramTier()
    for number, text in enumerate(texts):
        tier.put([made(number, text)])
    tier.match({"kind": "k1", "a": 5, "b": 3})
    del number, text
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert tier.nbytes() == pytest.approx(grown, rel=0.1)


def test_sharing_saves_memory_in_diagrams():
    shared, apart = DiagramTier(), DiagramTier()
    shared.put([made(number, f"a > {number % 9} and b < {number % 7} and c = 1") for number in range(500)])
    apart.put([made(number, f"a > {number} and b < {number} and c = {number}") for number in range(500)])
    assert shared.nbytes() < 0.6 * apart.nbytes()
    before = apart.nbytes()
    apart.remove([f"s{number}" for number in range(400)])
    apart.compact()
    assert apart.nbytes() < 0.4 * before
