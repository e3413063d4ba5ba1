"""The page of a plan."""

from __future__ import annotations

import numpy as np
import pytest

from tests.placement.subscribers import homes, people, sites
from thatch import parse
from thatch.errors import ParameterError
from thatch.pipeline.jobs.place_report import place_report
from thatch.placement import PlacementOptions, SubscriptionList, place

QUICK = PlacementOptions(algorithm="gr_star", max_delay=3.0)


def test_the_page_shows_costs_loads_delays_and_a_map_in_the_attributes_asked_for():
    rows, places = people(5, 60)
    plan = place(SubscriptionList(rows), sites(inner=2), places, QUICK)
    html = place_report(
        plan, "them.csv", "thatch place", attributes=["symbol", "price"], refused=[(7, "bad")]
    ).html()
    for expected in (
        "Three costs at once",
        "closest",
        "Subscribers by broker",
        "Who waits",
        "row",
        "feasible",
    ):
        assert expected in html
    assert "symbol, share of events below" in html
    with pytest.raises(ParameterError, match=r"attributes of .*price, symbol"):
        place_report(plan, "them.csv", "", attributes=["colour"])


def test_a_page_for_those_who_want_everything_and_for_very_many():
    names = [f"s{number}" for number in range(2_500)]
    rows = [(name, parse("true")) for name in names]
    plan = place(SubscriptionList(rows), sites(), homes(names, np.linspace(-3, 3, 2_500)), QUICK)
    assert "2,000 points" in place_report(plan, "them.csv", "").html()
    assert {str(each) for each in plan.filters if each is not None} == {"true"}
