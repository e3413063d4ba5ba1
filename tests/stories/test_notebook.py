"""A notebook: a DataFrame of events is matched on Spark and joined with its events again."""

from __future__ import annotations

from random import Random

import pytest

from thatch.pipeline import match

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


def test_matches_of_a_dataframe_join_with_its_events_and_agree_with_plain_python(spark):
    rng = Random(6)
    orders = [
        (
            f"order-{number}",
            rng.choice("ABC"),
            rng.choice([None, *range(100)]),
            rng.choice([None, "gift", "bulk"]),
        )
        for number in range(500)
    ]
    rules = {f"desk-{number}": (rng.choice("ABC"), rng.randrange(100)) for number in range(40)}
    filters = [(name, f"kind = '{kind}' and total >= {least}") for name, (kind, least) in rules.items()]
    filters.append(("no-note", "note is missing and total < 10"))
    events = spark.createDataFrame(orders, "id string, kind string, total int, note string")
    subscriptions = spark.createDataFrame(filters, "subscription string, filter string")
    found = match(events, subscriptions, event="id")
    joined = found.withColumnRenamed("event", "id").join(events, "id").select("id", "subscription", "total")
    expected = {
        (order, name, total)
        for order, kind, total, note in orders
        for name in [*rules, "no-note"]
        if total is not None
        and (
            (note is None and total < 10)
            if name == "no-note"
            else kind == rules[name][0] and total >= rules[name][1]
        )
    }
    rows = [tuple(row) for row in joined.collect()]
    assert len(rows) == len(set(rows))
    assert set(rows) == expected
    assert len(expected) > 500
