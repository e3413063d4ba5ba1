"""Small placement problems, drawn or made by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from thatch.placement import BrokerTree, PlacementProblem


def drawn(
    seed: int,
    *,
    subscribers: int = 60,
    leaves: int = 5,
    inner: int = 0,
    axes: int = 2,
    complexity: int = 2,
    several: bool = False,
    max_delay: float = 0.6,
    beta: float = 1.6,
    beta_max: float = 2.2,
) -> PlacementProblem:
    """A random problem; with `inner` brokers it has two levels, with `several` some subscribers have two boxes."""
    rng = np.random.default_rng(seed)
    nodes = 1 + inner + leaves
    parents = np.zeros(nodes, np.int64)
    parents[0] = -1
    if inner:
        parents[1 + inner :] = 1 + np.arange(leaves) % inner
    tree = BrokerTree.of(parents, rng.random((nodes, 2)))
    boxes = subscribers + (subscribers // 2 if several else 0)
    owners = np.concatenate([np.arange(subscribers), rng.integers(0, subscribers, boxes - subscribers)])
    lows = np.round(rng.random((boxes, axes)) * 0.8, 1)
    highs = np.minimum(1.0, lows + np.round(0.1 + rng.random((boxes, axes)) * 0.2, 1))
    return PlacementProblem.of(
        tree,
        rng.random((subscribers, 2)),
        lows,
        highs,
        owners=owners if several else None,
        complexity=complexity,
        beta=beta,
        beta_max=beta_max,
        max_delay=max_delay,
    )


problems = st.builds(
    drawn,
    st.integers(0, 10_000),
    subscribers=st.integers(1, 60),
    leaves=st.integers(1, 6),
    inner=st.integers(0, 3),
    axes=st.integers(1, 3),
    complexity=st.integers(1, 5),
    several=st.booleans(),
    max_delay=st.sampled_from([0.0, 0.3, 1.0]),
)
