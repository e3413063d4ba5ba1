"""What figures of whole networks share: the networks that are told of, and lines over the diameter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from thatch.experiments.experiment import Plot
from thatch.experiments.overlay.setting import SHAPES, WAYS
from thatch.experiments.results import Results
from thatch.experiments.trials import Value

__all__ = ["largest_networks", "over_diameter"]


def largest_networks(results: Results) -> Iterator[tuple[str, str, dict[str, Value]]]:
    """The largest network of each shape under each way to route: its name, the way, and which rows tell of it."""
    largest = max(results.values("brokers"))
    for shape, way in product(SHAPES, WAYS):
        if len(results.values("brokers", shape=shape)):
            yield f"{shape} of {largest}, {way}", way, {"shape": shape, "policy": way, "brokers": largest}


def over_diameter(what: str, up: str, y: str) -> tuple[Plot, ...]:
    """A plot for each shape, a line for each policy."""
    return tuple(
        Plot(
            title=f"{what}, {shape}",
            across="diameter",
            up=up,
            by=("policy",),
            where={"shape": shape},
            x="diameter, in links",
            y=y,
        )
        for shape in SHAPES
    )
