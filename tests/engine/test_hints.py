"""An engine that knows a profile answers as one that does not, and looks at less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests import strategies as make
from tests.examples import examples
from thatch.engine.hints import hints_of
from thatch.matching.growing import FEW
from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.building.shares import Shares
from thatch.matching.segments.draft import ColumnBuilder
from thatch.model.events import read_event
from thatch.model.profile import Profile


def skewed(count: int, seed: int = 3) -> tuple[pa.Table, pa.Table]:
    """Subscriptions that ask for a thousand regions, and events of which nearly all are from one of them.

    The sides alone say that this region is rarer than a device, and file a twentieth of all boxes where every event
    comes by.
    """
    rng = np.random.default_rng(seed)
    region = np.where(rng.random(count) < 0.05, 7, rng.integers(0, 1_000, count))
    device, other = rng.integers(0, 20, count), rng.integers(0, 30, count)
    texts = [
        f"region = 'r{where}' and device = 'd{which}' and load{what} > {60 + number % 100}"
        for number, (where, which, what) in enumerate(zip(region, device, other, strict=True))
    ]
    subscriptions = pa.table({"subscription": [str(each) for each in range(count)], "filter": texts})
    size = 2_000
    is_rare = rng.random(size) < 0.02
    events = pa.table(
        {
            "region": [f"r{each}" for each in np.where(is_rare, rng.integers(0, 1_000, size), 7)],
            "device": [f"d{each}" for each in rng.integers(0, 20, size)],
            **{f"load{each}": rng.exponential(20, size) for each in range(30)},
        }
    )
    return subscriptions, events


def engine_of(subscriptions: pa.Table, profile: Profile | None) -> thatch.Engine:
    engine = thatch.Engine(background=False, profile=profile)
    assert not engine.subscribe_many(subscriptions).num_rows
    engine.compact()
    return engine


@pytest.mark.slow
@pytest.mark.parametrize("count", [10_000, 40_000])
def test_fewer_blocks_are_read_and_answers_are_the_same(count):
    subscriptions, events = skewed(count)
    rows = events.to_pylist()
    profile = Profile.of(rows[:500])
    told, untold = engine_of(subscriptions, profile), engine_of(subscriptions, None)
    for row in rows[:300]:
        assert told.match(row) == untold.match(row)
    with_profile, without = (each.stats()["blocks"] for each in (told, untold))
    assert with_profile < without / 2
    assert told.match_batch(events, ordered=True).equals(untold.match_batch(events, ordered=True))


def is_event(value: dict[str, Any]) -> bool:
    try:
        read_event(value)
    except thatch.EventError:
        return False
    return True


@pytest.mark.slow
@examples(25)
@given(st.data())
def test_any_filters_on_any_events_are_answered_the_same(data):
    texts = []
    for expression in data.draw(st.lists(make.expressions, min_size=5, max_size=15)):
        try:
            texts.append(str(thatch.Filter.of(expression)))
        except thatch.FilterError:
            continue
    events = [each for each in data.draw(st.lists(make.events, min_size=1, max_size=8)) if is_event(each)]
    engines = [thatch.Engine(background=False, profile=each) for each in (None, Profile.of(events))]
    filler = [f"x = {number} and y < {number}" for number in range(FEW)]
    for engine in engines:
        for number, text in enumerate([*texts, *filler]):
            engine.subscribe(str(number), text)
        engine.compact()
    for event in events:
        assert engines[0].match(event) == engines[1].match(event)


def test_the_shares_of_cells_are_those_of_the_events():
    events = [{"x": each} for each in (1, 1, 2, 3, "a", "b", None, True)] + [{}] * 2
    hints = hints_of(Profile.of(events))
    draft, numbers = ColumnBuilder(), dict[str, int]()
    for place, text in enumerate(
        ["x = 1", "x >= 2", "x < 'b'", "x is null", "exists(x)", "lower(x) = 'a'", "y = 1"]
    ):
        draft.add(place, thatch.parse(text), numbers, None)
    ranked = Ranked.of(draft.sides())
    keys = list(numbers)
    shares = Shares.of(ranked.tables, lambda number: hints.spread(keys[number]))
    found = shares.between(ranked.attribute, ranked.low, ranked.high)
    boxes = np.repeat(np.arange(len(ranked.offsets) - 1), np.diff(ranked.offsets))
    by_owner = dict(zip(ranked.owner[boxes].tolist(), found.tolist(), strict=True))
    assert by_owner == pytest.approx({0: 0.2, 1: 0.2, 2: 0.1, 3: 0.1, 4: 0.8, 5: 0.1, 6: 0.0})
    for local, number in enumerate(ranked.tables.attributes):
        assert shares.is_known[local] == (keys[number] != "y")
        assert shares.below(local)[-1] == pytest.approx(1.0 if keys[number] != "y" else 0.0)


def test_an_engine_with_a_profile_keeps_it_while_it_changes():
    profile = Profile.of([{"x": each, "y": 7} for each in range(100)])
    engine = thatch.Engine(background=False, profile=profile)
    for number in range(3 * FEW):
        engine.subscribe(str(number), f"x = {number} and y = 7")
    engine.compact()
    for number in range(0, 3 * FEW, 2):
        engine.unsubscribe(str(number))
    engine.compact()
    assert engine.match({"x": 5, "y": 7}) == ["5"]
    assert engine.match({"x": 4, "y": 7}) == []
