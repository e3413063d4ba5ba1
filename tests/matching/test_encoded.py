"""Rows of bytes become the columns that the events they are would have, or are left alone."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.encoded import packed, unpacked
from tests.strategies import flat_values_events
from thatch.errors import EventError
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.encoded import EncodedRows, RowReader
from thatch.model.events import Record, read_event
from thatch.model.lines import Cut, point
from thatch.model.names import ANYWHERE, key_of

NAMES = ("o", "o.p", "x", "y", "é")


def attributes(*keys: str) -> Attributes:
    return Attributes(keys or map(key_of, NAMES))


def read(rows: list[bytes], known: Attributes) -> EncodedRows:
    return RowReader().read(rows, known, lambda row: read_event(unpacked(rows[row])))


def points(found: EncodedRows, event: int, known: Attributes) -> dict[str, Cut]:
    """Where columns say that an event lies."""
    result: dict[str, Cut] = {}
    columns = found.columns
    for column, number in enumerate(columns.attribute.tolist()):
        kind = int(columns.classes[column, event])
        if kind == 6:
            at, end = columns.texts.offsets[columns.codes[column, event] :][:2]
            result[known.keys[number]] = point(columns.texts.blob[at:end].tobytes().decode())
        elif kind:
            number_there = float(columns.numbers[column, event])
            result[known.keys[number]] = point(number_there) if kind == 5 else (kind,)
    return result


def wanted(record: Record, known: Attributes) -> dict[str, Cut]:
    """Where the event itself lies on the lines that are known."""
    return {key: place for key, place in record.points.items() if key in known.number}


@given(st.lists(st.tuples(flat_values_events, st.booleans()), max_size=12))
def test_rows_lie_where_their_events_lie(drawn: list[tuple[dict[str, Any], bool]]) -> None:
    rows, known = [packed(event, wide=is_wide) for event, is_wide in drawn], attributes()
    found = read(rows, known)
    assert sorted([*found.rows.tolist(), *found.others.tolist()]) == list(range(len(rows)))
    for event, row in enumerate(found.rows.tolist()):
        record = read_event(unpacked(rows[row]))
        assert points(found, event, known) == wanted(record, known)
        assert found.columns.read(event).points == record.points


@given(
    event=flat_values_events,
    at=st.integers(0, 200),
    change=st.one_of(st.binary(max_size=3), st.sampled_from([b"\xc1", b"\xdf\xff\xff\xff\xff", b"\xdb\xff"])),
    is_cut=st.booleans(),
)
def test_bytes_that_are_no_event_are_left_alone(
    event: dict[str, Any], at: int, change: bytes, is_cut: bool
) -> None:
    row = packed(event)
    at = min(at, len(row))
    rows, known = [row[:at] + change + (b"" if is_cut else row[at + len(change) :])], attributes()
    found = read(rows, known)
    if len(found.rows):
        assert points(found, 0, known) == wanted(read_event(unpacked(rows[0])), known)


@pytest.mark.parametrize(
    ("row", "is_read"),
    [
        (packed({"x": 1, "y": "a"}), True),
        (packed({}), True),
        (packed({"x": -0.0, "q": nan, "o.p": inf}), True),
        (packed({"x": 2**53}), True),
        (packed({"x": 2**53 + 1}), False),  # no double equals it
        (packed({"z": 2**63 - 1}), False),
        (packed({"z": 2**63}), False),
        (packed({"x": [1]}), False),
        (packed({"o": {"p": 1}}), False),
        (b"\x82\xa1x\x01\xa1x\x02", False),  # a name twice
        (b"\x82\xa1q\x01\xa1q\x02", True),  # one that nobody asks for
        (b"\x81\x01\x01", False),  # a name that is a number
        (b"\x81\xa1x\x01\x00", False),  # something behind it
        (b"\x81\xa1x", False),
        (b"\x81\xa5x", False),
        (b"\x81\xa1x\xca\x3f\xc0\x00\x00", True),  # a number of four bytes
        (b"\x81\xa1x\xd9\x02ab", True),
        (b"\x81\xa1q\xa2\xc0\x80", False),  # more bytes than needed
        (b"\x81\xa1q\xa3\xed\xa0\x80", False),  # a surrogate
        (b"\x81\xa1q\xa4\xf4\x90\x80\x80", False),  # beyond the last character
        (b"\x81\xa1q\xa2\xe2\x82", False),
        (b"\x81\xa1\xff\x01", False),
        (b"\x81\xa1q\xa4\xf4\x8f\xbf\xbf", True),
        (b"\x81\xa2\xc3\xa9\x01", True),
        (b"", False),
        (b"\xc0", False),
    ],
)
def test_each_kind_of_row_is_read_or_left_to_python(row: bytes, is_read: bool) -> None:
    known = attributes()
    for rows in ([row], [packed({"x": 7, "y": "text"}), row, packed({"y": None})]):
        found = read(rows, known)
        assert (rows.index(row) in found.rows) == is_read
        for event, number in enumerate(found.rows.tolist()):
            assert points(found, event, known) == wanted(read_event(unpacked(rows[number])), known)


def test_what_has_derived_attributes_is_left_to_python() -> None:
    rows = [packed({"x": "A"}), packed({"y": "A"})]
    assert read(rows, attributes("x", "lower(x)", "y")).rows.tolist() == [1]


def test_texts_that_no_filter_names_are_left_to_python_where_filters_look_at_all() -> None:
    rows = [packed({"q": "A"}), packed({"q": 1}), packed({"x": "A"})]
    assert read(rows, attributes("x", ANYWHERE)).rows.tolist() == [1, 2]


def test_more_attributes_than_a_batch_has_columns_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thatch.matching.segments.encoded._MOST_COLUMNS", 2)
    rows = [packed({"x": 1}), packed({"y": 2}), packed({"o": 3}), packed({"y": 4, "x": 5})]
    known = attributes()
    found = read(rows, known)
    assert found.rows.tolist() == [0, 1, 3]
    assert points(found, 2, known) == {key_of("x"): point(5.0), key_of("y"): point(4.0)}


def test_names_that_filters_begin_to_use_are_read_from_then_on() -> None:
    reader, known = RowReader(), attributes("x")
    rows = [packed({"x": 1, "new": 2})]

    def record(row: int) -> Record:
        return read_event(unpacked(rows[row]))

    assert points(reader.read(rows, known, record), 0, known) == {"x": point(1.0)}
    known.number["new"] = 1
    known.learn()
    assert points(reader.read(rows, known, record), 0, known) == {"x": point(1.0), "new": point(2.0)}


def test_a_long_row_is_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thatch.matching.segments.encoded._LONGEST", 10)
    rows = [packed({"x": "a" * 20}), packed({"x": "a"})]
    assert read(rows, attributes()).rows.tolist() == [1]
    with pytest.raises(EventError):
        unpacked(rows[0][:-1])


def test_no_rows() -> None:
    found = read([], attributes())
    assert np.size(found.rows) == np.size(found.others) == 0
