"""How many subscriptions are still sent on so many links away from where they began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.overlay.setting import SETTING, filters_of, routing_of, topology_of
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.experiments.trials import Parameters, Row, Simulation, grid, random_of
from thatch.model.topology import Topology
from thatch.reports import Axis

__all__ = ["HOPS"]

_POLICIES = ("pairwise", "exact")
_SOURCES = ("everywhere", "one end")
_TOLD = (1, 2, 4, 8, 16, 31)


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    from thatch.runtime.simulated import SimulatedNetwork

    topology = topology_of(str(parameters["shape"]), int(parameters["brokers"]), random_of(seed, "shape"))
    routing = routing_of(str(parameters["policy"]))
    network = SimulatedNetwork(topology, routing=routing, trusts_topology=True)
    network.run_until_quiet()
    clients = [network.connect(broker, f"client of {broker}") for broker in topology.brokers]
    rng = random_of(seed)
    filters = filters_of(rng, int(parameters["subscriptions"]))
    if parameters["source"] == "one end":
        clients = clients[:1]
    places = rng.integers(len(clients), size=len(filters))
    origins = {}
    for number, (filter, place) in enumerate(zip(filters, places.tolist(), strict=True)):
        origins[clients[place].subscribe(filter, f"s{number}")] = clients[place].broker
        network.run_until_quiet()
    hops = _hops(topology)
    sent: Counter[int] = Counter()
    for name in topology.brokers:
        for link in network.broker(name).tables.links.values():
            if link.forwarded is not None:
                sent.update(hops[origins[subscription], name] + 1 for subscription in link.forwarded.told)
    flooded: Counter[int] = Counter()
    for origin in origins.values():
        flooded.update(hops[origin, name] for name in topology.brokers if name != origin)
    return [
        {"hop": hop, "sent": sent[hop], "flooded": flooded[hop], "share": sent[hop] / flooded[hop]}
        for hop in sorted(flooded)
    ]


def _hops(topology: Topology) -> dict[tuple[str, str], int]:
    """How many links any two brokers are apart."""
    found = {}
    for start in topology.brokers:
        found[start, start] = 0
        pending = [start]
        for here in pending:
            for name in topology.neighbours(here):
                if (start, name) not in found:
                    found[start, name] = found[start, here] + 1
                    pending.append(name)
    return found


SIMULATION = Simulation(
    name="overlay/hops",
    trial=_trial,
    parameters={"shape": str, "policy": str, "source": str, "brokers": int, "subscriptions": int},
    results={"hop": int, "sent": int, "flooded": int, "share": float},
)

_FULL = grid(
    2, shape=("line", "tree"), policy=_POLICIES, source=_SOURCES, brokers=(32,), subscriptions=(1_000,)
)
_QUICK = grid(
    1, shape=("line", "tree"), policy=_POLICIES, source=_SOURCES, brokers=(8,), subscriptions=(150,)
)


def _share(results: Results, hop: int, **where: str) -> float | None:
    sums = [results.total(name, hop=hop, **where) for name in ("sent", "flooded")]
    return None if None in sums else sums[0] / sums[1]  # type: ignore[operator]


def _compare(results: Results) -> list[Compared]:
    lines = []
    for shape in ("line", "tree"):
        known = set(results.choices("hop", shape=shape))
        told = [hop for hop in _TOLD if hop in known]
        for source in _SOURCES:
            lines += [
                Compared(
                    f"{shape}, from {source}, {policy}: sent at hop {' / '.join(map(str, told))}",
                    "a local reduction, amplified exponentially in the diameter",
                    each(
                        percent(_share(results, hop, shape=shape, source=source, policy=policy))
                        for hop in told
                    ),
                    _WHY[source],
                )
                for policy in _POLICIES
            ]
    return lines


_WHY = {
    "everywhere": "with each hop the subscriptions of more brokers come together and more is left out; the share falls to "
    "what one link with all of them would send, and not exponentially",
    "one end": "the first link finds all that there is to find: the share is the same at every hop. What is saved grows as "
    "the number of links, exponential in the diameter of a full tree as is what flooding sends",
}

HOPS = Experiment(
    name="overlay/hops",
    figure="Sections 1 and 5",
    title="subscriptions that are still sent, by hops",
    statement="The benefit of any local reduction in the number of subscriptions forwarded is amplified exponentially in the "
    "network diameter.",
    setting=SETTING
    + "A subscription is sent at hop h if it passes a link that h - 1 others lie before; the share is of those that "
    "flooding sends there. `one end` is figure 4: all subscriptions begin at the first broker (the root of the tree).",
    simulation=SIMULATION,
    full=_FULL,
    quick=_QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Share of subscriptions sent, {shape}",
            across="hop",
            up="share",
            by=("policy", "source"),
            where={"shape": shape},
            x="hops from the subscriber",
            y=Axis("of flooding", format="percent"),
        )
        for shape in ("line", "tree")
    ),
)
