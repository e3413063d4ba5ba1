"""The line: exact order of values, and the algebra of constraints against sets of points."""

from __future__ import annotations

import operator
from ipaddress import ip_address
from itertools import pairwise, product
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.model import lines
from thatch.model.derived import ip_text, microseconds_of
from thatch.model.expressions import Compare
from thatch.model.filters import Filter
from thatch.model.schema import tighten

OPERATIONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMBERS = [*make.SMALL_NUMBERS, *make.EDGE_NUMBERS]


def agreed(key, literal, value, left, right):
    """Whether `x operator literal` holds at a point exactly where `left operator right` does, for all six."""
    return all(
        lines.contains(lines_of(key, sign, literal), value) == operation(left, right)
        for sign, operation in OPERATIONS.items()
    )


_known: dict = {}


def lines_of(key, sign, literal):
    """The constraint that a comparison becomes; remembered, since every pair of values is tried."""
    place = (key, sign, type(literal), literal)
    if place not in _known:
        try:
            made = Filter.of(Compare(key, sign, literal))
            _known[place] = dict(made.conjunctions[0].constraints)[key]
        except ValueError:  # nothing lies below -infinity or above infinity
            _known[place] = ()
    return _known[place]


def test_numbers_compare_exactly_whatever_their_types():
    for left, right in product(NUMBERS, NUMBERS):
        exact_left, exact_right = make.exact(left), make.exact(right)
        assert agreed("x", right, lines.point(left), exact_left, exact_right), (
            left,
            right,
        )


@given(make.numbers, make.numbers)
def test_any_two_numbers_compare_exactly(left, right):
    exact_left, exact_right = make.exact(left), make.exact(right)
    assert agreed("x", right, lines.point(left), exact_left, exact_right)


def test_texts_compare_by_code_point():
    words = [*make.WORDS, "\ud7ff", "\ue000", "\U0001f600", "\uffff\uffff", "a\U0010ffff"]
    for left, right in product(words, words):
        points = [list(map(ord, text)) for text in (left, right)]
        assert agreed("x", right, lines.point(left), *points), (left, right)


def test_addresses_compare_as_addresses_and_the_old_ones_come_first():
    for left, right in product(make.ADDRESSES, make.ADDRESSES):
        keys = [(address.version, int(address)) for address in map(ip_address, (left, right))]
        place = lines.point(ip_text(left))
        assert agreed("ip(x)", ip_text(right), place, *keys), (left, right)


def test_moments_compare_by_time_and_not_by_text():
    for left, right in product(make.MOMENTS, make.MOMENTS):
        moments = [microseconds_of(text) for text in (left, right)]
        for sign, operation in OPERATIONS.items():
            try:
                wanted = Filter.of(Compare("time(x)", sign, moments[1]))
            except ValueError:
                assert not operation(*moments)
                continue
            assert wanted.matches({"x": left}) == operation(*moments)


def test_the_segments_lie_in_their_order():
    places = [
        lines.BOTTOM,
        *map(lines.point, [None, False, True, nan, float("-inf"), 0, float("inf"), "", "a"]),
    ]
    assert places == sorted(places)
    assert len(set(places)) == len(places)


# --- algebra ---------------------------------------------------------------------------------------------------

VALUES = [
    None,
    False,
    True,
    -5,
    0,
    1,
    2.5,
    2**53,
    2**53 + 1,
    float("inf"),
    float("-inf"),
    "",
    "a",
    "a\0",
    "ab",
    "b",
]
PLACES = [lines.BOTTOM, *map(lines.point, [*VALUES, nan, 0.5, 3, 10**15, "aa", "c"])]
CUTS = sorted(
    {*map(lines.below, VALUES), *map(lines.above, VALUES), lines.BOTTOM, lines.TOP, (4,), (5,), (6,)}
)


def _constraint(cuts):
    cuts = sorted(cuts)
    return tuple(cuts[: len(cuts) // 2 * 2])


constraints = st.sets(st.sampled_from(CUTS), max_size=8).map(_constraint)


def members(constraint):
    return {place for place in PLACES if lines.contains(constraint, place)}


def by_definition(constraint):
    return {
        place for place in PLACES if any(low <= place < high for low, high in lines.intervals(constraint))
    }


@given(constraints)
def test_contains_is_lying_in_an_interval(constraint):
    assert members(constraint) == by_definition(constraint)


@given(constraints, constraints)
def test_the_algebra_is_that_of_sets(first, second):
    one, other = members(first), members(second)
    assert members(lines.union([first, second])) == one | other
    assert members(lines.intersect(first, second)) == one & other
    assert members(lines.difference(first, second)) == one - other
    assert members(lines.complement(first)) == set(PLACES) - one


@given(constraints, constraints)
def test_results_are_in_their_one_form(first, second):
    for result in (
        lines.union([first, second]),
        lines.intersect(first, second),
        lines.difference(first, second),
        lines.complement(first),
    ):
        assert len(result) % 2 == 0
        assert all(low < high for low, high in pairwise(result))


@given(constraints, constraints)
def test_covering_is_having_nothing_left(first, second):
    assert lines.covers(first, second) == (lines.difference(second, first) == lines.EMPTY)
    assert lines.covers(lines.union([first, second]), first)
    assert lines.covers(first, lines.intersect(first, second))


@given(constraints)
def test_the_complement_of_the_complement_is_the_constraint(constraint):
    assert lines.complement(lines.complement(constraint)) == constraint


@given(make.texts, make.texts)
def test_a_prefix_interval_holds_exactly_the_texts_that_begin_so(prefix, text):
    interval = lines.prefix_interval(prefix)
    assert lines.contains(interval, lines.point(text)) == text.startswith(prefix)
    assert lines.contains(interval, lines.point(prefix + text))
    assert not lines.contains(interval, lines.point(5))


@given(make.lines, constraints, st.lists(make.values, max_size=12))
def test_tightening_keeps_every_value_of_the_declared_type(line, constraint, values):
    tight = tighten(constraint, line)
    assert tighten(tight, line) == tight
    for value in [*values, *VALUES]:
        if value is None or line.holds(value):
            place = lines.point(value)
            assert lines.contains(tight, place) == lines.contains(constraint, place), value
    assert lines.contains(tight, lines.BOTTOM) == lines.contains(constraint, lines.BOTTOM)


@pytest.mark.parametrize("value", VALUES)
def test_a_point_gives_its_value_back(value):
    assert lines.value_at(lines.point(value)) == value
    assert lines.is_single(*lines.around(lines.point(value)))


def test_texts_with_a_prefix_end_before_the_next_one_that_is_text():
    assert lines.prefix_interval("a\ud7ff") == (lines.below("a\ud7ff"), lines.below("a\ue000"))
    assert lines.prefix_interval("a\U0010ffff") == (lines.below("a\U0010ffff"), lines.below("b"))
