"""Only columns that filters name are read: others may have any type."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from thatch import Engine
from thatch.errors import TableError
from thatch.formats.events import read_events

ODD = {
    "raw": pa.array([b"x", b"\xff"], pa.binary()),
    "took": pa.array([timedelta(1), None]),
    "counts": pa.array([[(1, "x")], []], pa.map_(pa.int64(), pa.string())),
    "text": pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"y"], pa.binary()).buffers()),
}
TABLE = pa.table(
    {
        "price": [3, 7],
        "tags": pa.array([[("env", "prod"), ("a.b", "x")], []], pa.map_(pa.string(), pa.string())),
        "detail": pa.array(
            [{"size": 1, "raw": b"x"}, None], pa.struct([("size", pa.int64()), ("raw", pa.binary())])
        ),
        **ODD,
    }
)


@pytest.fixture
def path(tmp_path) -> str:
    pq.write_table(TABLE, tmp_path / "events.parquet")
    return str(tmp_path / "events.parquet")


def matched(path: str, filter: str, nulls: str = "missing") -> list[int]:
    engine = Engine()
    engine.subscribe("a", filter)
    events = read_events(path, pytest.fail, nulls=nulls, names=engine.attributes())
    return [row for row, event in events if engine.match(event)]


@pytest.mark.parametrize(
    ("filter", "rows"),
    [
        ("price < 5", [0]),
        ("detail.size = 1", [0]),
        ("tags.env = 'prod'", [0]),
        ("tags.a.b = 'x'", [0]),
        ("tags.env is missing and price > 5", [1]),
        ("nothing is missing", [0, 1]),
    ],
)
def test_columns_of_any_type_do_not_matter_where_no_filter_names_them(path, filter, rows):
    assert matched(path, filter) == rows


def test_a_key_that_a_map_lacks_is_missing_where_null_is_a_value(path):
    assert matched(path, "tags.env is missing", nulls="null") == [1]
    assert matched(path, "tags.env is null", nulls="null") == []


@pytest.mark.parametrize("name", ["raw", "took", "counts", "detail.raw"])
def test_a_column_that_filters_name_must_have_values_of_events(path, name):
    with pytest.raises(TableError, match=rf"since filters name it.*column `{name}`"):
        matched(path, f"{name} = 'x'")


def test_without_names_columns_that_events_cannot_have_are_left_out_and_told(tmp_path):
    path, remarks = str(tmp_path / "events.parquet"), []
    pq.write_table(TABLE.drop_columns(["text"]), path)
    events = list(read_events(path, pytest.fail, tell=remarks.append))
    first = {"price": 3, "tags": {"env": "prod", "a.b": "x"}, "detail": {"size": 1}}
    assert events == [(0, first), (1, {"price": 7, "tags": {}})]
    assert [remark.split("`")[1] for remark in remarks] == ["detail", "raw", "took", "counts"]


def test_a_map_with_a_key_twice_is_refused(tmp_path):
    tags = pa.array([[("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int64()))
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"tags": tags}), path)
    with pytest.raises(TableError, match="each key of a map once"):
        list(read_events(path, pytest.fail))
