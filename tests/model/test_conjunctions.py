"""Boxes: a filter written out as intervals, one by one, and never more than were asked for."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch.errors import EventError, FilterError
from thatch.model.conjunctions import Box, boxes_of
from thatch.model.events import read_event
from thatch.model.expressions import And, In
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.lines import above, below
from thatch.model.residuals import WildcardCheck
from thatch.model.schema import Schema
from thatch.model.types import Integer
from thatch.model.wildcards import wildcard

MOST_BOXES = 5_000


def accepted(expression, schema=None):
    try:
        return Filter.of(expression, schema)
    except FilterError:
        assume(False)


def in_box(box, record):
    """Whether a flat event lies in a box, by the definition."""
    return all(low <= record.point(key) < high for key, low, high in box.intervals) and all(
        residual.holds([record.point(key) for key in residual.keys]) for residual in box.residuals
    )


@given(make.expressions, make.schemas, st.lists(make.flat_values_events, min_size=1, max_size=6))
def test_the_boxes_together_are_the_filter(expression, schema, events):
    made = accepted(expression, schema)
    assume(made.box_count() <= MOST_BOXES)
    boxes = list(made.boxes())
    for event in events:
        try:
            record = read_event(event, schema)
        except EventError:
            continue
        assert any(in_box(box, record) for box in boxes) == made.matches(event), (str(made), event)


@given(make.expressions, make.schemas)
def test_the_boxes_are_counted_without_being_made(expression, schema):
    made = accepted(expression, schema)
    assume(made.box_count() <= MOST_BOXES)
    assert made.box_count() == len(list(made.boxes()))
    for (
        conjunction
    ) in made.conjunctions:  # alternatives may overlap, and so share a box; one alone repeats none
        assert conjunction.box_count() == len(set(boxes_of(conjunction)))


def test_alternatives_that_overlap_may_share_a_box():
    made = parse(
        "ip(y) not in ('10.0.0.1', '10.0.0.255') and x != 0 or ip(y) != '10.0.0.255' and x not in (-1, 0)"
    )
    assert made.box_count() == len(list(made.boxes())) > len(set(made.boxes()))


@given(make.expressions, make.schemas)
def test_a_box_has_one_interval_per_attribute_and_the_residuals_of_its_conjunction(expression, schema):
    made = accepted(expression, schema)
    known = {conjunction.residuals for conjunction in made.conjunctions}
    for box in islice(made.boxes(), MOST_BOXES):
        assert box.residuals in known
        assert len({key for key, _, _ in box.intervals}) == len(box.intervals)
        assert all(low < high for _, low, high in box.intervals)


@given(make.plain_expressions)
def test_the_boxes_of_one_conjunction_do_not_overlap(expression):
    made = accepted(expression)
    for conjunction in made.conjunctions:
        alone = Filter((conjunction,), None, ())
        boxes = list(islice(alone.boxes(), 30))
        for index, one in enumerate(boxes):
            for other in boxes[:index]:
                sides = zip(one.intervals, other.intervals, strict=True)
                assert any(a[2] <= b[1] or b[2] <= a[1] for a, b in sides)


def test_the_first_of_a_million_million_boxes_comes_at_once():
    numbers = tuple(range(0, 2_000, 2))
    made = Filter.of(And(tuple(In(key, numbers) for key in ("a", "b", "c", "d"))))
    assert made.box_count() == 10**12
    boxes = made.boxes()
    assert next(boxes) == Box(tuple((key, below(0), above(0)) for key in ("a", "b", "c", "d")))
    assert next(boxes).intervals[-1] == ("d", below(2), above(2))


def test_boxes_can_be_asked_for_again():
    made = parse("x in (1, 2) or y = 1")
    assert list(made.boxes()) == list(made.boxes())


def test_every_box_carries_the_residual_checks():
    made = parse("x like '%b%' and y in (1, 2)")
    check = WildcardCheck("x", wildcard("%b%"))
    assert [box.residuals for box in made.boxes()] == [(check,), (check,)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("true", 1),
        ("x = 1", 1),
        ("x in (1, 2, 3)", 3),
        ("x != 1", 2),
        ("x in (1, 2) and y != 3", 4),
        ("x = 1 or y = 2", 2),
        ("x in (1, 2) or y in (1, 2, 3)", 5),
    ],
)
def test_how_many_boxes_a_filter_has(text, count):
    assert parse(text).box_count() == len(list(parse(text).boxes())) == count


def test_the_filter_that_says_nothing_is_one_box_without_sides():
    assert list(parse("true").boxes()) == [Box(())]


def test_values_that_are_neighbours_on_a_declared_line_are_one_box():
    schema = Schema({"x": Integer(0, 9)})
    assert parse("x in (1, 2, 3)", schema).box_count() == 1


def test_a_prefix_and_one_without_case_may_both_hold():
    both = parse("x like 'AB%' and lower(x) like 'abc%'")
    assert both.matches({"x": "ABCd"})
    assert not both.matches({"x": "abcd"})
