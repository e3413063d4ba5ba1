"""What events cost: event flooding, and routing by subscriptions, which sends none in vain."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.overlay.drawings import largest_networks, over_diameter
from thatch.experiments.overlay.network import FULL, QUICK, SIMULATION
from thatch.experiments.overlay.setting import SETTING, WAYS
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
    lines = [
        Compared(
            f"{network}: publications sent / sent in vain / lost deliveries",
            "–",
            each(number(results.mean(name, **where)) for name in ("publications", "superfluous", "lost")),
            _WHY[way],
        )
        for network, way, where in largest_networks(results)
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
    plots=over_diameter("Publications sent from broker to broker", "publications", "publications"),
)
