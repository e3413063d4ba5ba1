"""Figure 4 and proposition 4: a subscription on a chain of brokers that may wrongly withhold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.results import Results
from thatch.experiments.telling import each, percent
from thatch.experiments.trials import Parameters, Row, Simulation, Value, grid, random_of
from thatch.reports import Axis
from thatch.workloads.ouksel2006 import HIGH, LOW, extreme_non_cover

__all__ = ["LOSSES"]

ROWS, ATTRIBUTES, GAP = 12, 2, 0.05  # what is known on all brokers before: slabs around a gap
RHO = 0.2  # that a broker publishes what is looked for
DELTAS = (0.3, 0.1, 0.01)


def _trial(parameters: Parameters, seed: int) -> Sequence[Row]:
    """Subscribe at one end, publish at some brokers into the gap, see whether it is found, unsubscribe; many times."""
    from thatch.broker.messages import Subscribe
    from thatch.broker.settings import Routing
    from thatch.model.topology import Topology
    from thatch.reduction import Exact, Probabilistic
    from thatch.reduction.probabilistic import find_probability
    from thatch.runtime.simulated import SimulatedNetwork

    brokers, delta, runs = (parameters[name] for name in ("brokers", "delta", "runs"))
    rng = random_of(seed, brokers, delta)
    case = extreme_non_cover(rng, ROWS, ATTRIBUTES, GAP)
    topology = Topology.line(int(brokers))
    network = SimulatedNetwork(topology, routing=Routing(way="subscriptions"), trusts_topology=True)
    network.run_until_quiet()
    is_exact = parameters["policy"] == "exact"
    for name in topology.brokers:  # random points of their own: errors do not depend on each other
        policy = Exact() if is_exact else Probabilistic(float(delta), seed=int(rng.integers(2**31)))
        network.switch(Routing(way="subscriptions", policy=policy), name)
    others, desk = network.connect("b1", "others"), network.connect("b1", "desk")
    feeds = [network.connect(name, f"feed of {name}") for name in topology.brokers]
    for low, high in zip(case.lows.tolist(), case.highs.tolist(), strict=True):
        others.subscribe(_text(low, high))
    wish, event = _text(case.low.tolist(), case.high.tolist()), _inside_the_gap(case.lows, case.highs)
    network.run_until_quiet()
    possible = found = sent = before = 0
    start = network.records.messages(Subscribe)
    for _ in range(int(runs)):
        subscription = desk.subscribe(wish)
        network.run_until_quiet()
        chosen = rng.random(int(brokers)) < RHO
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
    least = find_probability(RHO, float(delta), int(brokers)) / (1 - (1 - RHO) ** int(brokers))
    return [
        {
            "possible": possible,
            "lost": possible - found,
            "lost_share": (possible - found) / possible if possible else 0.0,
            "bound": 0.0 if is_exact else 1 - least,
            "reached": sent / (int(runs) * (int(brokers) - 1)),
        }
    ]


def _text(low: list[int], high: list[int]) -> str:
    return " and ".join(
        f"a{axis} between {first} and {last}"
        for axis, (first, last) in enumerate(zip(low, high, strict=True))
    )


def _inside_the_gap(lows: Any, highs: Any) -> dict[str, int]:
    """An event that the new subscription wants and no other does: in the slice of the first attribute that is free."""
    for value in range(LOW, HIGH, int((HIGH - LOW) * GAP / 2)):
        if not ((lows[:, 0] <= value) & (value <= highs[:, 0])).any():
            return {f"a{axis}": value if axis == 0 else (LOW + HIGH) // 2 for axis in range(ATTRIBUTES)}
    raise AssertionError("there is no gap")


SIMULATION = Simulation(
    name="overlay/chain",
    trial=_trial,
    parameters={"policy": str, "brokers": int, "delta": float, "runs": int},
    results={"possible": int, "lost": int, "lost_share": float, "bound": float, "reached": float},
)

_LENGTHS = (2, 4, 8, 16)
_FULL = grid(20, policy=("probabilistic",), brokers=_LENGTHS, delta=DELTAS, runs=(100,)) + grid(
    5, policy=("exact",), brokers=_LENGTHS, delta=DELTAS[:1], runs=(100,)
)
_QUICK = grid(1, policy=("probabilistic", "exact"), brokers=(2, 6), delta=DELTAS[:1], runs=(100,))


def _compare(results: Results) -> list[Compared]:
    lengths = [int(each) for each in results.choices("brokers")]
    told = f"chain of {' / '.join(map(str, lengths))}"

    def line(what: str, why: str, **where: Value) -> Compared:
        bounds = [results.mean("bound", brokers=size, **where) for size in lengths]
        sums = [
            [results.total(name, brokers=size, **where) for size in lengths] for name in ("lost", "possible")
        ]
        shares = [
            lost / possible if lost is not None and possible else None
            for lost, possible in zip(*sums, strict=True)
        ]
        return Compared(
            f"{told}: lost, {what}",
            f"at most {each(map(percent, bounds)) or '–'}",
            each(map(percent, shares)),
            why,
        )

    return [
        *(
            line(
                f"error {delta:g}",
                "the bound is for witnesses as rare as the estimate allows, which most are not; of some thousand runs a length",
                policy="probabilistic",
                delta=delta,
            )
            for delta in DELTAS
        ),
        line("exact", "", policy="exact"),
    ]


LOSSES = Experiment(
    name="overlay/losses",
    figure="Figure 4 and proposition 4",
    title="what is found on a chain of brokers",
    statement="The sum of rho [(1 - rho)(1 - (1 - rho_w)^d)]^(i - 1) over n brokers is a lower bound of the probability of "
    "finding the publication; the actual performance is much better.",
    setting=f"{ROWS} subscriptions that leave a gap are known everywhere; a new one around them comes at the first broker; each "
    f"broker publishes an event in the gap with probability {RHO:g}. It is lost if somebody published one and none arrived; what "
    "the paper's sum leaves of the probability that somebody does is the bound. The witness probability is the corrected "
    "one, so that the error of a hop is at most what is asked for; loose errors are asked for, so that there is something to "
    "see. Every broker draws points of its own. 20 gaps, 100 runs each; 5 with exact.",
    simulation=SIMULATION,
    full=_FULL,
    quick=_QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=title,
            across="brokers",
            up=up,
            by=("policy", "delta"),
            x="brokers of the chain",
            y=Axis("lost", format="percent"),
        )
        for title, up in (("Lost publications", "lost_share"), ("What proposition 4 allows", "bound"))
    ),
)
