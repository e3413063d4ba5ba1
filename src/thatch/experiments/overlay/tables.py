"""How many subscriptions a broker has to know, over the diameter and by policy."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment, Plot
from thatch.experiments.overlay.network import FULL, QUICK, SIMULATION
from thatch.experiments.overlay.setting import SETTING, SHAPES, WAYS
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
    largest = max(results.values("brokers"))
    return [
        Compared(
            f"{shape} of {largest}, {policy}: entries of a broker, mean / largest",
            "–",
            each(
                number(None if mean is None else round(mean))
                for mean in (
                    results.mean(name, shape=shape, policy=policy, brokers=largest)
                    for name in ("mean_table", "largest_table")
                )
            ),
            _WHY.get(policy, ""),
        )
        for shape in SHAPES
        if len(results.values("brokers", shape=shape))
        for policy in WAYS
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
    plots=tuple(
        Plot(
            title=f"Entries of a routing table in the mean, {shape}",
            across="diameter",
            up="mean_table",
            by=("policy",),
            where={"shape": shape},
            x="diameter, in links",
            y="entries",
        )
        for shape in SHAPES
    ),
)
