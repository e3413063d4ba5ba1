"""Whole networks: subscription messages, routing tables and publications over the diameter, by policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, plot_each
from thatch.experiments.overlay.setting import (
    POLICIES,
    SETTING,
    SHAPES,
    WAYS,
    events_of,
    filters_of,
    routing_of,
    topology_of,
)
from thatch.experiments.results import Results, join, number, percent, ratio
from thatch.experiments.trials import Row, Simulation, Value, columns, grid, random_of

__all__ = ["MESSAGES", "PUBLICATIONS", "TABLES"]

SIZES = (2, 4, 8, 16, 32, 64)  # brokers
PUBLISHERS = 4

FULL = grid(2, shape=SHAPES, policy=WAYS, brokers=SIZES, subscriptions=(500,), events=(200,))
QUICK = grid(1, shape=SHAPES[:2], policy=WAYS, brokers=(2, 8), subscriptions=(150,), events=(20,))


def _trial(
    seed: int, *, shape: str, policy: str, brokers: int, subscriptions: int, events: int
) -> Sequence[Row]:
    from thatch.broker.messages import Subscribe, Unsubscribe
    from thatch.runtime.simulated.scenario import Interest, Scenario, play

    topology = topology_of(shape, brokers, random_of(seed, shape, brokers))
    rng = random_of(seed)  # the same subscriptions and events for all networks and policies
    filters = filters_of(rng, subscriptions)
    scenario = Scenario(
        topology=topology,
        interests=[Interest(f"s{which}", f"c{which}", each) for which, each in enumerate(filters)],
        events=events_of(rng, events),
        routing=routing_of(policy),
        publishers=PUBLISHERS,
        stages=1,
        seed=seed,
    )
    played = play(scenario)
    records, grown = played.records, played.growth[-1]
    by_kind = records.by_kind()
    return [
        {
            "diameter": topology.diameter,
            "messages": records.messages(Subscribe, Unsubscribe),
            "bytes": sum(by_kind.get(kind, (0, 0))[1] for kind in ("subscribe", "unsubscribe")),
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
    results=columns(
        int="diameter messages bytes largest_table publications superfluous deliveries lost",
        float="mean_table",
    ),
)


_figure = partial(Experiment, simulation=SIMULATION, full=FULL, quick=QUICK)


def _largest_networks(results: Results) -> Iterator[tuple[str, str, dict[str, Value]]]:
    """The largest network of each shape with each way to route: its name, the way, and the values of its rows."""
    largest = max(results.values("brokers"))
    for shape, way in product(SHAPES, WAYS):
        if len(results.values("brokers", shape=shape)):
            yield f"{shape} of {largest}, {way}", way, {"shape": shape, "policy": way, "brokers": largest}


_over_diameter = partial(plot_each, "shape", SHAPES, across="diameter", by=("policy",))


def _compare_messages(results: Results) -> Comparisons:
    for shape in SHAPES:
        sizes = tuple(int(each) for each in results.choices("brokers", shape=shape))
        if not sizes:
            continue
        networks = f"{shape} of {' / '.join(map(str, sizes))} brokers"
        yield Comparison(
            f"{networks}: subscription messages, flooding",
            "–",
            results.show_means("messages", policy="flooding", brokers=sizes, shape=shape),
            f"subscriptions times links: {'so in every trial' if _is_product(results, shape) else 'NOT SO'}",
        )
        flooded, *others = (
            [results.mean("messages", policy=policy, brokers=size, shape=shape) for size in sizes]
            for policy in POLICIES
        )
        for means, (policy, why) in zip(others, _WHY_MESSAGES.items(), strict=True):
            yield Comparison(
                f"{networks}: of these, {policy}",
                "even modest local reductions lead to substantial global reductions",
                join(map(percent, map(ratio, means, flooded))),
                why,
            )


def _is_product(results: Results, shape: str) -> bool:
    """Whether flooding sends each subscription once over each link, in every trial."""
    where: dict[str, Value] = {"shape": shape, "policy": "flooding"}
    columns = [results.values(name, **where) for name in ("messages", "subscriptions", "brokers")]
    return bool((columns[0] == columns[1] * (columns[2] - 1)).all())


_WHY_MESSAGES = {
    "pairwise": "",
    "exact": "the share falls with the size of the network, on a line hardly beyond 16 brokers: see overlay/hops",
    "merging": "mergers are messages too, and so are the withdrawals of their parts",
    "probabilistic": "fewer than exact where it withholds wrongly: see overlay/losses",
}

MESSAGES = _figure(
    name="overlay/messages",
    figure="Section 1",
    title="subscription messages over the diameter",
    statement="Even modest local reductions lead to substantial global reductions in network traffic during subscription "
    "propagation.",
    setting=SETTING,
    compare=_compare_messages,
    plots=_over_diameter(title="Subscription messages, {}", up="messages"),
)


_WHY_PUBLICATIONS = {
    "events": "every event over every link",
    "flooding": "over the links beyond which somebody wants it",
    "pairwise": "the same links as flooding: withheld subscriptions are covered",
    "exact": "the same links as flooding: withheld subscriptions are covered",
    "merging": "the same and the false positives of mergers, which brokers drop",
    "probabilistic": "fewer where a subscription was wrongly withheld",
}
_WHY_TABLES = {
    "events": "only its own clients' subscriptions",
    "flooding": "all subscriptions, everywhere",
    "merging": "one entry for several",
    "probabilistic": "smaller than exact where it withholds wrongly",
}


def _compare_tables(results: Results) -> Comparisons:
    for network, way, where in _largest_networks(results):
        yield Comparison(
            f"{network}: entries of a broker, mean / largest",
            "–",
            results.show_means(("mean_table", "largest_table"), _whole, **where),
            _WHY_TABLES.get(way, ""),
        )


def _whole(mean: float | None) -> str | None:
    return None if mean is None else number(round(mean))


TABLES = _figure(
    name="overlay/tables",
    figure="Section 1",
    title="routing tables over the diameter",
    statement="Covered subscriptions are not propagated further, which reduces the number of subscriptions in the system, "
    "saving memory and computation.",
    setting=SETTING
    + "A table holds a broker's own clients' subscriptions and what its neighbours forwarded.",
    compare=_compare_tables,
    plots=_over_diameter(title="Entries of a routing table in the mean, {}", up="mean_table"),
)


def _compare_publications(results: Results) -> Comparisons:
    for network, way, where in _largest_networks(results):
        yield Comparison(
            f"{network}: publications sent / sent needlessly / lost deliveries",
            "–",
            results.show_means(("publications", "superfluous", "lost"), **where),
            _WHY_PUBLICATIONS[way],
        )
    for policy in WAYS:
        paper, why = _LOST.get(policy, ("–", ""))
        what = f"lost deliveries of all wanted ones, all networks, {policy}"
        yield Comparison(what, paper, _lost(results, policy), why)


_LOST = {
    "probabilistic": (
        "acceptable for many applications",
        "the paper's witness probability is not a bound; at most 1,000 points",
    )
}


def _lost(results: Results, policy: str) -> str | None:
    lost, delivered = (results.total(name, policy=policy) for name in ("lost", "deliveries"))
    if lost is None or delivered is None:
        return None
    return f"{number(lost)} of {number(lost + delivered)}"


PUBLICATIONS = _figure(
    name="overlay/publications",
    figure="Sections 1 and 2",
    title="publication traffic over the diameter, and what is lost",
    statement="Subscriptions are propagated so that a publication travels only where it is wanted; a probabilistic decision "
    "may lose some.",
    setting=SETTING,
    compare=_compare_publications,
    plots=_over_diameter(title="Publications sent from broker to broker, {}", up="publications"),
)
