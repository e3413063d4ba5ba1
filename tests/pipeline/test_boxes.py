"""Boxes whose bounds are columns become an index without text; what doubles cannot hold exactly is refused."""

from __future__ import annotations

import pytest

from thatch.errors import SubscriptionError, TableError
from thatch.pipeline import build_box_index, match

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]

SIDES = {"x": ("low x", "high x"), "y": ("low `y`", "high y")}
COLUMNS = (
    "subscription string, subscriber string, `low x` int, `high x` bigint, `low ``y``` double, `high y` float"
)


def boxes(spark, *rows, columns=COLUMNS):
    return spark.createDataFrame(list(rows), columns)


def test_bounds_are_closed_and_null_is_none(spark):
    table = boxes(
        spark,
        ("both", "u", 1, 5, 2.0, 3.0),
        ("half", None, 1, None, None, None),
        ("all", "u", None, None, None, None),
    )
    events = spark.createDataFrame([(0, 5, 3.0), (1, 6, 3.0), (2, 0, None)], "id int, x int, y double")
    found = match(events, build_box_index(spark, table, SIDES), event="id").collect()
    assert sorted((row["event"], row["subscription"]) for row in found) == [
        (0, "all"), (0, "both"), (0, "half"), (1, "all"), (1, "half"), (2, "all"),
    ]  # fmt: skip


def test_bounds_that_doubles_do_not_hold_are_refused(spark):
    table = boxes(spark, ("a", None, 1, 2**53 + 1, None, None))
    with pytest.raises(TableError, match=r"doubles hold exactly, got .* - at column `high x`"):
        build_box_index(spark, table, SIDES)
    with pytest.raises(TableError, match=r"a number or null, got NaN - at column `low `y``"):
        build_box_index(spark, boxes(spark, ("a", None, 1, 2, float("nan"), None)), SIDES)


def test_columns_that_are_missing_or_no_numbers_are_named(spark):
    table = boxes(spark, ("a", None, 1, 2, 1.0, 2.0))
    with pytest.raises(TableError, match=r"a column `high z` in the table of boxes"):
        build_box_index(spark, table, {"z": ("low x", "high z")})
    with pytest.raises(TableError, match=r"numbers, got string - at column `subscriber`"):
        build_box_index(spark, table, {"x": ("low x", "subscriber")})
    with pytest.raises(TableError, match=r"text, got int - at column `subscription`"):
        build_box_index(
            spark, table.selectExpr("1 as subscription", "`low x`", "`high x`"), {"x": ("low x", "high x")}
        )


@pytest.mark.parametrize("identity", ["a", None])
def test_ids_are_texts_and_come_once(spark, identity):
    table = boxes(spark, ("a", None, 1, 2, 1.0, 2.0), (identity, None, 1, 2, 1.0, 2.0))
    with pytest.raises(SubscriptionError):
        build_box_index(spark, table, SIDES)
