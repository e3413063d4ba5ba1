"""What events cost: event flooding, and routing by subscriptions, which sends none in vain."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.overlay.network import FULL, QUICK, SIMULATION
from thatch.experiments.overlay.setting import SETTING, SHAPES, WAYS
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number

__all__ = ["PUBLICATIONS"]

_WHY = {
    "events": "every event over every link",
    "flooding": "over the links beyond which somebody wants it",
    "pairwise": "the same links as flooding: what is left out is covered",
    "exact": "the same links as flooding: what is left out is covered",
    "merging": "what mergers let through in vain besides; brokers drop it",
    "probabilistic": "fewer where a subscription was wrongly left out",
}


def _compare(results: Results) -> list[Compared]:
    largest = max(results.values("brokers"))
    lines = [
        Compared(
            f"{shape} of {largest}, {policy}: publications sent / sent in vain / lost deliveries",
            "–",
            each(
                number(results.mean(name, shape=shape, policy=policy, brokers=largest))
                for name in ("publications", "superfluous", "lost")
            ),
            _WHY[policy],
        )
        for shape in SHAPES
        if len(results.values("brokers", shape=shape))
        for policy in WAYS
    ]
    lines += [
        Compared(
            f"lost of all deliveries that were wanted, all networks, {policy}",
            "–" if policy != "probabilistic" else "acceptable for many applications",
            _lost(results, policy),
            ""
            if policy != "probabilistic"
            else "the paper's witness probability is no bound; at most 1,000 points",
        )
        for policy in WAYS
    ]
    return lines


def _lost(results: Results, policy: str) -> str | None:
    lost, delivered = (results.total(name, policy=policy) for name in ("lost", "deliveries"))
    if lost is None or delivered is None:
        return None
    return f"{number(lost)} of {number(lost + delivered)}"


PUBLICATIONS = Experiment(
    name="overlay/publications",
    figure="Sections 1 and 2",
    title="publication traffic over the diameter, and what is lost",
    statement="Subscriptions are propagated so that a publication travels only where it is wanted; a probabilistic decision "
    "may lose some.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=tuple(
        Plot(
            title=f"Publications sent from broker to broker, {shape}",
            across="diameter",
            up="publications",
            by=("policy",),
            where={"shape": shape},
            x="diameter, in links",
            y="publications",
        )
        for shape in SHAPES
    ),
)
