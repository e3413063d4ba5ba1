"""A whole network: subscriptions at random brokers, then events, and what both cost."""

from __future__ import annotations

from collections.abc import Sequence

from thatch.experiments.overlay.setting import SHAPES, WAYS, events_of, filters_of, routing_of, topology_of
from thatch.experiments.trials import Parameters, Row, Simulation, grid, random_of

__all__ = ["FULL", "QUICK", "SIMULATION", "SIZES"]

SIZES = (2, 4, 8, 16, 32, 64)  # brokers
PUBLISHERS = 4

FULL = grid(2, shape=SHAPES, policy=WAYS, brokers=SIZES, subscriptions=(500,), events=(200,))
QUICK = grid(1, shape=SHAPES[:2], policy=WAYS, brokers=(2, 8), subscriptions=(150,), events=(20,))


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    from thatch.broker.messages import Subscribe, Unsubscribe
    from thatch.runtime.simulated.scenario import Interest, Scenario, play

    shape, brokers = str(parameters["shape"]), int(parameters["brokers"])
    topology = topology_of(shape, brokers, random_of(seed, shape, brokers))
    rng = random_of(seed)  # the same subscriptions and events for all networks and policies
    filters = filters_of(rng, int(parameters["subscriptions"]))
    scenario = Scenario(
        topology=topology,
        interests=[Interest(f"s{place}", f"c{place}", each) for place, each in enumerate(filters)],
        events=events_of(rng, int(parameters["events"])),
        routing=routing_of(str(parameters["policy"])),
        publishers=PUBLISHERS,
        stages=1,
        seed=seed,
    )
    played = play(scenario)
    records, grown = played.records, played.growth[-1]
    told = records.by_kind()
    return [
        {
            "diameter": topology.diameter,
            "messages": records.messages(Subscribe, Unsubscribe),
            "bytes": sum(told.get(kind, (0, 0))[1] for kind in ("subscribe", "unsubscribe")),
            "largest_table": grown.largest_table,
            "mean_table": grown.mean_table,
            "publications": records.publications_sent,
            "superfluous": records.superfluous,
            "deliveries": len(records.deliveries),
            "lost": played.missed,
        }
    ]


SIMULATION = Simulation(
    name="overlay/network",
    trial=_trial,
    parameters={"shape": str, "policy": str, "brokers": int, "subscriptions": int, "events": int},
    results={
        "diameter": int,
        "messages": int,
        "bytes": int,
        "largest_table": int,
        "mean_table": float,
        "publications": int,
        "superfluous": int,
        "deliveries": int,
        "lost": int,
    },
)
