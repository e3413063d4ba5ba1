"""Events are flattened into long rows as they are read one by one, without Spark."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import thatch
from tests.pipeline.made_events import is_number, made_events
from thatch.engine.tables import event_rows
from thatch.pipeline.transforms.events import EventReader
from thatch.pipeline.transforms.profiling.flattening import EVENTS, MISFITS, REJECTED, SET, VALUE, flatten


def tallied(table: pa.Table, reader: EventReader, schema: thatch.Schema | None = None) -> dict[str, Any]:
    """What long rows say, added up."""
    result: dict[str, Any] = {
        "values": Counter(),
        "events": Counter(),
        "sets": Counter(),
        "totals": Counter(),
    }
    for batch in flatten(table, reader, schema, []):
        for row in batch.to_pylist():
            if row["kind"] == VALUE:
                value = row["whole"] if row["whole"] is not None else row["number"]
                result["values"][row["key"], row["rank"], value if row["text"] is None else row["text"]] += 1
                result["events"][row["key"]] += row["weight"]
            elif row["kind"] == SET:
                result["sets"][tuple(json.loads(row["key"]))] += row["weight"]
            else:
                result["totals"][row["kind"]] += row["weight"]
    return result


def expected_tally(events: list[dict[str, Any]]) -> dict[str, Any]:
    from thatch.model.profile.counting import count_events

    count, records = count_events(events, None)
    values: Counter[Any] = Counter()
    for key, places in count.tallies.items():
        for place in places:
            value = place[1] if len(place) == 3 else None
            if is_number(value):
                near = float(value)
                value = value if type(value) is int and near != value else near
            values[key, place[0], value] += 1
    totals = Counter({EVENTS: len(records)})
    if count.rejected:
        totals[REJECTED] = count.rejected.total()
    return {"values": values, "events": count.present, "sets": count.sets, "totals": totals}


def assert_tallies(table: pa.Table, reader: EventReader, events: list[dict[str, Any]]) -> None:
    found, expected = tallied(table, reader), expected_tally(events)
    found["totals"] = Counter({kind: count for kind, count in found["totals"].items() if count})
    for name, each in expected.items():
        assert +found[name] == +each, name


def typed_table() -> pa.Table:
    """Columns of every type, with nulls in all of them."""
    moments = [
        datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=each, microseconds=each % 2) for each in range(5)
    ]
    return pa.table(
        {
            "flag": pa.array([True, None, False, True, None]),
            "small": pa.array([1, None, 3, -4, 0], pa.int16()),
            "wide": pa.array([2**53 + 1, None, -(2**63), 2**63 - 1, 2**60], pa.int64()),
            "number": pa.array([nan, None, -0.0, float("inf"), 2.5]),
            "single": pa.array([0.1, None, 1.5, nan, 3], pa.float32()),
            "text": pa.array(["", None, "é", "a\0b", "x" * 1000]),
            "word": pa.array(["a", None, "b", "a", "a"]).dictionary_encode(),
            "money": pa.array([Decimal("1.10"), None, Decimal("3.00"), Decimal("-2.5"), Decimal(0)]),
            "huge": pa.array([Decimal(2**53 + 1), None, Decimal(7), None, None], pa.decimal128(38, 0)),
            "day": pa.array([date(2026, 1, 1), None, date(1, 1, 1), date(2026, 1, 1), None]),
            "at": pa.array([*moments[:4], None], pa.timestamp("us", "UTC")),
            "naive": pa.array([each.replace(tzinfo=None) for each in moments], pa.timestamp("ns")),
            "nothing": pa.nulls(5),
            "o": pa.array(
                [{"p": 1, "q": {"r": "x"}}, None, {"p": None, "q": None}, {"p": 2, "q": {"r": None}}, {}]
            ),
        }
    )


@pytest.mark.parametrize("nulls", ["missing", "null"])
def test_columns_are_flattened_as_the_same_events_read_one_by_one(nulls):
    table = typed_table()
    events = list(event_rows(table, nulls=nulls, json_column=None))
    assert_tallies(table, EventReader(nulls=nulls, skips=True), events)


@pytest.mark.parametrize("nulls", ["missing", "null"])
def test_lists_are_counted_by_elements_and_once_for_the_event(nulls):
    rows = [
        {"tags": ["a", None, "a"], "lines": [{"q": 1}, {"q": None}, {}]},
        {"tags": [], "lines": None},
        {"tags": None, "lines": [{"q": 1}]},
    ]
    table = pa.Table.from_pylist(rows)
    events = list(event_rows(table, nulls=nulls, json_column=None))
    assert_tallies(table, EventReader(nulls=nulls, skips=True), events)
    found = tallied(table, EventReader(nulls=nulls, skips=True))
    assert found["values"]["tags", 6, "a"] == 2
    assert found["events"]["tags"] == (1 if nulls == "missing" else 2)


def test_json_texts_keep_null_and_missing_apart_and_bad_ones_are_counted():
    events = made_events(300)
    texts = [json.dumps(each) for each in events]
    bad = ['{"a": 1', "[1, 2]", "null", None, '{"a": 12345678901234567890}', '{"a": {"b": 1}, "a.b": 2}', ""]
    table = pa.table({"line": pa.array([*texts[:100], *bad, *texts[100:]])})
    told: list[str] = []
    reader = EventReader(json="line", skips=True)
    rows = [row for batch in flatten(table, reader, None, told) for row in batch.to_pylist()]
    assert sum(row["weight"] for row in rows if row["kind"] == REJECTED) == len(bad)
    assert len(told) == 5  # of the reasons
    assert_tallies(pa.table({"line": texts}), reader, events)


def test_a_path_given_twice_is_refused_as_everywhere():
    table = pa.table({"a": [{"b": 1}, {"b": 2}], "a.b": [None, 3]})
    found = tallied(table, EventReader(skips=True))
    assert found["totals"][REJECTED] == 1
    assert found["totals"][EVENTS] == 1


def test_text_that_is_not_utf8_is_refused_row_by_row():
    column = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff")]
    )
    found = tallied(pa.table({"t": column}), EventReader(skips=True))
    assert found["totals"][REJECTED] == 1
    assert found["values"]["t", 6, "a"] == 1


def test_values_outside_their_declared_type_are_misfits():
    schema = thatch.Schema({"qty": thatch.Integer(0, 10)})
    table = pa.table({"qty": [5, 11, None], "x": [1, 2, 3]})
    found = tallied(table, EventReader(skips=True), schema)
    assert found["totals"][MISFITS] == 1
    assert found["events"] == {"qty": 1, "x": 3}


def test_objects_without_fields_and_tables_without_columns_are_events_too():
    for table in (pa.table({"o": pa.array([{}, None], pa.struct([]))}), pa.table({"n": pa.nulls(2)})):
        found = tallied(table, EventReader(skips=True))
        assert found["sets"] == {(): 2}
        assert not found["values"]
