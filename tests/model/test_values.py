"""Every accepted Python type, and what is refused."""

from __future__ import annotations

import enum
import uuid
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from math import inf, isnan, nan
from types import MappingProxyType

import numpy as np
import pytest

from thatch.errors import EventError, SubscriptionError, ThatchError, shown
from thatch.formats.files import object_of
from thatch.model import schema as declared
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.language.python import attr
from thatch.model.values import check_id, finite, is_id, read_scalar


class Level(enum.IntEnum):
    HIGH = 3


class Colour(enum.Enum):
    RED = "red"


class Whole(int):
    pass


class Word(str):
    __slots__ = ()


ACCEPTED = [
    (None, None),
    (True, True),
    (5, 5),
    (2**63 - 1, 2**63 - 1),
    (-(2**63), -(2**63)),
    (0.1, 0.1),
    (inf, inf),
    ("a\U0001f600", "a\U0001f600"),
    (Decimal(5), 5),
    (Decimal("5.00"), 5),
    (Decimal("0.1"), 0.1),
    (Decimal(2**53 + 1), 2**53 + 1),
    (Decimal("1e18"), 10**18),
    (Decimal("Infinity"), inf),
    (Decimal("1e300"), 1e300),
    (datetime(2026, 1, 31, 12), "2026-01-31T12:00:00Z"),
    (datetime(2026, 1, 31, 12, tzinfo=UTC), "2026-01-31T12:00:00Z"),
    (datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=1))), "2026-01-31T11:00:00Z"),
    (datetime(2026, 1, 31, 12, 0, 0, 1, tzinfo=UTC), "2026-01-31T12:00:00.000001Z"),
    (date(2026, 1, 31), "2026-01-31"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Level.HIGH, 3),
    (Colour.RED, "red"),
    (Whole(5), 5),
    (Word("a"), "a"),
    (np.int8(-5), -5),
    (np.uint64(5), 5),
    (np.int64(2**63 - 1), 2**63 - 1),
    (np.float32(0.5), 0.5),
    (np.float64(0.1), 0.1),
    (np.bool_(True), True),
    (np.str_("a"), "a"),
    (np.datetime64("2026-01-31T12:00:00"), "2026-01-31T12:00:00Z"),
    (np.datetime64("2026-01-31"), "2026-01-31T00:00:00Z"),
    (np.datetime64("2026-01-31T12:00:00.000000001", "ns"), "2026-01-31T12:00:00Z"),
    (np.datetime64("NaT", "us"), None),
]


@pytest.mark.parametrize(("value", "wanted"), ACCEPTED, ids=repr)
def test_an_accepted_value_becomes_a_plain_one(value, wanted):
    got = read_scalar(value, "x")
    assert got == wanted
    assert type(got) is type(wanted)
    if not (isinstance(value, datetime) or value is None):
        made = Filter.of(attr("x") == value)
        assert made.matches({"x": value})
        assert made == Filter.of(attr("x") == wanted)


@pytest.mark.parametrize("value", [nan, Decimal("NaN"), Decimal("sNaN"), np.float32("nan")], ids=repr)
def test_nan_is_present_and_no_literal(value):
    assert isnan(read_scalar(value, "x"))
    assert Filter.of(attr("x").exists()).matches({"x": value})
    with pytest.raises(ThatchError):
        _ = attr("x") == value


REFUSED = [
    b"a",
    bytearray(b"a"),
    1j,
    {1, 2},
    frozenset(),
    object(),
    2**63,
    -(2**63) - 1,
    10**5000,
    "\ud800",
    Decimal("1e400"),
    Decimal("1e999999"),
    timedelta(1),
    np.bytes_(b"a"),
    np.complex64(1),
    np.timedelta64(1, "s"),
    np.timedelta64(1, "ns"),
    np.uint64(2**63),
    np.datetime64("20000-01-01"),
    np.datetime64(2**62, "Y"),
    np.longdouble("1e4000"),
    np.array(5),
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2))),
    lambda: None,
    range(3),
    iter([]),
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: f"{type(value).__name__}")
def test_anything_else_is_refused_with_its_place(value):
    for event in ({"a": {"x": value}}, {"a": {"x": [1, value]}}):
        with pytest.raises(EventError) as caught:
            read_event(event)
        assert caught.value.expected
        assert caught.value.got
        assert "a.x" in caught.value.where
    with pytest.raises(ThatchError):
        _ = attr("x") == value


@pytest.mark.parametrize("kind", [OrderedDict, MappingProxyType])
def test_any_mapping_is_an_object(kind):
    made = Filter.of(attr("a.b") == 1)
    assert made.matches(kind({"a": kind({"b": 1})}))


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_any_sequence_is_a_list(kind):
    made = Filter.of(attr("a") == 2)
    assert made.matches({"a": kind([1, 2])})
    assert made.matches({"a": kind([[1, 3], [3, 2]])})
    assert not made.matches({"a": kind([1, 3])})


@pytest.mark.parametrize("value", ["", "a\0b", "\ud800", None, 5, b"a", ["a"]])
def test_ids_are_text_that_is_not_empty_and_has_no_nul(value):
    assert not is_id(value)
    with pytest.raises(SubscriptionError, match="not empty and has no NUL"):
        check_id(value)


@pytest.mark.parametrize("value", ["a", " ", "\n", "é😀", "a" * 10_000])
def test_any_other_text_is_an_id(value):
    assert check_id(value) == value


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5.0),
        (0.5, 0.5),
        (10**400, None),
        (10**5_000, None),
        (inf, None),
        (nan, None),
        (True, None),
        ("5", None),
    ],
    ids=shown,
)
def test_finite_numbers_are_those_of_a_double(value, number):
    assert finite(value) == number


DIGITS = "1" * 5_000


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: parse(f"x = {DIGITS}"),
        lambda: parse(f"x < -{DIGITS}"),
        lambda: parse(f"x in (1, {DIGITS})"),
        lambda: parse(f'{{"x": [{{"numeric": ["=", {DIGITS}]}}]}}'),
        lambda: parse(f'{{"x": [{DIGITS}]}}'),
        lambda: parse({"x": [10**5_000]}),
        lambda: parse({"x": [{"numeric": ["<", -(10**5_000)]}]}),
        lambda: parse(attr("x") < 10**5_000),
        lambda: parse(attr("x").is_in([10**5_000])),
        lambda: parse("x = 1").matches({"x": 10**5_000}),
        lambda: parse("x = 1").matches({"x": [1, {"y": 10**5_000}]}),
        lambda: declared.Number(10**5_000),
        lambda: declared.Integer(0, 10**5_000),
        lambda: declared.Enum(10**5_000),
        lambda: declared.Decimal(10**5_000),
        lambda: declared.Schema.from_description({"x": {"type": "Number", "minimum": 10**5_000}}),
        lambda: declared.Schema.from_description({"x": 10**5_000}),
        lambda: object_of(f'{{"x": {DIGITS}}}'),
    ],
)
def test_numbers_of_thousands_of_digits_are_refused_in_our_words(attempt):
    with pytest.raises(ValueError, match=r"^(?!.*set_int_max_str_digits)(?!Exceeds)") as caught:
        attempt()
    assert len(str(caught.value)) < 1_000
