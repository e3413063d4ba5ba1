"""What all experiments of paper L share: its two sets, in several readings."""

from __future__ import annotations

from dataclasses import replace

from thatch.experiments.trials import Parameters, random_of
from thatch.workloads.li2005 import INDEPENDENT, TEMPLATES, Independent, Predicates, Template, drawn

__all__ = ["COUNT", "SCALE", "SETTING", "SHAPES", "SMALL", "THRESHOLD", "subscriptions_of"]

COUNT, SMALL = 200_000, 2_000  # subscriptions; in the quick size
SCALE = COUNT // SMALL  # by which pools are smaller in the quick size, so that as much is alike
THRESHOLD = 0.1  # of imperfect merging, where the paper does not tell it

SHAPES: dict[str, Template | Independent] = {
    **TEMPLATES,
    **{f"{name}, independent": shape for name, shape in INDEPENDENT.items()},
}

SETTING = (
    "the paper draws attributes from twenty and values from ranges, and tells neither how many predicates a subscription "
    "has nor which operators. Here a subscription is one predicate on top of a tail from a pool. Tails are three wide ranges; "
    "those of `=` alone, and predicates that are drawn independently, are shown beside them. Sets A and B have 2,000 and 5,000 "
    "distinct predicates as the paper's have; the sizes of the pools were fitted to figure 12. "
)


def subscriptions_of(parameters: Parameters, seed: int) -> Predicates:
    """The subscriptions of a trial: `count` of a `shape`, from a pool that is smaller by `scale`."""
    name, count, scale = str(parameters["shape"]), int(parameters["count"]), int(parameters["scale"])
    shape = SHAPES[name]
    if isinstance(shape, Template):
        shape = replace(shape, tails=max(shape.tails // scale, 1))
    return drawn(random_of(seed, name, count), count, shape)
