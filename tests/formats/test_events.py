"""Events from files of every kind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thatch.errors import TableError
from thatch.formats.events import read_events

ENDINGS = ("jsonl", "csv", "parquet", "jsonl.gz", "csv.gz")
ROWS = [
    {"symbol": "IBM", "price": 120.5, "size": 5, "open": True},
    {"symbol": 'é, "x"\n\U0001f600', "price": -0.5, "size": 2**53 + 1, "open": False},
    {"symbol": "", "price": 1e300, "size": 0, "open": True},
]


def read(path, **options):
    rejects = {}
    return list(read_events(path, rejects.__setitem__, **options)), rejects


@pytest.mark.parametrize("ending", ENDINGS)
def test_events_are_the_same_from_every_kind_of_file(write_rows, ending):
    events, rejects = read(write_rows(ROWS, ending))
    expected = [dict(row) for row in ROWS]
    if ending.startswith("csv"):
        del expected[2]["symbol"]  # an empty field is missing
    assert (events, rejects) == (list(enumerate(expected)), {})
    assert type(events[0][1]["open"]) is bool
    assert type(events[0][1]["size"]) is int


def test_nested_events_come_from_json_lines_and_parquet(write_rows):
    rows = [{"o": {"p": 1, "q": None}, "x": [{"y": 1}, {"y": None}]}, {"o": None, "x": []}]
    assert read(write_rows(rows, "jsonl"))[0] == list(enumerate(rows))
    assert read(write_rows(rows, "parquet"))[0] == [(0, {"o": {"p": 1}, "x": [{"y": 1}, {}]}), (1, {"x": []})]
    assert read(write_rows(rows, "parquet"), nulls="null")[0] == list(enumerate(rows))


def test_null_and_missing_stay_apart_in_json_lines(write_bytes):
    assert read(write_bytes(b'{"a": null}\n{}\n', "jsonl"))[0] == [(0, {"a": None}), (1, {})]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_empty_fields_are_missing_unless_told_otherwise(write_bytes, ending):
    path = write_bytes(b'a,b\n1,\n,""\n2,x\n', ending)
    assert read(path)[0] == [(0, {"a": 1}), (1, {}), (2, {"a": 2, "b": "x"})]
    assert read(path, nulls="null")[0] == [
        (0, {"a": 1, "b": None}),
        (1, {"a": None, "b": None}),
        (2, {"a": 2, "b": "x"}),
    ]


def test_bad_rows_of_csv_are_rejects_and_do_not_decide_types(write_bytes):
    events, rejects = read(write_bytes(b"a,b\n1,2\nx\n3,4\n5,\xff\n7,8\n", "csv"))
    assert events == [(0, {"a": 1, "b": 2}), (2, {"a": 3, "b": 4}), (4, {"a": 7, "b": 8})]
    assert sorted(rejects) == [1, 3]


def test_files_without_events_are_read(write_bytes, write_rows):
    assert read(write_bytes(b"", "jsonl")) == ([], {})
    assert read(write_bytes(b"a,b\n", "csv")) == ([], {})
    assert read(write_rows([{"a": 1}], "parquet"))[0] == [(0, {"a": 1})]
    with pytest.raises(TableError, match="name the columns"):
        read(write_bytes(b"", "csv"))


def test_moments_of_parquet_are_datetimes(write_rows):
    moment = datetime(2026, 1, 31, tzinfo=UTC)
    assert read(write_rows([{"at": moment}], "parquet"))[0] == [(0, {"at": moment})]


def test_columns_that_hold_no_json_like_values_are_left_out_and_told(write_rows):
    with pytest.warns(UserWarning, match="column `a`"):
        assert read(write_rows([{"a": b"x"}], "parquet"))[0] == [(0, {})]


def test_a_wrong_word_for_nulls_is_refused(write_rows):
    with pytest.raises(TableError, match="nulls"):
        read(write_rows([{"a": 1}], "parquet"), nulls="none")


def test_a_large_file_keeps_its_rows(write_rows):
    count = 20_000  # several batches
    path = write_rows([{"a": number, "b": str(number % 7)} for number in range(count)], "parquet")
    assert [(row, event["a"]) for row, event in read(path)[0]] == [
        (number, number) for number in range(count)
    ]
