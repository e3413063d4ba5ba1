"""What planning tells indexes: they answer the same, and know more."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests import strategies as make
from tests.examples import examples
from thatch.errors import ParameterError
from thatch.experiments.commonality.matchers import _nodes_tested
from thatch.matching.diagrams import DiagramIndex
from thatch.matching.necessary import NecessaryIndex
from thatch.matching.segments import SegmentIndex
from thatch.model.events import Record, read_event
from thatch.model.lines import RANK_NUMBER, point
from thatch.model.profile import Profile
from thatch.planning import FilterSet, access_hints, attribute_order, plan

TEXTS = [f"kind = '{'abc'[n % 3]}' and price > {n} and n = {n % 5}" for n in range(60)] + ["flag = true"]
FILTERS = {str(number): thatch.parse(text) for number, text in enumerate(TEXTS)}
EVENTS = [
    {"kind": "abc"[n % 3], "price": n * 7 % 80, "n": n % 6, **({"flag": True} if n % 4 == 0 else {})}
    for n in range(40)
]


def matches(index):
    for place, filter in enumerate(FILTERS.values()):
        index.add(place, filter)
    return [index.match(read_event(event)) for event in EVENTS]


def told(profile=None):
    hints = access_hints(FILTERS, profile)
    return [NecessaryIndex(hints), SegmentIndex(capacity=16, hints=hints), DiagramIndex(hints=hints)]


def test_indexes_that_are_told_something_answer_the_same():
    plain = matches(SegmentIndex(capacity=16))
    assert any(plain)
    for index in (*told(), *told(Profile.of(EVENTS))):
        assert matches(index) == plain


def is_event(event):
    try:
        read_event(event)
    except thatch.EventError:
        return False
    return True


@examples(15)
@given(st.lists(make.expressions, min_size=1, max_size=8), st.lists(make.events, min_size=1, max_size=6))
def test_any_filters_are_answered_the_same_with_hints(expressions, given_events):
    filters = {}
    for number, expression in enumerate(expressions):
        try:
            filters[str(number)] = thatch.Filter.of(expression)
        except thatch.FilterError:
            continue
    events = [event for event in given_events if is_event(event)]
    if not filters or not events:
        return
    for hints in (access_hints(filters), access_hints(filters, Profile.of(events))):
        indexes = [NecessaryIndex(hints), SegmentIndex(hints=hints), DiagramIndex(hints=hints)]
        for index in indexes:
            for number, each in filters.items():
                index.add(int(number), each)
        for event in events:
            wanted = [int(number) for number, each in filters.items() if each.matches(event)]
            assert [index.match(read_event(event)) for index in indexes] == [wanted] * len(indexes)


class CountingRecord(Record):
    """An event that counts how often a value of it is looked at."""

    looks = 0

    def point(self, key):
        CountingRecord.looks += 1
        return super().point(key)


def test_a_small_index_looks_at_fewer_filters_and_finds_sooner_that_they_do_not_match():
    filters = {
        str(n): thatch.parse(f"a = 1 and b < 900 and code = {n % 40} and y > {n % 7}") for n in range(200)
    }
    events = [{"a": 1, "b": n % 11, "code": n % 50, "y": n % 3} for n in range(300)]
    found = []
    for hints in (None, access_hints(filters, Profile.of(events))):
        index = NecessaryIndex(hints)
        for place, filter in enumerate(filters.values()):
            index.add(place, filter)
        CountingRecord.looks = 0
        answers = [index.match(CountingRecord(read_event(event).points)) for event in events]
        found.append((answers, index.stats()["candidates"], CountingRecord.looks))
    plain, hinted = found
    assert plain[0] == hinted[0]
    assert hinted[1] < plain[1] / 30
    assert hinted[2] / hinted[1] < plain[2] / plain[1]


def test_a_segment_tests_what_tells_most_first():
    """A block has room for the key and three more sides of a box: others are left for a closer look."""
    few = [f"f{n} < 990" for n in range(6)]
    texts = [f"x < {n % 7} and {' and '.join(few)} and z > {9 + n % 90}" for n in range(300)]
    filters = {str(number): thatch.parse(text) for number, text in enumerate(texts)}
    rng = np.random.default_rng(1)
    events = [
        {
            "x": int(rng.integers(9)),
            "z": int(rng.integers(9, 14)),
            **{f"f{n}": int(rng.integers(900)) for n in range(6)},
        }
        for _ in range(200)
    ]
    found = []
    for hints in (None, access_hints(filters, Profile.of(events))):
        index = SegmentIndex(hints=hints)
        index.extend(dict(enumerate(filters.values())))
        answers = [index.match(read_event(event)) for event in events]
        found.append((answers, index.stats()["candidates"]))
    plain, hinted = found
    assert plain[0] == hinted[0]
    assert hinted[1] < plain[1] / 2


def test_diagrams_ask_less_where_what_a_plan_tests_first_stands_lowest():
    filters = {str(n): thatch.parse(f"a = 1 and b > {n % 3} and code = {n % 40}") for n in range(200)}
    records = [read_event({"a": 1, "b": n % 11, "code": n % 50}) for n in range(300)]
    profile = Profile.of([{"a": 1, "b": n % 11, "code": n % 50} for n in range(300)])
    tested = []
    for hints in (None, access_hints(filters, profile)):
        index = DiagramIndex(hints=hints)
        for place, filter in enumerate(filters.values()):
            index.add(place, filter)
        tested.append(_nodes_tested(index, records))
    assert tested[1] < tested[0] / 2


def test_hints_are_a_value_that_an_engine_takes_in_place_of_a_profile():
    profile = Profile.of(EVENTS)
    hints = pickle.loads(pickle.dumps(access_hints(FILTERS, profile)))
    engines = [
        thatch.Engine(background=False, **each) for each in ({}, {"profile": profile}, {"hints": hints})
    ]
    for engine in engines:
        for name, filter in FILTERS.items():
            engine.subscribe(name, filter)
    assert len({str([engine.match(event) for event in EVENTS]) for engine in engines}) == 1
    with pytest.raises(ParameterError, match="a profile or hints, not both"):
        thatch.Engine(profile=profile, hints=hints)
    with pytest.raises(ParameterError, match=r"hints of thatch\.planning\.access_hints, got 5"):
        thatch.Engine(hints=5)
    with pytest.raises(ParameterError, match="a profile, got 'log'"):
        thatch.Engine(profile="log")
    with pytest.raises(ParameterError, match="at least one filter"):
        access_hints({}, profile)


def test_domains_are_told_as_shares():
    hints = access_hints(FILTERS)
    price, kind, n, flag = (hints.spread(key) for key in ("price", "kind", "n", "flag"))
    assert hints.spread("other") is None
    prices = sorted(place[1] for place in price.shares if place[0] == RANK_NUMBER)
    assert prices[0] > -1.1
    assert prices[-1] < 60.1
    assert np.diff(prices) == pytest.approx(np.diff(prices)[0])
    assert [kind.shares[point(each)] for each in "abc"] == pytest.approx([1 / 4] * 3)
    assert [n.shares[point(each)] for each in range(5)] == pytest.approx([1 / 6] * 5, abs=0.01)
    assert {place: share for place, share in flag.shares.items() if share} == {(2,): 0.5, (3,): 0.5}
    for each in (price, kind, n, flag):
        assert sum(each.shares.values()) == pytest.approx(1)


def test_the_order_of_attributes_is_that_of_the_plan():
    filters = {str(n): thatch.parse(f"kind = 'a' and price > {n} and n = {n % 2}") for n in range(6)}
    profile = Profile.of(EVENTS)
    wanted = FilterSet(filters, profile)
    assert attribute_order(wanted, plan(wanted.problem)) == ("kind", "n", "price")
    assert access_hints(filters, profile).order == ("kind", "n", "price")
