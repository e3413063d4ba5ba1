"""Optimal adaptive strategies for sets whose answer is yes or no, by dynamic programming (commonality, section 3).

The set is a tree of `and` and `or` gates whose leaves are predicates, each once. Common predicates are factored out:
C = ψ and ((φ11 and …) or (φ21 and …) or …). Gates alternate: below an `and` are leaves and `or` gates, below an `or`
leaves and `and` gates. A member with one predicate left is a leaf of its `or`; a member with none makes the `or` true.

A state says how many leaves of each gate are done. Leaves of one gate are evaluated in order, so a count says which. A
gate whose value is known counts as done, with all below it: if it did not decide the gate above, it no longer matters.
States are numbered by their counts, the last gate's fastest, so that every evaluation leads to a higher number; in the
last state the answer is known.

This is the dynamic programme of Greiner and others that the paper applies to link-clusters and multicluster-links. It
takes O(d ∏(r_i + 1)) time for d gates with r_i leaves, which the paper bounds by d² (r + 1)^d.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from thatch.planning.depth_first import by_ratio, by_true_ratio
from thatch.planning.problem import PlanningProblem
from thatch.planning.steps import PlanStep

__all__ = ["Gates", "States", "Strategy", "best_strategy", "gates_of", "state_count"]

Ints = npt.NDArray[np.int32]
_NOTHING = -1  # in the last state


@dataclass(frozen=True, slots=True)
class Gates:
    """The tree as columns, one entry per gate; a gate comes after the one above it.

    Parameters
    ----------
    is_and : whether it is an `and`
    above : the gate above it, −1 for the first
    leaves : its predicates in the order of an optimal strategy: by (1 − p) / c below an `and`, by p / c below an `or`
    """

    is_and: tuple[bool, ...]
    above: tuple[int, ...]
    leaves: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.is_and)

    def within(self, gate: int) -> list[int]:
        """A gate and all below it."""
        found = {gate}
        for each in range(gate + 1, len(self)):
            if self.above[each] in found:
                found.add(each)
        return sorted(found)


def gates_of(problem: PlanningProblem, step: PlanStep) -> Gates:
    """The gates of steps in which every predicate occurs once and all members have one owner."""
    gates: list[tuple[bool, int, tuple[int, ...]]] = []

    def add(step: PlanStep, above: int) -> None:
        """Add `tests and (below or …)`."""
        tests = step.tests
        while not step.ends and len(step.below) == 1:
            (step,) = step.below
            tests = (*tests, *step.tests)
        if tests:
            gates.append((True, above, by_ratio(problem, tests)))
            above = len(gates) - 1
        if step.below and not step.ends:
            leaves = [each.tests[0] for each in step.below if _is_leaf(each)]
            gates.append((False, above, by_true_ratio(problem, leaves)))
            above = len(gates) - 1
            for each in step.below:
                if not _is_leaf(each):
                    add(each, above)

    add(step, -1)
    return Gates(*zip(*gates, strict=True)) if gates else Gates((), (), ())


def _is_leaf(step: PlanStep) -> bool:
    return len(step.tests) == 1 and bool(step.ends)


def state_count(gates: Gates) -> int:
    """The number of states: the product over gates of the number of leaves plus one."""
    return prod(len(each) + 1 for each in gates.leaves)


class States:
    """All states of some gates, as columns."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self.sizes = np.array([len(each) for each in gates.leaves], np.int32)
        shape = tuple(self.sizes + 1)
        self.counts: Ints = np.indices(shape, np.int32).reshape(len(gates), -1)
        strides = np.cumprod([1, *shape[:0:-1]])[::-1]
        # The distance from a state to the one in which a gate and all below it are done.
        left = (self.sizes[:, None] - self.counts) * strides.astype(np.int32)[:, None]
        self._left = [left[gates.within(gate)].sum(axis=0, dtype=np.int32) for gate in range(len(gates))]
        self._strides = strides

    def after(self, gate: int, *, is_true: bool) -> Ints:
        """The state after the next leaf of a gate was true, or false; undefined where it has no leaf left."""
        states = np.arange(self.counts.shape[1], dtype=np.int32)
        after = states + np.int32(self._strides[gate])
        after[self.counts[gate] == self.sizes[gate]] = len(states) - 1
        is_known = np.ones(len(states), bool)
        while gate >= 0:
            # A false leaf decides an `and`, a true one an `or`; otherwise the last leaf does. Either way the value of the
            # gate is that of the leaf, and passes to the gate above.
            if self._gates.is_and[gate] != is_true:
                after = np.where(is_known, after + self._left[gate][after], after)
            is_known &= self._left[gate][after] == 0
            gate = self._gates.above[gate]
        return after


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """What to evaluate in each state, and the state after it.

    Parameters
    ----------
    cost : the expected cost from the first state on
    leaf : the predicate to evaluate
    if_true, if_false : the state after it; in the last state the answer is the value of the last leaf
    """

    cost: float
    leaf: Ints
    if_true: Ints
    if_false: Ints


def best_strategy(problem: PlanningProblem, gates: Gates) -> Strategy:
    """The strategy with the least expected cost.

    Notes
    -----
    States with the same number of evaluated leaves are settled at once, those with most first.
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
    """States by the number of evaluated leaves, most first, without the last state."""
    order = np.argsort(sums, kind="stable")
    edges = np.searchsorted(sums[order], np.arange(sums.max() + 1))
    return list(reversed(np.split(order, edges[1:])[:-1]))


def _picked(chosen: Ints, columns: dict[int, Ints], owners: list[int]) -> Ints:
    """In each state the value of the gate that was chosen there."""
    found = np.full(len(chosen), _NOTHING, np.int32)
    for gate in owners:
        is_own = chosen == gate
        found[is_own] = columns[gate][is_own]
    return found
