"""On Spark only columns that filters name are read: others may have any type."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from tests.engine.test_pruning import TABLE
from thatch.errors import TableError
from thatch.pipeline import match
from thatch.pipeline.sources import read_events
from thatch.pipeline.transforms.profiling.profile import profile

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture
def events(spark):
    """Two events, with columns of types that events cannot have, and some that Arrow or Python do not know."""
    return spark.sql(
        """select * from values
          (0, 3, map('env', 'prod'), named_struct('size', 1, 'raw', binary('x')), array(named_struct('a', 1, 'b', binary(''))),
           binary('x'), interval '2' month, map(1, 2), parse_json('{"a": 1}')),
          (1, 7, map(), null, array(), null, null, null, null)
          as events(id, price, tags, detail, items, raw, months, counts, variant)"""
    )


FILTERS = {
    "price": ("price < 5", [0]),
    "object": ("detail.size = 1", [0]),
    "map": ("tags.env = 'prod'", [0]),
    "objects in a list": ("items.a = 1", [0]),
    "a key that is missing": ("tags.env is missing", [1]),
    "nothing": ("nothing is missing", [0, 1]),
}


@pytest.mark.parametrize("strategy", ["mapped", "partitioned"])
def test_columns_of_any_type_do_not_matter_where_no_filter_names_them(spark, events, strategy):
    subscriptions = spark.createDataFrame(
        [(name, filter) for name, (filter, _) in FILTERS.items()], "subscription string, filter string"
    )
    for nulls in ("missing", "null"):
        found = match(events, subscriptions, event="id", nulls=nulls, strategy=strategy).collect()
        expected = {(row, name) for name, (_, rows) in FILTERS.items() for row in rows}
        assert {(each.event, each.subscription) for each in found} == expected


@pytest.mark.parametrize("name", ["raw", "months", "counts", "variant", "detail.raw", "items.b"])
def test_a_column_that_filters_name_must_have_values_of_events(spark, events, name):
    subscriptions = spark.createDataFrame([("a", f"{name} = 'x'")], "subscription string, filter string")
    with pytest.raises(TableError, match=rf"since filters name it.*column `{name}`"):
        match(events, subscriptions, event="id", strategy="mapped")


def test_a_profile_leaves_out_what_events_cannot_have(events):
    found = profile(events, event="id")
    assert {each.key: each.events for each in found.attributes} == {
        "price": 2,
        "tags.env": 1,
        "detail.size": 1,
        "items.a": 1,
    }


def test_a_file_is_read_without_what_is_not_asked_for(spark, tmp_path):
    path = str(tmp_path / "events.parquet")
    pq.write_table(TABLE.drop_columns(["took"]), path)
    source = read_events(spark, path, names={"price", "tags.env"})
    assert source.table.columns == ["row", "price", "tags"]
    assert source.rejects is None
