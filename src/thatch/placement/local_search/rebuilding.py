"""Leaves emptied and filled anew: the large step of the search, which goes on where single moves end.

A few leaves, drawn at random, lose their filters. Whom the others cannot take within their loads waits, and filters grow by
the cheapest offers until everybody is served (`slp/repair.py`): the flow moves subscribers along whole chains of leaves.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.flow import spread
from thatch.placement.rows import Floats, Ints
from thatch.placement.slp.coverage import Coverage
from thatch.placement.slp.part import Part
from thatch.placement.slp.repair import repaired

__all__ = ["rebuilt"]

Answer = tuple[Ints, tuple[Floats, ...]]

_EMPTIED = 0.03  # of the leaves


def rebuilt(part: Part, filters: tuple[Floats, ...], rng: np.random.Generator) -> Answer | None:
    """Another placement within the same capacities, of perhaps less bandwidth; None if that did not work out.

    Filters above the leaves are left as they are, to be fitted anew.
    """
    nodes = part.branches.nodes
    own = [filters[node] for node in nodes.tolist()]
    for leaf in rng.choice(len(nodes), max(1, round(_EMPTIED * len(nodes))), replace=False).tolist():
        own[leaf] = own[leaf][:0]
    state = Coverage(part, own)
    done = repaired(state)
    if done is None:
        return None
    routing, group, groups = done
    served_by = spread(routing, group[part.types.of], rng.permutation(len(part.members)), groups)
    new = list(filters)
    for node, boxes in zip(nodes.tolist(), state.filters, strict=True):
        new[node] = boxes
    return served_by, tuple(new)
