"""A live network as a placement problem."""

from __future__ import annotations

import asyncio

import pytest

import thatch
from thatch.app.placing import list_moves, place_network
from thatch.errors import ParameterError
from thatch.model.topology import Link, Topology
from thatch.placement import PlacementOptions, PlacementPlan

OFFICES = Topology(
    ("hub", "west", "east"),
    (Link(one="hub", other="west", latency=0.02), Link(one="east", other="hub", latency=0.03)),
)


async def planned() -> tuple[PlacementPlan, list[tuple[str, str, str]]]:
    async with thatch.Network(OFFICES, routing=thatch.Routing(way="subscriptions")) as net:
        desks = [
            await net.connect(broker, f"desk-{number}")
            for number, broker in enumerate(("west", "hub", "east"))
        ]
        streams = [desk.subscribe(f"price < {10 * (number + 1)}") for number, desk in enumerate(desks)]
        streams.append(desks[0].subscribe("symbol = 'IBM'"))
        gone = desks[1].subscribe("price > 90")
        for stream in (*streams, gone):
            await stream
        await gone.close()
        await net.settle()
        plan = place_network(net, "hub", PlacementOptions(algorithm="gr_star", max_delay=5.0))
        return plan, list_moves(net, plan)


def test_the_clients_of_a_network_are_placed_on_its_leaves():
    plan, wanted = asyncio.run(planned())
    assert ("desk-1", "hub", plan.broker_of("desk-1")) in wanted  # inner brokers take nobody
    assert all(there == plan.broker_of(who) != now for who, now, there in wanted)
    assert set(plan.subscribers) == {"desk-0", "desk-1", "desk-2"}
    assert plan.tree.names == ("hub", "west", "east")
    assert plan.tree.distances.tolist() == pytest.approx([0.0, 0.02, 0.03])
    assert plan.loads.sum() == 3
    for who, text in (("desk-0", "symbol = 'IBM'"), ("desk-1", "price < 20"), ("desk-2", "price < 30")):
        asked = plan.filters[plan.tree.names.index(plan.broker_of(who))]
        assert asked.covers(thatch.parse(text))
    assert not any(each.covers(thatch.parse("price > 90")) for each in plan.filters if each is not None)


def test_a_root_that_is_no_broker_is_refused():
    async def wrong() -> None:
        async with thatch.Network(OFFICES) as net:
            place_network(net, "moon")

    with pytest.raises(ParameterError, match="one of the brokers as root"):
        asyncio.run(wrong())
