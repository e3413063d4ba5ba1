"""Placement on Spark: the very plan that this process makes alone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.placement.subscribers import log, people, sites
from thatch.errors import SubscriptionError
from thatch.model.profile import Profile
from thatch.pipeline import place
from thatch.placement import PlacementOptions, SubscriptionList
from thatch.placement import place as place_here
from thatch.placement.slp import sampling

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


def tables(spark, rows, places, parts: int):
    filters = [(number, f"id{number}", who, str(each)) for number, (who, each) in enumerate(rows)]
    table = spark.createDataFrame(
        filters, "row bigint, subscription string, subscriber string, filter string"
    )
    points = [(who, places.points[at].tolist()) for who, at in places.row_of.items()]
    located = spark.createDataFrame(points, "subscriber string, location array<double>")
    return table.repartition(parts), located


@pytest.mark.parametrize("algorithm", ["gr_star", "slp_search"])
def test_spark_and_this_process_make_the_same_plan_though_the_table_is_split(spark, monkeypatch, algorithm):
    rows, places = people(11, 60, each=3)
    wanted = PlacementOptions(algorithm=algorithm, max_delay=3.0, seed=4)
    profile = Profile.of(log(11))
    alone = place_here(SubscriptionList(rows), sites(inner=2), places, wanted, profile=profile)
    table, located = tables(spark, rows, places, 3)
    monkeypatch.setattr(sampling, "_PIECE", 16)  # so that several tasks draw each sample
    there = place(table, sites(inner=2), located, wanted, profile=profile)
    assert there.subscribers == alone.subscribers
    assert there.filters == alone.filters
    assert there.statistics == alone.statistics
    np.testing.assert_array_equal(there.assignment, alone.assignment)
    np.testing.assert_array_equal(there.distances, alone.distances)
    for mine, theirs in zip(there.boxes, alone.boxes, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_table_without_rows_gives_one_plan_however_it_is_split(spark):
    rows, places = people(11, 60, each=3)
    plans = []
    for parts in (1, 3):
        table, located = tables(spark, rows, places, parts)
        plans.append(
            place(table.drop("row"), sites(), located, PlacementOptions(algorithm="gr_star", max_delay=3.0))
        )
    assert plans[0].subscribers == tuple(sorted(plans[0].subscribers)) == plans[1].subscribers
    assert plans[0].filters == plans[1].filters
    np.testing.assert_array_equal(plans[0].assignment, plans[1].assignment)


def test_rows_that_are_no_subscriptions_are_refused(spark):
    table = spark.createDataFrame([("a", "price >")], "subscription string, filter string")
    located = spark.createDataFrame([("a", 0.0)], "subscriber string, x double")
    with pytest.raises(SubscriptionError, match="a table in which every row is a subscription"):
        place(table, sites(), located)
