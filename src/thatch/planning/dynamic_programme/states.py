"""States of an evaluation: of each gate, how many of its leaves are done.

Leaf siblings are evaluated in order, so a count tells which. A gate whose value is known counts as wholly done, with
all below it: if its value did not decide the gate above, it does not matter any more. States are numbered by their counts,
the last gate's counting fastest, so that every evaluation leads to a higher number; in the last state the answer is known.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from thatch.planning.dynamic_programme.gates import Gates

__all__ = ["States", "state_count"]

Ints = npt.NDArray[np.int32]


def state_count(gates: Gates) -> int:
    """How many states there are: the product of the numbers of leaves, one more each."""
    return prod(len(each) + 1 for each in gates.leaves)


class States:
    """All states of some gates, as columns."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        self.sizes = np.array([len(each) for each in gates.leaves], np.int32)
        shape = tuple(self.sizes + 1)
        self.counts: Ints = np.indices(shape, np.int32).reshape(len(gates), -1)
        strides = np.cumprod([1, *shape[:0:-1]])[::-1]
        # How far a state is from the one where a gate, or all from a gate on, is wholly done.
        left = (self.sizes[:, None] - self.counts) * strides.astype(np.int32)[:, None]
        self._left = [left[gates.within(gate)].sum(axis=0, dtype=np.int32) for gate in range(len(gates))]
        self._strides = strides

    def after(self, gate: int, *, is_true: bool) -> Ints:
        """The state after the next leaf of a gate was true, or false; of states where it has none left, anything."""
        states = np.arange(self.counts.shape[1], dtype=np.int32)
        after = states + np.int32(self._strides[gate])
        after[self.counts[gate] == self.sizes[gate]] = len(states) - 1
        is_known = np.ones(len(states), bool)
        while gate >= 0:
            # A false leaf decides an `and`, a true one an `or`; else the gate has this value once nothing is left.
            # That value is its leaf's, in both cases, and is handed to the gate above.
            if self._gates.is_and[gate] != is_true:
                after = np.where(is_known, after + self._left[gate][after], after)
            is_known &= self._left[gate][after] == 0
            gate = self._gates.above[gate]
        return after
