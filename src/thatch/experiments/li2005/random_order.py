"""Section 6: what a random order of attributes costs."""

from __future__ import annotations

from thatch.experiments.experiment import Compared, Experiment
from thatch.experiments.li2005.setting import COUNT, SCALE, SETTING, SMALL
from thatch.experiments.li2005.tables import SIMULATION
from thatch.experiments.results import Results
from thatch.experiments.telling import number
from thatch.experiments.trials import grid

__all__ = ["RANDOM_ORDER"]

_SETS = ("A", "B")


def _compare(results: Results) -> list[Compared]:
    found = []
    for shape in _SETS:
        larger, diagrams = (_difference(results, name, shape) for name in ("size", "diagrams"))
        found += [
            Compared(
                f"more subscriptions after perfect merging, {shape}",
                "6,076; it does not say of which set",
                larger,
                "the orders differ much; A has more to lose" if shape == "A" else "",
            ),
            Compared(f"more tails, {shape}", "more diagrams with fewer outputs; no numbers", diagrams),
        ]
    return found


def _difference(results: Results, name: str, shape: str) -> str | None:
    given, random = (
        results.mean(name, shape=shape, order=order, stage="perfect") for order in ("given", "random")
    )
    return None if given is None or random is None else f"{number(round(random - given))}"


RANDOM_ORDER = Experiment(
    name="li2005/random_order",
    figure="Section 6",
    title="a random order of attributes",
    statement="With a random order of attributes there are more diagrams with fewer outputs each, so that less is merged: "
    "6,076 subscriptions more after perfect merging.",
    setting=SETTING
    + "The given order has the attributes of tails at the bottom. Three random orders, means.",
    simulation=SIMULATION,
    full=grid(1, shape=_SETS, count=(COUNT,), scale=(1,), order=("given",))
    + grid(3, shape=_SETS, count=(COUNT,), scale=(1,), order=("random",)),
    quick=grid(1, shape=_SETS, count=(SMALL,), scale=(SCALE,), order=("given", "random")),
    compare=_compare,
)
