r"""Chains of variables that share their ends: a diagram with many roots, as arrays (li2005, section 3.1).

A conjunction of positive variables is a chain: all edges for «false» of its decision diagram lead to the terminal 0.
Chains with equal ends share them; a node is identified by its variable and its child::

    price = 150      price < 150          outputs, one for each chain
          \              /
         day = 'July 20, 2004'            a node that both chains share
                  |
       destination = 'Ottawa'
                  |
                  1                       node 0, the terminal «true»

The paper calls the outputs above one child a diagram, and the child their tail. A child has a lower number than the
nodes above it, so one pass in the order of numbers evaluates all. When more than half of the numbers belong to removed
nodes, all nodes are renumbered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.matching.diagrams.kernels import full_pass
from thatch.matching.diagrams.predicates import NEVER

__all__ = ["Chains", "Columns", "FullPass"]

_NODE_BYTES = 56 + 32  # a pair by which a node is found, and its number
_MUCH = 64  # many nodes are true if one in so many is
_FEW_GONE = 64  # removed nodes for which renumbering does not pay

Int32s = npt.NDArray[np.int32]


class Columns(NamedTuple):
    """One column for each property of nodes."""

    variable: Int32s
    child: Int32s
    first: Int32s  # the first of the nodes above it, 0 if there is none
    after: Int32s  # its neighbours among the nodes above the same child, 0 at the ends
    before: Int32s
    outputs: Int32s  # chains that begin here
    uses: Int32s  # nodes above it, and chains that begin here


class Chains:
    """Chains under the numbers of their topmost nodes."""

    def __init__(self) -> None:
        self._columns = _columns(64)
        self._size = 1  # node 0 is the terminal
        self._gone = 0
        self._node_of: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """How many nodes there are, including the terminal."""
        return self._size - self._gone

    @property
    def columns(self) -> Columns:
        """The columns of all nodes; removed ones have a variable that is never true, and no outputs."""
        return Columns(*(each[: self._size] for each in self._columns))

    def nbytes(self) -> int:
        """Bytes of all nodes, and of the dictionary that finds them."""
        columns = sum(each.nbytes for each in self._columns)
        return columns + sys.getsizeof(self._node_of) + _NODE_BYTES * len(self._node_of)

    def insert(self, variables: Sequence[int]) -> int:
        """Add a chain of variables, the lowest first; return the number of its topmost node."""
        node = 0
        for variable in variables:
            above = self._node_of.get((variable, node))
            node = self._new(variable, node) if above is None else above
        self._columns.outputs[node] += 1
        self._columns.uses[node] += 1
        return node

    def remove(self, node: int) -> None:
        """Remove one chain that begins at a node, with the nodes that no other chain needs."""
        columns = self._columns
        columns.outputs[node] -= 1
        columns.uses[node] -= 1
        while node and not columns.uses[node]:
            child = int(columns.child[node])
            self._unlink(node, child)
            columns.uses[child] -= 1
            node = child

    def variables(self, node: int) -> Iterator[int]:
        """The variables of the chain that begins at a node, the topmost first."""
        while node:
            yield int(self._columns.variable[node])
            node = int(self._columns.child[node])

    def tail(self, node: int) -> int:
        """The child of a node."""
        return int(self._columns.child[node])

    def renumber(self) -> Int32s | None:
        """Renumber the nodes if that pays; return the new number of every node, None if not."""
        if self._gone <= max(_FEW_GONE, len(self)):
            return None
        old = self.columns
        is_kept = old.variable != NEVER
        is_kept[0] = True
        new = (np.cumsum(is_kept) - 1).astype(np.int32)
        columns = _columns(max(64, len(self)))
        for name, column in zip(Columns._fields, old, strict=True):
            kept = column[is_kept]
            is_node = name in ("child", "first", "after", "before")
            getattr(columns, name)[: len(kept)] = new[kept] if is_node else kept
        self._columns, self._size, self._gone = columns, len(self), 0
        pairs = zip(self.columns.variable.tolist(), self.columns.child.tolist(), strict=True)
        self._node_of = {pair: node for node, pair in enumerate(pairs) if node}
        return new

    def _new(self, variable: int, child: int) -> int:
        node = self._size
        if node == len(self._columns.variable):
            larger = _columns(2 * node)
            for old, column in zip(self._columns, larger, strict=True):
                column[:node] = old
            self._columns = larger
        columns = self._columns
        self._size += 1
        columns.variable[node] = variable
        columns.child[node] = child
        columns.uses[child] += 1
        following = int(columns.first[child])
        columns.after[node] = following
        if following:
            columns.before[following] = node
        columns.first[child] = node
        self._node_of[variable, child] = node
        return node

    def _unlink(self, node: int, child: int) -> None:
        """Remove a node that nothing needs."""
        columns = self._columns
        del self._node_of[int(columns.variable[node]), child]
        before, after = int(columns.before[node]), int(columns.after[node])
        if before:
            columns.after[before] = after
        else:
            columns.first[child] = after
        if after:
            columns.before[after] = before
        columns.variable[node] = NEVER
        columns.child[node] = columns.before[node] = columns.after[node] = 0
        self._gone += 1


class FullPass:
    """Evaluates every node, without branches if many nodes were true for the previous event."""

    def __init__(self) -> None:
        self._much = False

    def __call__(self, columns: Columns, true: Any, truth: Any, value: Any, found: Any) -> int:
        """Write the outputs that are true into `found`, and return how many there are.

        Parameters
        ----------
        columns : those of `Chains`
        true : the variables that are true
        truth, value, found : room for every variable (all zero, before and after) and for every node
        """
        # Unsigned, so that kernels need not test for negative indexes: it takes 0.6 of the time.
        variable, child = columns.variable.view(np.uint32), columns.child.view(np.uint32)
        count = int(full_pass(variable, child, columns.outputs, true, truth, value, found, self._much))
        self._much = count > len(variable) // _MUCH
        return count


def _columns(size: int) -> Columns:
    return Columns(*(np.zeros(size, np.int32) for _ in Columns._fields))
