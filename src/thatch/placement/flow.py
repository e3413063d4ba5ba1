"""Loads by maximum flow (yu2012, section 4.2): groups of subscribers to leaves that may serve them.

Subscribers that may go to the same leaves are one node, so that a million of them make a graph of some thousand arcs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.errors import MissingPackageError, ParameterError
from thatch.placement.arrays import Bools, Ints
from thatch.placement.problem import PlacementProblem

__all__ = ["LeafFlow", "assign_flow", "interest_rank", "least_factor", "route"]

_MOST = 2**31 - 1  # SciPy counts with 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class LeafFlow:
    """How many subscribers of which group go to which leaf; `routed` is their sum."""

    group: Ints
    leaf: Ints
    amount: Ints
    routed: int


def route(supplies: Ints, is_allowed: Bools, capacities: Ints) -> LeafFlow:
    """Send as many subscribers to leaves as these can take.

    Parameters
    ----------
    supplies : how many subscribers each group has
    is_allowed : a row a group, a column a leaf
    capacities : the most that each leaf takes

    Raises
    ------
    MissingPackageError
        Without SciPy.
    """
    try:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow
    except ImportError as error:
        raise MissingPackageError("scipy", "placement", "loads by maximum flow") from error

    if supplies.sum() > _MOST:
        raise ParameterError(f"at most {_MOST:,} subscribers", f"{supplies.sum():,}", "maximum flow")
    groups, leaves = is_allowed.shape
    group, leaf = np.nonzero(is_allowed)
    sink = groups + leaves + 1
    tails = np.concatenate([np.zeros(groups, np.int64), group + 1, np.arange(leaves) + groups + 1])
    heads = np.concatenate([np.arange(groups) + 1, leaf + groups + 1, np.full(leaves, sink)])
    amounts = np.concatenate([supplies, supplies[group], np.minimum(capacities, _MOST)]).astype(np.int32)
    graph = csr_array((amounts, (tails, heads)), shape=(sink + 1, sink + 1))
    found = maximum_flow(graph, 0, sink)
    flow = found.flow[group + 1, leaf + groups + 1] if len(group) else np.zeros(0, np.int32)
    sent = np.asarray(flow).reshape(-1).astype(np.int64)
    is_used = sent > 0
    return LeafFlow(group[is_used], leaf[is_used], sent[is_used], int(found.flow_value))


def least_factor(
    problem: PlacementProblem, supplies: Ints, is_allowed: Bools, low: float = 1.0, high: float | None = None
) -> tuple[float, LeafFlow] | None:
    """The smallest load factor from `low` to `high` at which everybody is served, with the flow; None if there is none.

    Found by bisection, to less than one subscriber.
    """
    wanted = int(supplies.sum())

    def attempt(factor: float) -> LeafFlow | None:
        found = route(supplies, is_allowed, problem.capacities(factor))
        return found if found.routed == wanted else None

    positive = problem.shares[problem.shares > 0]
    top = 1.0 / float(positive.min()) + 1.0 if high is None else high
    best = attempt(low)
    if best is not None:
        return low, best
    best = attempt(top)
    if best is None:
        return None
    step = 0.25 / (problem.subscribers * float(positive.max()))
    factor = top
    while factor - low > step:
        middle = (low + factor) / 2
        found = attempt(middle)
        if found is None:
            low = middle
        else:
            factor, best = middle, found
    return factor, best


def assign_flow(flow: LeafFlow, group_of: Ints, rank: Ints, groups: int) -> Ints:
    """The leaf of each subscriber according to a flow, −1 for those it does not serve.

    Within a group subscribers are taken by `rank`, so that those of similar interests stay together.
    """
    order = np.lexsort((rank, group_of))
    sizes = np.bincount(group_of, minlength=groups)
    rest = sizes - np.bincount(flow.group, flow.amount, minlength=groups).astype(np.int64)
    group = np.concatenate([flow.group, np.arange(groups)])
    leaf = np.concatenate([flow.leaf, np.full(groups, -1)])
    amount = np.concatenate([flow.amount, rest])
    by_group = np.argsort(group, kind="stable")
    served_by = np.empty(len(group_of), np.int64)
    served_by[order] = np.repeat(leaf[by_group], amount[by_group])
    return served_by


def interest_rank(problem: PlacementProblem) -> Ints:
    """A number for each subscriber; numbers are close where the first boxes of interests are close."""
    first = problem.interests.boxes[problem.interests.start[:-1]]
    rank = np.empty(len(first), np.int64)
    rank[np.lexsort(first.T[::-1])] = np.arange(len(first))
    return rank[problem.interest_of]
