"""Subscriptions from files of every kind."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thatch
from thatch.errors import TableError
from thatch.formats.subscriptions import read_subscriptions

ENDINGS = ("jsonl", "csv", "parquet", "jsonl.gz", "csv.gz")
ROWS = [
    {"subscription": "a", "subscriber": "s", "filter": "x = 1 and y = 'it''s, \"so\"'", "expires": 12.5},
    {"subscription": "é\n", "subscriber": None, "filter": "price < 150", "expires": None},
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_subscriptions_are_the_same_from_every_kind_of_file(write_rows, ending):
    read = read_subscriptions(write_rows(ROWS, ending))
    assert read.table.to_pylist() == ROWS
    assert (read.rows, read.rejects) == ([0, 1], [])
    assert thatch.Engine().subscribe_many(read.table).num_rows == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_may_stand_in_any_order_beside_others(write_rows, ending):
    path = write_rows([{"note": 5, "filter": "x = 1", "more": "z", "subscription": "a"}], ending)
    (row,) = read_subscriptions(path).table.to_pylist()
    assert {name: value for name, value in row.items() if value is not None} == {
        "subscription": "a",
        "filter": "x = 1",
    }


def test_a_filter_in_json_lines_may_be_a_pattern(write_rows):
    pattern = {"x": [{"prefix": "é"}], "$or": [{"y": [1]}, {"z": [None]}]}
    read = read_subscriptions(write_rows([{"subscription": "a", "filter": pattern}], "jsonl"))
    (text,) = read.table.column("filter").to_pylist()
    assert thatch.parse(text) == thatch.parse(pattern)


def test_filters_are_not_parsed_here(write_rows):
    read = read_subscriptions(write_rows([{"subscription": "a", "filter": "x =="}], "jsonl"))
    assert read.rejects == []


BAD_LINES = {
    "not JSON": ("{", "Expected JSON"),
    "not an object": ('["a"]', "Expected a JSON object"),
    "no id": ('{"filter": "x = 1"}', "Expected text as `subscription`, got None"),
    "an id that is no text": ('{"subscription": 5, "filter": "x = 1"}', "Expected text as `subscription`, got 5"),
    "an id with a lone surrogate": (
        '{"subscription": "\\ud800", "filter": "x = 1"}',
        "Expected text as `subscription`",
    ),
    "no filter": ('{"subscription": "b"}', "Expected text as `filter`, got None"),
    "a filter that is no text": ('{"subscription": "b", "filter": ["x"]}', "Expected text as `filter`, got ['x']"),
    "a filter with a lone surrogate": (
        '{"subscription": "b", "filter": "x = \'\\udfff\'"}',
        "Expected text as `filter`",
    ),
    "a pattern with a name twice": (
        '{"subscription": "b", "filter": {"x": [1], "x": [2]}}',
        "Duplicate name in an object",
    ),
    "a subscriber that is no text": (
        '{"subscription": "b", "filter": "x = 1", "subscriber": {"a": 1}}',
        "Expected text as `subscriber`",
    ),
    "an expiry that is text": (
        '{"subscription": "b", "filter": "x = 1", "expires": "soon"}',
        "Expected seconds since 1970 as `expires`, got 'soon'",
    ),
    "an expiry that is a boolean": ('{"subscription": "b", "filter": "x = 1", "expires": true}', "got True"),
    "an expiry past every number": (
        '{"subscription": "b", "filter": "x = 1", "expires": 1' + "0" * 400 + "}",
        "Expected seconds since 1970",
    ),
    "a filter of 12 MB": ('{"subscription": "b", "filter": ["' + "x" * 12_000_000 + '"]}', "Expected text"),
    "a deep pattern": (
        '{"subscription": "b", "filter": ' + '{"a":' * 50_000 + "[1]" + "}" * 50_001,
        "Expected",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_a_reject_and_the_rows_after_it_are_right(write_bytes, name):
    line, reason = BAD_LINES[name]
    good = [json.dumps({"subscription": each, "filter": "x = 1"}) for each in "ac"]
    read = read_subscriptions(write_bytes("\n".join([good[0], "", line, good[1], line]).encode(), "jsonl"))
    assert read.table.column("subscription").to_pylist() == ["a", "c"]
    assert read.rows == [0, 3]
    assert [row for row, _ in read.rejects] == [2, 4]
    for _, each in read.rejects:
        assert reason in each
        assert len(each) < 300


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_bad_rows_of_csv_are_rejects_in_order(write_bytes, ending):
    content = (
        b"subscription,filter,expires\n"
        b"a,x = 1,5\n"
        b"b,x = 1\n"
        b"c,x = 1,soon\n"
        b'd,"x in (1, 2)",\n'
        b"e,x = '\xff',7\n"
        b"f,x = 1,1_0\n"
        b"g,x = 1,1e3\n"
    )
    read = read_subscriptions(write_bytes(content, ending))
    assert read.rows == [0, 3, 6]
    assert read.table.to_pydict() == {
        "subscription": ["a", "d", "g"],
        "filter": ["x = 1", "x in (1, 2)", "x = 1"],
        "expires": [5.0, None, 1000.0],
    }
    assert read.rejects == [
        (1, "Expected 3 fields, got 2"),
        (2, "Expected seconds since 1970 as `expires`, got 'soon'"),
        (4, "Expected UTF-8 text in column `filter`"),
        (5, "Expected seconds since 1970 as `expires`, got '1_0'"),
    ]


def test_fields_of_csv_stay_text(write_bytes):
    read = read_subscriptions(write_bytes(b"subscription,subscriber,filter\n007,1,true\n", "csv"))
    assert read.table.to_pylist() == [{"subscription": "007", "subscriber": "1", "filter": "true"}]


@pytest.mark.parametrize("ending", ENDINGS)
def test_many_rejects_are_never_fatal(write_rows, ending):
    rows = [{"subscription": None, "filter": "x = 1"}, {"subscription": "a", "filter": None}] * 5_000
    rows[0] = {"subscription": "first", "filter": "x = 1"}
    read = read_subscriptions(write_rows(rows, ending))
    refused = thatch.Engine().subscribe_many(read.table).num_rows
    assert len(read.rejects) + refused == 9_999


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["subscription", "filter"])
def test_a_missing_column_is_refused_by_name(write_rows, ending, name):
    row = {"subscription": "a", "filter": "x = 1", "subscriber": "s"}
    del row[name]
    path = write_rows([row], ending)
    with pytest.raises(TableError, match=f"a column `{name}`, got .*subscriber") as caught:
        read_subscriptions(path)
    assert caught.value.where == path


def test_a_file_with_only_a_header_has_no_subscriptions(write_bytes):
    read = read_subscriptions(write_bytes(b"subscription,filter\n", "csv"))
    assert (read.table.num_rows, read.rows, read.rejects) == (0, [], [])
    assert thatch.Engine().subscribe_many(read.table).num_rows == 0


def test_an_empty_file_of_json_lines_has_no_subscriptions(write_bytes):
    read = read_subscriptions(write_bytes(b"\n", "jsonl"))
    assert thatch.Engine().subscribe_many(read.table).num_rows == 0


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        (pa.array([5, None]), [5.0, None]),
        (pa.array([5.5, float("inf")]), [5.5, float("inf")]),
        (pa.array([Decimal("1.50"), None]), [1.5, None]),
        (pa.array([datetime(1970, 1, 1, 0, 1, tzinfo=UTC), None]), [60.0, None]),
        (pa.array([1_500_000_000, None], pa.timestamp("ns")), [1.5, None]),
        (pa.array([7, None], pa.timestamp("s", "Europe/Berlin")), [7.0, None]),
        (pa.array(["8", None]), [8.0, None]),
        (pa.nulls(2), [None, None]),
    ],
    ids=lambda each: str(each.type) if isinstance(each, pa.Array) else None,
)
def test_expiries_of_parquet_become_seconds(write_bytes, values, seconds):
    stream = io.BytesIO()
    pq.write_table(pa.table({"subscription": ["a", "b"], "filter": ["x = 1"] * 2, "expires": values}), stream)
    read = read_subscriptions(write_bytes(stream.getvalue(), "parquet"))
    assert read.table.column("expires").to_pylist() == seconds


def test_expiries_of_another_type_are_refused(write_rows):
    path = write_rows([{"subscription": "a", "filter": "x = 1", "expires": [5]}], "parquet")
    with pytest.raises(TableError, match="seconds since 1970"):
        read_subscriptions(path)


def test_json_lines_and_saved_filters_go_together(write_rows):
    engine = thatch.Engine()
    engine.subscribe("a", {"x": [{"suffix": "é"}]}, subscriber="s", expires=5)
    rows = json.loads(json.dumps(engine.subscriptions().to_pylist()))
    again = thatch.Engine()
    assert again.subscribe_many(read_subscriptions(write_rows(rows, "jsonl")).table).num_rows == 0
    assert again.subscriptions().equals(engine.subscriptions())
