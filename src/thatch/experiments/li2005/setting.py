"""What all li2005 experiments share: the paper's two sets, in several readings."""

from __future__ import annotations

from dataclasses import replace

from thatch.experiments.trials import random_of
from thatch.workloads.li2005 import (
    INDEPENDENT,
    TEMPLATES,
    IndependentPredicates,
    Predicates,
    Template,
    draw_subscriptions,
)

__all__ = ["COUNT", "SCALE", "SETTING", "SHAPES", "SMALL", "THRESHOLD", "show_rounded", "subscriptions_of"]

COUNT, SMALL = 200_000, 2_000  # subscriptions; in the quick size
SCALE = COUNT // SMALL  # pools are smaller by this factor in the quick size, so that as much is shared
THRESHOLD = 0.1  # of imperfect merging, where the paper does not give it

SHAPES: dict[str, Template | IndependentPredicates] = {
    **TEMPLATES,
    **{f"{name}, independent": shape for name, shape in INDEPENDENT.items()},
}

SETTING = (
    "the paper draws attributes from twenty and values from ranges, but says neither how many predicates a subscription "
    "has nor which operators. Here a subscription is one predicate on top of a tail from a pool. Tails are three wide ranges; "
    "tails of `=` alone, and predicates drawn independently, are shown beside them. Sets A and B have 2,000 and 5,000 "
    "distinct predicates as the paper's have; the sizes of the pools were fitted to figure 12. "
)


def subscriptions_of(seed: int, shape: str, count: int, scale: int) -> Predicates:
    """The subscriptions of a trial: `count` of a shape, from a pool that is smaller by the factor `scale`."""
    drawn_from = SHAPES[shape]
    if isinstance(drawn_from, Template):
        drawn_from = replace(drawn_from, tails=max(drawn_from.tails // scale, 1))
    return draw_subscriptions(random_of(seed, shape, count), count, drawn_from)


def show_rounded(value: float | None) -> str | None:
    """A number without a fraction; None stays None."""
    return None if value is None else f"{value:.0f}"
