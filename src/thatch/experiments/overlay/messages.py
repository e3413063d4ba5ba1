"""How many messages make subscriptions known, over the diameter and by policy."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.overlay.drawings import over_diameter
from thatch.experiments.overlay.network import FULL, QUICK, SIMULATION
from thatch.experiments.overlay.setting import POLICIES, SETTING, SHAPES
from thatch.experiments.results import Results
from thatch.experiments.telling import each, number, percent
from thatch.experiments.trials import Value

__all__ = ["MESSAGES"]


def _compare(results: Results) -> list[Compared]:
    lines = []
    for shape in SHAPES:
        where: dict[str, Value] = {"shape": shape}
        sizes = [int(each) for each in results.choices("brokers", **where)]
        if not sizes:
            continue
        told = f"{shape} of {' / '.join(map(str, sizes))} brokers"
        flooded = [results.mean("messages", policy="flooding", brokers=size, **where) for size in sizes]
        lines.append(
            Compared(
                f"{told}: subscription messages, flooding",
                "–",
                each(map(number, flooded)),
                f"subscriptions times links: {'so in every trial' if _is_product(results, shape) else 'NOT SO'}",
            )
        )
        for policy in POLICIES[1:]:
            means = [results.mean("messages", policy=policy, brokers=size, **where) for size in sizes]
            lines.append(
                Compared(
                    f"{told}: of these, {policy}",
                    "even modest local reductions lead to substantial global reductions",
                    each(
                        percent(mean / most if mean is not None and most else None)
                        for mean, most in zip(means, flooded, strict=True)
                    ),
                    _WHY[policy],
                )
            )
    return lines


def _is_product(results: Results, shape: str) -> bool:
    """Whether flooding sends each subscription once over each link, in every trial."""
    where: dict[str, Value] = {"shape": shape, "policy": "flooding"}
    columns = [results.values(name, **where) for name in ("messages", "subscriptions", "brokers")]
    return bool((columns[0] == columns[1] * (columns[2] - 1)).all())


_WHY = {
    "pairwise": "",
    "exact": "the share falls with the size of the network, on a line hardly beyond 16 brokers: see overlay/hops",
    "merging": "mergers are messages too, and so is taking back what they are made of",
    "probabilistic": "less than exact where it leaves out wrongly: see overlay/losses",
}

MESSAGES = Experiment(
    name="overlay/messages",
    figure="Section 1",
    title="subscription messages over the diameter",
    statement="Even modest local reductions lead to substantial global reductions in network traffic during subscription "
    "propagation.",
    setting=SETTING,
    simulation=SIMULATION,
    full=FULL,
    quick=QUICK,
    compare=_compare,
    plots=over_diameter("Subscription messages", "messages", "messages"),
)
