"""Figure 4 and proposition 4: a subscription on a chain of brokers that may wrongly withhold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thatch.experiments.experiment import Comparison, Comparisons, Experiment, Plot
from thatch.experiments.results import Results, join, percent, ratio
from thatch.experiments.trials import Row, Simulation, Value, columns, grid, random_of
from thatch.workloads.ouksel2006 import HIGH, LOW, extreme_non_cover

__all__ = ["LOSSES"]

ROWS, ATTRIBUTES, GAP = 12, 2, 0.05  # subscriptions known to all brokers before: slabs around a gap
RHO = 0.2  # the probability that a broker publishes a wanted event
DELTAS = (0.3, 0.1, 0.01)


def _trial(seed: int, *, policy: str, brokers: int, delta: float, runs: int) -> Sequence[Row]:
    """Subscribe at one end, publish into the gap at some brokers, count what arrives, unsubscribe; many times."""
    from thatch.broker.messages import Subscribe
    from thatch.broker.settings import Routing
    from thatch.model.topology import Topology
    from thatch.reduction import Exact, Probabilistic
    from thatch.reduction.probabilistic import find_probability
    from thatch.runtime.simulated import SimulatedNetwork

    rng = random_of(seed, brokers, delta)
    case = extreme_non_cover(rng, ROWS, ATTRIBUTES, GAP)
    topology = Topology.line(brokers)
    network = SimulatedNetwork(topology, routing=Routing(way="subscriptions"), trusts_topology=True)
    network.run_until_quiet()
    is_exact = policy == "exact"
    for name in topology.brokers:  # random points of their own, so that errors are independent
        own = Exact() if is_exact else Probabilistic(delta, seed=int(rng.integers(2**31)))
        network.switch(Routing(way="subscriptions", policy=own), name)
    others, desk = network.connect("b1", "others"), network.connect("b1", "desk")
    feeds = [network.connect(name, f"feed of {name}") for name in topology.brokers]
    for low, high in zip(case.lows.tolist(), case.highs.tolist(), strict=True):
        others.subscribe(_text(low, high))
    wish, event = _text(case.low.tolist(), case.high.tolist()), _inside_the_gap(case.lows, case.highs)
    network.run_until_quiet()
    possible = found = sent = before = 0
    start = network.records.messages(Subscribe)
    for _ in range(runs):
        subscription = desk.subscribe(wish)
        network.run_until_quiet()
        chosen = rng.random(brokers) < RHO
        for feed, publishes in zip(feeds, chosen.tolist(), strict=True):
            if publishes:
                feed.publish(event)
        network.run_until_quiet()
        possible += bool(chosen.any())
        found += len(desk.received) > before
        before = len(desk.received)
        desk.unsubscribe(subscription)
        network.run_until_quiet()
    sent = network.records.messages(Subscribe) - start
    least = find_probability(RHO, delta, brokers) / (1 - (1 - RHO) ** brokers)
    return [
        {
            "possible": possible,
            "lost": possible - found,
            "lost_share": (possible - found) / possible if possible else 0.0,
            "bound": 0.0 if is_exact else 1 - least,
            "reached": sent / (runs * (brokers - 1)),
        }
    ]


def _text(low: list[int], high: list[int]) -> str:
    return " and ".join(
        f"a{axis} between {first} and {last}"
        for axis, (first, last) in enumerate(zip(low, high, strict=True))
    )


def _inside_the_gap(lows: Any, highs: Any) -> dict[str, int]:
    """An event that only the new subscription matches: in the free slice of the first attribute."""
    for value in range(LOW, HIGH, int((HIGH - LOW) * GAP / 2)):
        if not ((lows[:, 0] <= value) & (value <= highs[:, 0])).any():
            return {f"a{axis}": value if axis == 0 else (LOW + HIGH) // 2 for axis in range(ATTRIBUTES)}
    raise AssertionError("the subscriptions leave no gap")


SIMULATION = Simulation(
    name="overlay/chain", trial=_trial, results=columns(int="possible lost", float="lost_share bound reached")
)

_LENGTHS = (2, 4, 8, 16)
_FULL = grid(20, policy=("probabilistic",), brokers=_LENGTHS, delta=DELTAS, runs=(100,)) + grid(
    5, policy=("exact",), brokers=_LENGTHS, delta=DELTAS[:1], runs=(100,)
)
_QUICK = grid(1, policy=("probabilistic", "exact"), brokers=(2, 6), delta=DELTAS[:1], runs=(100,))


def _compare(results: Results) -> Comparisons:
    lengths = [int(size) for size in results.choices("brokers")]
    for delta in DELTAS:
        yield _compare_losses(
            results,
            lengths,
            f"error {delta:g}",
            "the bound assumes witnesses as rare as the estimate allows, which most are not; some thousand runs for each length",
            policy="probabilistic",
            delta=delta,
        )
    yield _compare_losses(results, lengths, "exact", "", policy="exact")


def _compare_losses(results: Results, lengths: list[int], what: str, why: str, **where: Value) -> Comparison:
    lost, possible = (
        [results.total(name, brokers=size, **where) for size in lengths] for name in ("lost", "possible")
    )
    return Comparison(
        f"chain of {' / '.join(map(str, lengths))}: lost, {what}",
        f"at most {results.show_means('bound', percent, brokers=tuple(lengths), **where) or '–'}",
        join(map(percent, map(ratio, lost, possible))),
        why,
    )


LOSSES = Experiment(
    name="overlay/losses",
    figure="Figure 4 and proposition 4",
    title="what is found on a chain of brokers",
    statement="The sum of rho [(1 - rho)(1 - (1 - rho_w)^d)]^(i - 1) over n brokers is a lower bound of the probability of "
    "finding the publication; the actual performance is much better.",
    setting=f"{ROWS} subscriptions that leave a gap are known everywhere; a new one around them arrives at the first broker; each "
    f"broker publishes an event in the gap with probability {RHO:g}. A run is lost if one was published and none arrived; the "
    "bound is the probability of a publication minus the paper's sum. The witness probability is the corrected "
    "one, which keeps the error of a hop; the errors are large, so that there is something to "
    "see. Every broker draws its own points. 20 gaps, 100 runs each; 5 with exact.",
    simulation=SIMULATION,
    full=_FULL,
    quick=_QUICK,
    compare=_compare,
    plots=tuple(
        Plot(title, "brokers", up, by=("policy", "delta"))
        for title, up in (("Lost publications", "lost_share"), ("What proposition 4 allows", "bound"))
    ),
)
