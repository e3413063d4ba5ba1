from __future__ import annotations

import enum
import re
import uuid
from collections import OrderedDict
from datetime import UTC, date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import hypothesis.strategies as st
import msgspec
import numpy as np
import pytest
from hypothesis import given

from tests.strategies import events
from thatch.broker.event_codec import EncodedEvent, decode_event, encode_event
from thatch.errors import EventError
from thatch.model.events import Record, read_event
from thatch.model.schema import Integer, Schema


def places(record: Record) -> Any:
    return record.points, [
        (each.where, sorted(each.keys), [places(element) for element in each.elements])
        for each in record.choices
    ]


class Colour(enum.Enum):
    RED = "red"


RICH = [
    Decimal("1.5"),
    Decimal(7),
    Decimal("NaN"),
    datetime(2026, 11, 15, 12, 30, tzinfo=UTC),
    datetime(2026, 11, 15, 12, 30),
    date(2026, 11, 15),
    uuid.UUID(int=5),
    Colour.RED,
    np.float32(0.1),
    np.int64(-5),
    np.bool_(True),
    np.datetime64("2026-11-15T12:30"),
    np.array([1, 2]),
    np.array(["2026-11-15"], "datetime64[D]"),
    (1, (2, 3)),
    [],
    MappingProxyType({"deep": [{"er": 1}]}),
    OrderedDict(one=1),
    2**63 - 1,
    -(2**63),
    float("nan"),
    float("inf"),
    -0.0,
    "ünïcödé \0",
    "",
]
rich_events = st.dictionaries(
    st.sampled_from("abc"), st.sampled_from(RICH) | st.lists(st.sampled_from(RICH), max_size=3)
)


@given(events | rich_events)
def test_an_event_lies_where_it_lay_before_it_was_encoded(event: dict[str, Any]) -> None:
    row = encode_event(event)
    try:
        record = read_event(event)
    except EventError as error:
        with pytest.raises(EventError, match=re.escape(str(error))):
            read_event(decode_event(row))
        return
    assert str(places(read_event(decode_event(row)))) == str(places(record))
    assert encode_event(decode_event(row)) == row


def test_what_was_encoded_shares_nothing_with_the_event() -> None:
    event = {"x": [1], "y": {"z": 1}}
    row = encode_event(event)
    event["x"].append(2)  # type: ignore[union-attr]
    one, other = decode_event(row), decode_event(row)
    one["x"].append(5)
    assert other == {"x": [1], "y": {"z": 1}}


def cycle() -> dict[str, Any]:
    event: dict[str, Any] = {}
    event["x"] = [event, event]
    return event


def doubled(value: Any, times: int) -> Any:
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (5, "an object of names and values"),
        (None, "an object of names and values"),
        ([1], "an object of names and values"),
        ({"x": object()}, "a boolean, a number or text"),
        ({"x": b"bytes"}, "a boolean, a number or text"),
        ({"x": [1j]}, "a boolean, a number or text"),
        ({"x": 2**64}, "can be encoded"),
        ({"x": "\ud800"}, "can be encoded"),
        ({"x": {"\ud800": 1}}, "can be encoded"),
        ({"x": {5: 1}}, "names as text"),
        ({"x": np.array(5)}, "a list or a value"),
        (cycle(), "at most 128 nested"),
        ({"x": doubled(1, 60)}, "more than 1,000 fields"),
        ({"x": doubled("long" * 1_000_000, 8)}, "more than 50,000,000 characters"),
    ],
)
def test_what_cannot_be_encoded_is_refused_in_bounded_time(
    event: Any, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thatch.broker.event_codec.MAX_PARTS", 1_000)
    with pytest.raises(EventError, match=reason):
        encode_event(event)


@given(st.binary(max_size=30) | st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(0, 5), inner),
).map(msgspec.msgpack.encode))  # fmt: skip
def test_whatever_bytes_hold_they_are_an_event_or_refused(row: bytes) -> None:
    try:
        record = EncodedEvent(row, None).record
    except EventError:
        return
    assert places(record) is not None


def test_an_event_is_read_by_its_schema() -> None:
    schema = Schema({"x": Integer(0, 10)})
    assert EncodedEvent(encode_event({"x": 50}), schema).record.misfits == 1
    assert EncodedEvent(encode_event({"x": 5}), schema).record.misfits == 0
