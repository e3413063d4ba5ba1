"""Splitting and summaries, without Spark: an event reaches the shard of every subscription that wants it."""

from __future__ import annotations

import pickle
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from tests.model.test_hulls import filters_of
from thatch import Engine, Schema, parse
from thatch.model.conjunctions import Conjunction
from thatch.model.types import Integer
from thatch.pipeline.transforms.partitioned.routing import choose_replicas
from thatch.pipeline.transforms.partitioned.shards import SHARD, build_router
from thatch.pipeline.transforms.partitioned.splitting import (
    Branch,
    Leaf,
    Splitting,
    Summary,
    filter_of,
    grow_splitting,
)


def shards_of(filters, splitting):
    """The filters of each shard."""
    held = {}
    for number, each in enumerate(filters):
        held.setdefault(splitting.shard(each.conjunctions[0], str(number)), []).append(each)
    return held


def summaries_of(held, splitting, schema, most):
    made = {}
    for shard, filters in held.items():
        summary = Summary(shard, splitting, schema, most)
        for each in filters:
            summary.add(each)
        made[shard] = summary.boxes()
    return made


def router(summaries, schema=None):
    return build_router(pa.table({SHARD: list(summaries), "summary": list(summaries.values())}), schema)


def wanting(held, event):
    """The slow definition: the shards that hold a filter which the event matches."""
    return {shard for shard, filters in held.items() if any(each.matches(event) for each in filters)}


@pytest.mark.slow
@given(
    st.lists(make.expressions, min_size=1, max_size=24),
    make.schemas,
    st.integers(1, 8),
    st.integers(1, 4),
    st.lists(make.events, min_size=1, max_size=4),
)
def test_an_event_is_sent_to_every_shard_that_wants_it(expressions, schema, shards, most, events):
    filters = filters_of(expressions, schema)
    assume(filters)
    splitting = grow_splitting([each.conjunctions[0] for each in filters], shards, 2)
    held = shards_of(filters, splitting)
    summaries = summaries_of(held, splitting, schema, most)
    engine = router(summaries, schema)
    for event in events:
        try:
            wanted = wanting(held, event)
        except ValueError:
            continue
        reached = {int(each) for each in engine.match(event)}
        assert wanted <= reached
        assert reached == {
            shard for shard, boxes in summaries.items() if filter_of(boxes, schema).matches(event)
        }


def symbols(count, per=4):
    return [
        parse(f"symbol = 'S{number % count:04}' and price < {number // count * 7 + 1}")
        for number in range(count * per)
    ]


def test_an_event_with_one_symbol_visits_one_shard():
    filters = symbols(400)
    splitting = grow_splitting([each.conjunctions[0] for each in filters], 16, 4)
    held = shards_of(filters, splitting)
    engine = router(summaries_of(held, splitting, None, 512))
    visits = [engine.match({"symbol": f"S{number:04}", "price": 0}) for number in range(400)]
    assert [len(each) for each in visits] == [1] * 400
    assert engine.match({"symbol": "S9999", "price": 0}) == engine.match({"price": 0}) == []


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("x < 5", "below"),
        ("x < 4", "below"),
        ("x >= 5", "above"),
        ("x = 5", "above"),
        ("x <= 5", "across"),
        ("x between 4 and 6", "across"),
        ("y = 5", "across"),
    ],
)
def test_only_what_lies_on_one_side_of_a_cut_goes_to_that_side(text, side):
    (((_, below),),) = [each.constraints for each in parse("x < 5").conjunctions]
    leaves = {name: Leaf(number, 1) for number, name in enumerate(("below", "above", "across"))}
    splitting = Splitting(Branch("x", below[-1], **leaves), 3)
    assert splitting.leaf(parse(text).conjunctions[0]) is leaves[side]


def test_shards_are_about_as_large_as_each_other():
    filters = symbols(400)
    splitting = grow_splitting([each.conjunctions[0] for each in filters], 16, 4)
    sizes = [len(each) for each in shards_of(filters, splitting).values()]
    assert 14 <= splitting.shards <= 20
    assert max(sizes) < 1.5 * len(filters) / 16


def test_ranges_are_split_too():
    filters = [parse(f"x between {number} and {number + 3}") for number in range(0, 1_000, 2)]
    splitting = grow_splitting([each.conjunctions[0] for each in filters], 8, 2)
    engine = router(summaries_of(shards_of(filters, splitting), splitting, None, 64))
    visits = [len(engine.match({"x": number})) for number in range(1_000)]
    assert sum(visits) / len(visits) < 2.5
    assert engine.match({"x": "text"}) == []


def test_what_nothing_divides_is_spread_by_its_ids():
    filters = [parse("a = 1")] * 900
    splitting = grow_splitting([each.conjunctions[0] for each in filters], 6, 4)
    sizes = [len(each) for each in shards_of(filters, splitting).values()]
    assert len(sizes) == splitting.shards == 6
    assert min(sizes) > 100


def test_other_conjunctions_of_a_filter_get_boxes_of_their_own():
    filters = [parse(f"a = {number} or b = {number}") for number in range(200)]
    splitting = grow_splitting([each.conjunctions[0] for each in filters], 8, 2)
    held = shards_of(filters, splitting)
    engine = router(summaries_of(held, splitting, None, 64))
    for number in range(200):
        wanted = {str(shard) for shard in wanting(held, {"b": number})}
        assert wanted <= set(engine.match({"b": number}))
    assert engine.match({"a": 1_000}) == []


def test_long_unions_are_coarsened_until_an_index_decides_them_itself():
    filters = [
        parse(f"a = 'a long text number {number:05}' and b != {number}") for number in range(0, 900, 3)
    ]
    leaf = grow_splitting([], 1, 1)
    summary = Summary(0, leaf, None, 10_000)
    for each in filters:
        summary.add(each)
    engine = router({0: summary.boxes()})
    before = engine.stats()
    engine.count_batch(pa.table({"a": ["a long text number 00003"] * 100, "b": [1] * 100}))
    assert engine.stats().get("verified", 0) == before.get("verified", 0)
    assert engine.match({"a": "a long text number 00003", "b": 1}) == ["0"]


def test_no_sample_is_one_leaf():
    splitting = grow_splitting([], 4, 4)
    assert splitting.tree == Leaf(0, 0)
    assert splitting.shard(Conjunction(()), "any") == 0


def test_the_tree_travels_as_a_value():
    filters = symbols(100)
    splitting = grow_splitting([each.conjunctions[0] for each in filters], 8, 4)
    assert isinstance(splitting.tree, Branch)
    assert pickle.loads(pickle.dumps(splitting)) == splitting


def test_declared_lines_are_split_and_summed_up():
    schema = Schema({"n": Integer(0, 1_000)})
    filters = [parse(f"n > {number} and n < {number + 4}", schema) for number in range(0, 900, 3)]
    splitting = grow_splitting([each.conjunctions[0] for each in filters], 8, 2)
    held = shards_of(filters, splitting)
    engine = router(summaries_of(held, splitting, schema, 16), schema)
    for number in range(0, 1_000, 7):
        assert {str(each) for each in wanting(held, {"n": number})} <= set(engine.match({"n": number}))


def test_hot_shards_get_several_replicas():
    replicas = choose_replicas(np.array([0.0, 1_000.0, 4_000_000.0, 100_000.0]), 4)
    assert replicas.count.tolist() == [1, 1, 8, 1]
    assert replicas.first.tolist() == [0, 1, 2, 10]
    assert list(islice(replicas.pairs(), 4)) == [(0, 0), (1, 1), (2, 2), (2, 3)]
    assert replicas.total == len(replicas.pairs()) == 11


def test_replicas_are_never_too_many():
    assert choose_replicas(np.full(100, 1e12), 64).total <= 20_100


def test_an_engine_of_few_summaries_uses_kernels():
    assert router({0: ["a = 1"]}).match({"a": 1}) == ["0"]
    assert isinstance(router({}), Engine)
    assert router({}).match({"a": 1, "padding": 1}) == []
