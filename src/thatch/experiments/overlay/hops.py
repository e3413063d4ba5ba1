"""How many subscriptions are still forwarded at a given distance from their subscriber."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, plot_each
from thatch.experiments.overlay.setting import SETTING, filters_of, routing_of, topology_of
from thatch.experiments.results import Results, join, percent, ratio
from thatch.experiments.trials import Row, Simulation, columns, grid, random_of

__all__ = ["HOPS"]

_SHAPES = ("line", "tree")
_POLICIES = ("pairwise", "exact")
_SOURCES = ("everywhere", "one end")
_SHOWN = (1, 2, 4, 8, 16, 31)


def _trial(
    seed: int, *, shape: str, policy: str, source: str, brokers: int, subscriptions: int
) -> Sequence[Row]:
    from thatch.runtime.simulated import SimulatedNetwork

    topology = topology_of(shape, brokers, random_of(seed, "shape"))
    network = SimulatedNetwork(topology, routing=routing_of(policy), trusts_topology=True)
    network.run_until_quiet()
    clients = [network.connect(broker, f"client of {broker}") for broker in topology.brokers]
    rng = random_of(seed)
    filters = filters_of(rng, subscriptions)
    if source == "one end":
        clients = clients[:1]
    chosen = rng.integers(len(clients), size=len(filters))
    origins = {}
    for number, (filter, client) in enumerate(zip(filters, chosen.tolist(), strict=True)):
        origins[clients[client].subscribe(filter, f"s{number}")] = clients[client].broker
        network.run_until_quiet()
    hops = {ends: len(topology.path(*ends)) - 1 for ends in product(topology.brokers, repeat=2)}
    sent: Counter[int] = Counter()
    for name in topology.brokers:
        for link in network.broker(name).tables.links.values():
            told = link.sent_subscriptions.told
            sent.update(hops[origins[subscription], name] + 1 for subscription in told)
    flooded: Counter[int] = Counter()
    for origin in origins.values():
        flooded.update(hops[origin, name] for name in topology.brokers if name != origin)
    return [
        {"hop": hop, "sent": sent[hop], "flooded": flooded[hop], "share": sent[hop] / flooded[hop]}
        for hop in sorted(flooded)
    ]


SIMULATION = Simulation(
    name="overlay/hops", trial=_trial, results=columns(int="hop sent flooded", float="share")
)

_grid = partial(grid, shape=_SHAPES, policy=_POLICIES, source=_SOURCES)


def _share(results: Results, hop: int, **where: str) -> float | None:
    return ratio(*(results.total(name, hop=hop, **where) for name in ("sent", "flooded")))


def _compare(results: Results) -> Comparisons:
    for shape, (source, why), policy in product(_SHAPES, _WHY.items(), _POLICIES):
        known = set(results.choices("hop", shape=shape))
        hops = [hop for hop in _SHOWN if hop in known]
        yield Comparison(
            f"{shape}, from {source}, {policy}: sent at hop {' / '.join(map(str, hops))}",
            "a local reduction, amplified exponentially in the diameter",
            join(percent(_share(results, hop, shape=shape, source=source, policy=policy)) for hop in hops),
            why,
        )


_WHY = {
    "everywhere": "with each hop the subscriptions of more brokers meet and more is withheld; the share falls to "
    "that of one link with all of them, and not exponentially",
    "one end": "the first link withholds all that can be withheld: the share is the same at every hop. The savings grow with "
    "the number of links, which is exponential in the diameter of a full tree, as is what flooding sends",
}

HOPS = Experiment(
    name="overlay/hops",
    figure="Sections 1 and 5",
    title="subscriptions that are still sent, by hops",
    statement="The benefit of any local reduction in the number of subscriptions forwarded is amplified exponentially in the "
    "network diameter.",
    setting=SETTING
    + "A subscription is sent at hop h if it passes a link after h - 1 others; the share is relative to "
    "flooding. `one end` is figure 4: all subscriptions begin at the first broker (the root of the tree).",
    simulation=SIMULATION,
    full=_grid(2, brokers=(32,), subscriptions=(1_000,)),
    quick=_grid(1, brokers=(8,), subscriptions=(150,)),
    compare=_compare,
    plots=plot_each(
        "shape", _SHAPES, "Share of subscriptions sent, {}", "hop", "share", by=("policy", "source")
    ),
)
