"""What all network experiments share: shapes, ways to route, subscriptions and events of scenario 1-2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.topology import Topology
from thatch.workloads.ouksel2006 import COMPARISON_TOP, comparison

if TYPE_CHECKING:
    from thatch.broker.settings import Routing
    from thatch.reduction.forwarding.policies import Policy

__all__ = ["POLICIES", "SETTING", "SHAPES", "WAYS", "events_of", "filters_of", "routing_of", "topology_of"]

SHAPES = ("line", "tree", "random tree")
POLICIES = ("flooding", "pairwise", "exact", "merging", "probabilistic")
WAYS = ("events", *POLICIES)  # `events`: event flooding, where no subscription travels
ATTRIBUTES = 10
DELTA, CAP = 1e-3, 1_000  # of the probabilistic policy
THRESHOLD, BUDGET = 0.01, 0.05  # of merging: false positives of one merger, and of all mergers of a link

SETTING = (
    "subscriptions are those of scenario 1-2 of ouksel2006 with m = 10, each of its own client at a random broker, and "
    "travel everywhere (no advertisements). Events are uniform over the whole space, published by four clients at random "
    "brokers. `exact` is the exact checker, `merging` the same with mergers that may let through 1 % of events needlessly, 5 % "
    "all those of a link (li2005, section 5), `probabilistic` the paper's algorithm with its own witness probability, "
    "error 10^-3 and at most 1,000 points a decision; all links and brokers are simulated, and messages are counted. "
)

_STEP = 2.0**20  # the workload has real numbers as whole multiples of 1 / _STEP
_NAMES = tuple(f"a{number}" for number in range(ATTRIBUTES))


def topology_of(shape: str, brokers: int, rng: np.random.Generator) -> Topology:
    """Brokers in a line, a full tree of two below each, or a tree where each is linked to any one before it."""
    match shape:
        case "line":
            return Topology.line(brokers)
        case "tree":
            return Topology.tree(brokers)
        case "random tree":
            return Topology.random_tree(brokers, rng)
    raise ParameterError(f"one of {', '.join(SHAPES)}", shown(shape), "shape")


def routing_of(policy: str) -> Routing:
    """The routing with this name in `WAYS`."""
    from thatch.broker.settings import Routing
    from thatch.reduction import Exact, Flooding, Merging, Pairwise, Probabilistic

    if policy == "events":
        return Routing(way="events")
    policies: dict[str, Policy] = {
        "flooding": Flooding(),
        "pairwise": Pairwise(),
        "exact": Exact(),
        "merging": Merging(threshold=THRESHOLD, budget=BUDGET),
        "probabilistic": Probabilistic(DELTA, literal=True, cap=CAP),
    }
    if policy not in policies:
        raise ParameterError(f"one of {', '.join(WAYS)}", shown(policy), "policy")
    return Routing(way="subscriptions", policy=policies[policy])


def filters_of(rng: np.random.Generator, count: int) -> list[Filter]:
    """The subscriptions of scenario 1-2: a range for each attribute that they constrain."""
    lows, highs = comparison(rng, count, ATTRIBUTES)
    return [parse(_text(*ends)) for ends in zip(lows.tolist(), highs.tolist(), strict=True)]


def events_of(rng: np.random.Generator, count: int) -> list[Mapping[str, float]]:
    """Events with all attributes, uniform over the space."""
    return [
        dict(zip(_NAMES, row, strict=True)) for row in rng.uniform(0, 1_000, (count, ATTRIBUTES)).tolist()
    ]


def _text(low: list[int], high: list[int]) -> str:
    sides = [
        f"{name} between {first / _STEP!r} and {last / _STEP!r}"
        for name, first, last in zip(_NAMES, low, high, strict=True)
        if (first, last) != (0, COMPARISON_TOP)
    ]
    return " and ".join(sides)
