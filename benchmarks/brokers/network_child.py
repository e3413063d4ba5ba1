"""One simulated network in a process of its own: its processor time, messages, tables and memory."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np

from benchmarks.child import answer
from thatch.broker.messages import Subscribe, Unsubscribe
from thatch.broker.settings import Routing
from thatch.experiments.overlay.setting import events_of, filters_of
from thatch.model.filters import Filter
from thatch.model.topology import Topology
from thatch.reduction import Exact, Flooding, Pairwise
from thatch.runtime.simulated.scenario import Interest, Played, Scenario, play

__all__: list[str] = []

_POLICIES = {"flooding": Flooding(), "pairwise": Pairwise(), "exact": Exact()}


def _measured(request: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(request["seed"])
    filters = filters_of(rng, request["subscriptions"])
    events = events_of(rng, request["events"])
    _played(request, filters[:300], events, 10)  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    played = _played(request, filters, events, request["brokers"])
    seconds = time.process_time() - start
    records = played.records
    return {
        "seconds": seconds,
        "memory": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024,
        "diameter": played.scenario.topology.diameter,
        "messages": records.messages(Subscribe, Unsubscribe),
        "bytes": records.by_kind()["subscribe"][1],
        "growth": [each._asdict() for each in played.growth],
        "publications": records.publications_sent,
        "superfluous": records.superfluous,
        "deliveries": len(records.deliveries),
        "missed": played.missed,
    }


def _played(request: dict[str, Any], filters: list[Filter], events: list[Any], brokers: int) -> Played:
    scenario = Scenario(
        topology=Topology.random_tree(brokers, np.random.default_rng(request["seed"])),
        interests=[Interest(f"s{place}", f"c{place}", each) for place, each in enumerate(filters)],
        events=events,
        routing=Routing(way=request["way"], policy=_POLICIES[request["policy"]]),
        stages=10,
        seed=request["seed"],
    )
    return play(scenario)


if __name__ == "__main__":
    answer(_measured)
