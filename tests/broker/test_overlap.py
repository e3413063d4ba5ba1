from __future__ import annotations

import pickle

import hypothesis.strategies as st
import pytest
from hypothesis import given

from thatch import attr, circle, parse, within
from thatch.broker.overlap import allows, names_of, overlaps
from thatch.model.events import Record, read_event
from thatch.model.matching import holds

FILTERS = [
    parse(text)
    for text in (
        "x <= 3",
        "x = 2 and y is missing",
        "x >= 2 and y = 'a'",
        "y like 'a%b%c'",
        "x = 1 or y = 'b'",
        "exists(x)",
        "lower(y) = 'a'",
        "items.x = 1 and items.y = 'a'",
    )
]
values = st.sampled_from([1, 2, 3, 4, "a", "b", "A", "axbxc", None])
fields = st.dictionaries(st.sampled_from(["x", "y", "z"]), values | st.lists(values, max_size=3), max_size=3)
events = st.builds(
    lambda event, items: {**event, "items": items} if items else event,
    fields,
    st.lists(st.dictionaries(st.sampled_from(["x", "y"]), values, max_size=2), max_size=2),
)


@given(st.sampled_from(FILTERS), events, st.booleans())
def test_an_event_is_allowed_if_one_conjunction_contains_all_its_flat_events(filter, event, closed) -> None:
    flats = list(read_event(event).flat())
    expected = any(
        all(
            holds(conjunction, Record(dict(flat))) and (not closed or set(flat) <= names_of(filter))
            for flat in flats
        )
        for conjunction in filter.conjunctions
    )
    assert allows(filter, read_event(event), closed=closed) == expected


@given(st.sampled_from(FILTERS), st.sampled_from(FILTERS), events, st.booleans())
def test_what_is_allowed_and_wanted_overlaps(advertised, wanted, event, closed) -> None:
    if allows(advertised, read_event(event), closed=closed) and wanted.matches(event):
        assert overlaps(advertised, wanted, closed=closed)


@pytest.mark.parametrize(
    ("advertised", "wanted", "is_open", "is_closed"),
    [
        ("x <= 3", "x = 2 and y = 1", True, False),
        ("x <= 3", "x = 5", False, False),
        ("x <= 3", "x = 2 and y is missing", True, True),
        ("x <= 3", "x = 5 or y = 1", True, False),
        ("x <= 3 and y = 1", "x = 2 and y = 1", True, True),
    ],
)
def test_closed_advertisements_overlap_less(advertised, wanted, is_open, is_closed) -> None:
    assert overlaps(parse(advertised), parse(wanted)) == is_open
    assert overlaps(parse(advertised), parse(wanted), closed=True) == is_closed


def test_a_check_of_two_attributes_in_long_lists_is_not_tried() -> None:
    near = parse(within(attr("lat"), attr("lon"), circle(0, 0, 10_000_000)))
    few = read_event({"lat": [1, 2], "lon": [1, 2]})
    many = read_event({"lat": [1] * 200, "lon": [1] * 200})
    assert allows(near, few)
    assert not allows(near, many)


@pytest.mark.parametrize(
    "text",
    [
        "x between 0 and 2 and y is missing or x between 0 and 2",
        "x = 0 or x = 0 and y = 3",
        "x = 0 and (y is missing or exists(y))",
        "x = 0 or x < 1 and x > 1 and y = 1",
        "x = 0 or within(y, z, circle(0, 0, 1)) and x = 0",
        "x = 0 or x = 0 and lower(y) like 'a%b%'",
        "not (x != 0 and not (x = 0 and y = 3)) and exists(x) or x = 0",
    ],
)
def test_a_closed_advertisement_names_what_was_written_and_not_what_its_normal_form_needs(text):
    filter = parse(text)
    for each in (filter, pickle.loads(pickle.dumps(filter))):
        assert allows(each, read_event({"x": 0, "y": 3}), closed=True)
        assert overlaps(each, parse("x = 0 and y = 3"), closed=True)
        assert not allows(each, read_event({"x": 0, "other": 3}), closed=True)
    assert filter == parse(str(filter))


def test_what_was_derived_from_an_event_is_nothing_that_it_gives() -> None:
    record = read_event({"y": 1})
    assert not allows(parse("lower(x) = 'a'"), record)  # which asks the event for lower(x)
    assert allows(parse("y = 1"), record, closed=True)
