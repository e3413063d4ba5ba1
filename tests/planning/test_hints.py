"""What planning tells indexes: they answer the same, and know more."""

from __future__ import annotations

import numpy as np
import pytest

import thatch
from thatch.matching.diagrams import DiagramIndex
from thatch.matching.segments import SegmentIndex
from thatch.model.events import read_event
from thatch.model.profile import Profile
from thatch.planning import FilterSet, ProfileSource, access_hints, attribute_order, plan
from thatch.planning.selectivities import uniform_domains

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


def test_indexes_that_are_told_something_answer_the_same():
    plain = matches(SegmentIndex(capacity=16))
    assert any(plain)
    profile = Profile.of(EVENTS)
    wanted = FilterSet(FILTERS, ProfileSource(profile))
    for known in (profile, uniform_domains(wanted.predicates)):
        assert matches(SegmentIndex(capacity=16, hints=access_hints(known))) == plain
    assert matches(DiagramIndex(attribute_order(wanted, plan(wanted.problem)))) == plain


def test_domains_are_told_as_shares():
    hints = access_hints(uniform_domains(FilterSet(FILTERS).predicates))
    price, kind, n, flag = (hints(key) for key in ("price", "kind", "n", "flag"))
    assert hints("other") is None
    assert price.numbers[0] > -1.1
    assert price.numbers[-1] < 60.1
    assert np.diff(price.numbers) == pytest.approx(np.diff(price.numbers)[0])
    assert (kind.texts, kind.text_shares.tolist()) == ((b"a", b"b", b"c"), [1 / 3] * 3)
    assert (n.numbers.tolist(), n.number_shares.tolist()) == ([0, 1, 2, 3, 4], [0.2] * 5)
    assert flag.singles.tolist() == [0, 0, 0, 1, 0]
    for each in (price, kind, n, flag):
        total = each.singles.sum() + each.number_shares.sum() + each.text_shares.sum()
        assert total == pytest.approx(1)


def test_what_is_tested_first_stands_lowest_in_diagrams():
    filters = {str(n): thatch.parse(f"kind = 'a' and price > {n} and n = {n % 2}") for n in range(6)}
    wanted = FilterSet(filters, ProfileSource(Profile.of(EVENTS)))
    assert attribute_order(wanted, plan(wanted.problem)) == ("price", "n", "kind")
