"""How many subscriptions a broker has to know, over the diameter and by policy."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.overlay.drawings import largest_networks, over_diameter
from thatch.experiments.overlay.network import FULL, QUICK, SIMULATION
from thatch.experiments.overlay.setting import SETTING
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number

__all__ = ["TABLES"]

_WHY = {
    "events": "only its own clients' subscriptions",
    "flooding": "all subscriptions, everywhere",
    "merging": "one entry for several",
    "probabilistic": "smaller than exact where it leaves out wrongly",
}


def _compare(results: Results) -> list[Compared]:
    return [
        Compared(
            f"{network}: entries of a broker, mean / largest",
            "–",
            each(
                number(None if mean is None else round(mean))
                for mean in (results.mean(name, **where) for name in ("mean_table", "largest_table"))
            ),
            _WHY.get(way, ""),
        )
        for network, way, where in largest_networks(results)
    ]


TABLES = Experiment(
    name="overlay/tables",
    figure="Section 1",
    title="routing tables over the diameter",
    statement="Covered subscriptions are not propagated further, which reduces the number of subscriptions in the system, "
    "saving memory and computation.",
    setting=SETTING
    + "A table holds a broker's own clients' subscriptions and what its neighbours forwarded.",
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=over_diameter("Entries of a routing table in the mean", "mean_table", "entries"),
)
