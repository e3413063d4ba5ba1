"""Events read into records: what is flattened, what is refused, and the flat events that come out."""

from __future__ import annotations

import enum
from collections import Counter
from math import nan

import numpy as np
import pytest
from hypothesis import given

from tests import strategies as make
from thatch.errors import EventError
from thatch.matching import reference
from thatch.model.events import MAX_DEPTH, MAX_PARTS, Record, read_event
from thatch.model.lines import BOTTOM, point
from thatch.model.names import key_of
from thatch.model.schema import Schema
from thatch.model.types import Enum, Integer, Text


def written_out(record):
    """The flat events of a record, each as a set of places; what is missing is left out."""
    return Counter(
        frozenset((key, place) for key, place in flat.items() if place != BOTTOM) for flat in record.flat()
    )


def by_reference(event, schema=None):
    return Counter(
        frozenset((key_of(name), point(value)) for name, value in flat.items())
        for flat in reference.flat_events(event, schema)
    )


def refusal(read):
    try:
        read()
    except EventError as error:
        return error
    return None


@given(make.events, make.schemas)
def test_the_flat_events_of_a_record_are_those_of_the_reference(event, schema):
    refused = refusal(lambda: list(reference.flat_events(event, schema)))
    if refused is None:
        assert written_out(read_event(event, schema)) == by_reference(event, schema)
    else:
        assert refusal(lambda: read_event(event, schema)) is not None


@given(make.events)
def test_the_keys_of_a_record_are_those_of_its_flat_events(event):
    if refusal(lambda: read_event(event)) is None:
        record = read_event(event)
        assert record.keys() == set().union(*record.flat())


@given(make.events, make.schemas)
def test_every_value_outside_its_declared_type_is_counted_once(event, schema):
    if refusal(lambda: read_event(event)) is None:
        assert read_event(event).misfits == 0
        assert read_event(event, schema).misfits == misfits(event, "", schema)


def misfits(content, name, schema):
    if isinstance(content, dict):
        return sum(misfits(value, f"{name}.{field}".lstrip("."), schema) for field, value in content.items())
    if isinstance(content, list):
        return sum(misfits(value, name, schema) for value in content)
    return not reference.conforms(content, name, schema)


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        ({}, [{}]),
        ({"a": 1}, [{"a": 1}]),
        ({"a": {"b": {"c": 1}, "d": "x"}}, [{"a.b.c": 1, "a.d": "x"}]),
        ({"a": {"b.c": 1}}, [{"a.b.c": 1}]),
        ({"a.b": {"c": 1}, "a": {"d": 2}}, [{"a.b.c": 1, "a.d": 2}]),
        ({"a": {}}, [{}]),
        ({"a": 1, "a.b": 2}, [{"a": 1, "a.b": 2}]),
        ({"": 1}, [{"": 1}]),
        ({"a": {"": 1}}, [{"a.": 1}]),
        ({"a": []}, [{}]),
        ({"a": [[], [[]]]}, [{}]),
        ({"a": [1, 2]}, [{"a": 1}, {"a": 2}]),
        ({"a": [1, [2, [3]]]}, [{"a": 1}, {"a": 2}, {"a": 3}]),
        ({"a": [1, 1]}, [{"a": 1}, {"a": 1}]),
        ({"a": [None, nan]}, [{"a": None}, {"a": nan}]),
        ({"a": [{}]}, [{}]),
        ({"a": [{}, {"b": 1}, 2]}, [{}, {"a.b": 1}, {"a": 2}]),
        ({"a": (1, 2), "b": [3, 4]}, [{"a": one, "b": other} for one in (1, 2) for other in (3, 4)]),
        ({"a": [{"b": [1, 2], "c": 3}, {"b": 4}]}, [{"a.b": 1, "a.c": 3}, {"a.b": 2, "a.c": 3}, {"a.b": 4}]),
        ({"a": [{"b": 1}], "a.c": 2}, [{"a.b": 1, "a.c": 2}]),
        ({"a": [], "a.b": 1}, [{"a.b": 1}]),
        ({"a": np.array([[1, 2], [3, 4]])}, [{"a": number} for number in (1, 2, 3, 4)]),
    ],
)
def test_what_an_event_is_flattened_to(event, wanted):
    flats = Counter(
        frozenset((key_of(name), point(value)) for name, value in flat.items()) for flat in wanted
    )
    assert written_out(read_event(event)) == flats


def test_an_attribute_that_needs_quotes_has_them_in_its_key():
    assert read_event({"detail-type": 1, "in": {"x": 2}}).keys() == {'"detail-type"', "in.x"}


def test_fields_beside_lists_are_kept_once_whatever_the_lists():
    record = read_event({"a": 1, "b": [{"c": 2}, {"c": 3, "d": [4, 5]}]})
    assert record.points == {"a": point(1)}
    (choice,) = record.choices
    assert choice.where == "b"
    assert choice.keys == {"b.c", "b.d"}
    assert [element.points for element in choice.elements] == [{"b.c": point(2)}, {"b.c": point(3)}]
    assert [inner.where for inner in choice.elements[1].choices] == ["b.d"]


def test_a_derived_attribute_is_worked_out_once():
    record = read_event({"x": "aB"})
    assert record.point("lower(x)") == point("ab")
    assert record.point("reverse(lower(x))") == point("ba")
    assert record.points["lower(x)"] == point("ab")


def test_an_attribute_that_is_not_there_is_missing_and_so_is_what_is_derived_from_it():
    record = Record({})
    assert [record.point(key) for key in ("x", "lower(x)", "ip(x)", "time(x)")] == [BOTTOM] * 4


class Field(str, enum.Enum):  # noqa: UP042 - prints as `Field.PRICE`, unlike a StrEnum
    PRICE = "price"


def test_a_name_of_a_subclass_of_text_is_the_text():
    assert read_event({Field.PRICE: 1}).keys() == {"price"}


# --- declared types --------------------------------------------------------------------------------------------

SCHEMA = Schema({"qty": Integer(0, 9), "side": Enum("buy", "sell"), "i.name": Text()})


@pytest.mark.parametrize(
    ("event", "count"),
    [
        ({"qty": 5, "side": "buy", "i": {"name": "a"}}, 0),
        ({"qty": None, "side": None}, 0),
        ({"qty": 10}, 1),
        ({"qty": 0.5, "side": "hold"}, 2),
        ({"qty": nan}, 1),
        ({"qty": "5", "other": "5"}, 1),
        ({"qty": [1, 10, "a", [None, 11]]}, 3),
        ({"i": [{"name": 1}, {"name": "a"}, {"name": True}]}, 2),
        ({"qty": True}, 1),
    ],
)
def test_misfits_are_counted_and_missing(event, count):
    record = read_event(event, SCHEMA)
    assert record.misfits == count
    assert written_out(record) == by_reference(event, SCHEMA)


# --- limits ----------------------------------------------------------------------------------------------------


def nested(wrap, depth):
    value = 1
    for _ in range(depth):
        value = wrap(value)
    return value


def test_lists_may_be_nested_up_to_the_limit():
    assert len(list(read_event({"a": nested(lambda value: [value], MAX_DEPTH)}).flat())) == 1
    refused = refusal(lambda: read_event({"a": nested(lambda value: [value], MAX_DEPTH + 1)}))
    assert str(MAX_DEPTH) in refused.expected
    assert refused.where == "a"


def test_objects_may_be_nested_up_to_the_limit():
    event = {"a": nested(lambda value: {"a": value}, MAX_DEPTH)}
    assert read_event(event).keys() == {".".join("a" * (MAX_DEPTH + 1))}
    assert str(MAX_DEPTH) in refusal(lambda: read_event({"a": event})).expected


def test_a_deep_place_is_not_told_at_length():
    refused = refusal(lambda: read_event(nested(lambda value: {"a" * 1_000: value}, MAX_DEPTH + 2)))
    assert len(str(refused)) < 300


TOO_LARGE = {
    "a list": lambda: {"a": [1] * MAX_PARTS},
    "an array": lambda: {"a": np.zeros(MAX_PARTS)},
    "an object": lambda: dict.fromkeys(map(str, range(MAX_PARTS + 1)), 1),
    "a list in a list in an object": lambda: {"a": {"b": 1, "c": [[], [[1] * MAX_PARTS]]}},
}


@pytest.mark.parametrize(
    "name",
    ["a list", "an array", *(pytest.param(name, marks=pytest.mark.slow) for name in list(TOO_LARGE)[2:])],
)
def test_an_event_of_too_many_parts_is_refused_before_they_are_read(name):
    event = TOO_LARGE[name]()
    assert f"{MAX_PARTS:,}" in refusal(lambda: read_event(event)).expected


@pytest.mark.slow
def test_fields_and_elements_of_all_levels_are_counted_together():
    half = [[]] * (MAX_PARTS // 2)
    assert read_event({"a": half[2:], "b": half}).keys() == set()
    assert refusal(lambda: read_event({"a": half, "b": half})) is not None


@pytest.mark.parametrize(
    "event",
    [
        {"a.b": 1, "a": {"b": 2}},
        {"a": {"b": 2}, "a.b": 1},
        {"a.b": 1, "a": [{"b": 2}]},
        {"a": [{"c": 1}, {"b": 2}], "a.b": 1},
        {"a": [{"b": 2}], "a.b": [1]},
        {"a": {"b": []}, "a.b": 1, "a.": {"b": 1}, "a..b": 2},
        {"a": [{"b": [1], "b.c": 2}, {"b": [{"c": 3}], "b.c": 2}]},
    ],
)
def test_an_event_that_gives_one_path_twice_is_refused(event):
    refused = refusal(lambda: read_event(event))
    assert refused.expected == "each path once"
    assert "twice" in refused.got
    assert refused.where


@pytest.mark.parametrize("event", [{"\ud800": {}}, {"a": {"\ud800": []}}, {"a": [{"\ud800": 1}]}])
def test_a_name_that_is_no_text_is_refused_also_where_it_gives_no_value(event):
    assert "surrogate" in refusal(lambda: read_event(event)).expected


@pytest.mark.parametrize(
    ("event", "where"),
    [
        ({"a": {"b": b"x"}}, "a.b"),
        ({"a": [1, {"b": [0, b"x"]}]}, "a.b[1]"),
        ({"a": {5: 1}}, "a"),
        ({"a": np.array(1)}, "a"),
    ],
)
def test_a_refusal_tells_the_path(event, where):
    assert refusal(lambda: read_event(event)).where == where


def test_an_element_of_a_list_may_lack_what_others_have():
    points = read_event({"a": [{"x": 9}, {"y": 1}], "b": 2}).possible_points()
    assert points == {"a.x": [BOTTOM, point(9)], "a.y": [BOTTOM, point(1)], "b": [point(2)]}
