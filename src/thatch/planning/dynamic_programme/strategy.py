"""The best strategy: which gate's next leaf to evaluate in each state.

The dynamic programme of Greiner and others that paper C, section 3, applies to link-clusters and multicluster-links. It
takes O(d ∏(r_i + 1)) time for d gates with r_i leaves, which the paper bounds by d² (r + 1)^d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thatch.planning.dynamic_programme.gates import Gates
from thatch.planning.dynamic_programme.states import Ints, States
from thatch.planning.problem import Problem

__all__ = ["Strategy", "best_strategy"]

_NOTHING = -1  # in the last state


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """What to evaluate in each state, and the state after it.

    Parameters
    ----------
    cost : expected, from the first state on
    leaf : the predicate that is evaluated
    if_true, if_false : the state after it; in the last one the answer is the value of the last leaf
    """

    cost: float
    leaf: Ints
    if_true: Ints
    if_false: Ints


def best_strategy(problem: Problem, gates: Gates) -> Strategy:
    """The strategy of least expected cost.

    Notes
    -----
    States are settled from those where most is done to those where least is: all of one sum of counts at once.
    """
    states = States(gates)
    count = states.counts.shape[1]
    owners = [gate for gate in range(len(gates)) if gates.leaves[gate]]
    leaves = {gate: _leaf_of(gates, gate, states) for gate in owners}
    next_true = {gate: states.after(gate, is_true=True) for gate in owners}
    next_false = {gate: states.after(gate, is_true=False) for gate in owners}
    selectivities, costs = np.array(problem.selectivities), np.array(problem.costs)
    value: npt.NDArray[np.float64] = np.full(count, np.inf)
    value[-1] = 0.0
    chosen = np.full(count, _NOTHING, np.int32)
    for level in _levels(states.counts.sum(axis=0)):
        for gate in owners:
            some = level[leaves[gate][level] != _NOTHING]
            leaf = leaves[gate][some]
            p = selectivities[leaf]
            cost = costs[leaf] + p * value[next_true[gate][some]] + (1.0 - p) * value[next_false[gate][some]]
            is_better = cost < value[some]
            value[some[is_better]] = cost[is_better]
            chosen[some[is_better]] = gate
    return Strategy(
        float(value[0]), *(_picked(chosen, each, owners) for each in (leaves, next_true, next_false))
    )


def _leaf_of(gates: Gates, gate: int, states: States) -> Ints:
    """The next leaf of a gate in each state."""
    own: Ints = np.array([*gates.leaves[gate], _NOTHING], np.int32)
    return np.asarray(own[states.counts[gate]])


def _levels(sums: npt.NDArray[np.integer]) -> list[npt.NDArray[np.intp]]:
    """States by how much is done, most first, without the last state."""
    order = np.argsort(sums, kind="stable")
    edges = np.searchsorted(sums[order], np.arange(sums.max() + 1))
    return list(reversed(np.split(order, edges[1:])[:-1]))


def _picked(chosen: Ints, columns: dict[int, Ints], owners: list[int]) -> Ints:
    """Of each state what the gate that was chosen there has."""
    found = np.full(len(chosen), _NOTHING, np.int32)
    for gate in owners:
        is_own = chosen == gate
        found[is_own] = columns[gate][is_own]
    return found
