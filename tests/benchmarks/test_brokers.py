"""The benchmark of brokers runs; the broker that is measured has neighbours that answer it."""

from __future__ import annotations

import json

import pytest

import thatch
from benchmarks.brokers.command import main
from benchmarks.brokers.neighbourhood import Neighbourhood
from thatch.broker.messages import Subscribe
from thatch.broker.settings import Routing

pytestmark = pytest.mark.slow


def test_a_broker_and_its_neighbours_are_measured_printed_and_kept(tmp_path, capsys):
    rows = main(["--quick"])
    assert {row.unit for row in rows} == {"/s", "B"}
    assert all(row.ours > 0 for row in rows)
    assert "publish, one broker" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "brokers-part.json").read_text())["rows"]) == len(rows)
    empty, idle = (
        row for row in rows if row.what.startswith(("an empty ForwardingSet", "a link that is idle"))
    )
    assert empty.verdict() == "yes"
    assert idle.ours < 10_000


def test_flooding_in_a_network_is_the_product_of_subscriptions_and_links():
    (row,) = main(["--quick", "--only", "flooding"])
    assert row.details["subscription messages"] == 20 * 99
    assert row.details["in vain"] == 0


def test_subscriptions_travel_between_the_middle_and_its_neighbours():
    around = Neighbourhood(Routing(way="subscriptions"), 2)
    around.connect("desk", "n0")
    for number in range(20):
        wish = Subscribe(subscription=f"s{number}", filter=thatch.parse(f"price = {number}"))
        around.say("desk", wish, "n0")
    assert around.broker.stats()["subscriptions"] == around.broker.stats()["forwarded"] == 20
    assert around.around["n1"].stats()["subscriptions"] == 20
    assert around.broker.stats()["unacknowledged"] < 8
    assert around.seconds > 0
