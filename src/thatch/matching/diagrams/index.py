"""An index of diagrams: find the true predicates of an event, then the true chains (li2005, section 3.3).

A conjunction becomes a chain of the variables of its constraints; a filter has one for each of its conjunctions. Chains
are evaluated by a pass over all nodes, or by a walk from the terminal through the true nodes above it. The walk touches
only true nodes and their neighbours, so it is tried first, and given up when true nodes have too many neighbours.

What chains cannot decide is verified: conditions that are no intervals, and events with lists, where an element that
satisfies one predicate need not be the one that satisfies another.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from thatch.errors import ParameterError, shown
from thatch.matching.diagrams.chains import Chains, FullPass, Int32s
from thatch.matching.diagrams.kernels import top_down
from thatch.matching.diagrams.predicates import Predicate, PredicateIndex, Variables
from thatch.matching.problem import AccessHints
from thatch.model.conjunctions import Conjunction
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.matching import holds
from thatch.model.residuals import Residual

__all__ = ["DiagramIndex", "Way"]

Way = Literal["fan-out", "full pass", "top-down"]
_WAYS = ("fan-out", "full pass", "top-down")
# A pass takes 1.4 ns for each node; a walk, which misses the caches of a large index, 20 to 50 ns. So walks are given up
# early, at a cost of at most half a pass.
_FULL_SHARE = 64
_FEW = 256  # nodes; so short a walk is never given up

# Bytes of Python objects: the list of a slot; the dict of a topmost node; the key of an entry in it.
_SLOT_BYTES, _OUTPUT_BYTES, _CONJUNCTION_BYTES = 88, 232, 56

Entry = tuple[int, int]  # a slot, and the number of the conjunction in its filter


class DiagramIndex:
    """Filters as diagrams.

    Parameters
    ----------
    order : attributes from top to bottom, see `thatch.matching.diagrams.ordering`; others stand above them, by name
    way : how chains are evaluated; "fan-out" chooses between the other two for each event
    hints : what planning knows, for an order if none is given: what a plan tests first stands at the bottom

    Raises
    ------
    ParameterError
        If the order names an attribute twice, or there is no such way.
    """

    def __init__(
        self, order: Sequence[str] = (), way: Way = "fan-out", *, hints: AccessHints | None = None
    ) -> None:
        if way not in _WAYS:
            raise ParameterError(" or ".join(map(repr, _WAYS)), shown(way), "way")
        if hints is not None and not order:
            order = hints.order[::-1]
        self._depth = {key: depth for depth, key in enumerate(order)}
        if isinstance(order, str) or len(self._depth) < len(order):
            raise ParameterError("attributes, each once", shown(order), "order")
        self._way = way
        self.predicates = PredicateIndex()
        self.chains = Chains()
        self._nodes: dict[int, list[int]] = {}  # by slot: the topmost node of every conjunction
        self._entries: dict[int, dict[Entry, tuple[Residual, ...]]] = {}  # by topmost node
        self._truth = np.zeros(64, np.uint8)  # by variable; all zero between events
        self._value = np.zeros(64, np.uint8)  # by node
        self._stack = np.zeros(64, np.int32)
        self._found = np.zeros(64, np.int32)
        self._full_pass = FullPass()
        self._counters = {"events": 0, "full_passes": 0, "verified": 0, "matches": 0}

    def add(self, slot: int, filter: Filter) -> None:
        """Add a filter in a free slot."""
        self._nodes[slot] = [
            self._insert(slot, number, sorted(each.constraints, key=self._height), each.residuals)
            for number, each in enumerate(filter.conjunctions)
        ]

    def _insert(
        self, slot: int, number: int, bottom_first: Iterable[Predicate], residuals: tuple[Residual, ...]
    ) -> int:
        """Add one conjunction; return its topmost node."""
        node = self.chains.insert([self.predicates.acquire(*each) for each in bottom_first])
        self._entries.setdefault(node, {})[slot, number] = residuals
        return node

    def _height(self, constrained: tuple[str, object]) -> tuple[int, str]:
        return -self._depth.get(constrained[0], -1), constrained[0]

    def remove(self, slot: int) -> None:
        """Remove the filter in a slot."""
        for number, node in enumerate(self._nodes.pop(slot)):
            del self._entries[node][slot, number]
            if not self._entries[node]:
                del self._entries[node]
            variables = list(self.chains.variables(node))
            self.chains.remove(node)
            for variable in variables:
                self.predicates.release(variable)
        new = self.chains.renumber()
        if new is not None:
            self._entries = {int(new[node]): entries for node, entries in self._entries.items()}
            self._nodes = {slot: new[nodes].tolist() for slot, nodes in self._nodes.items()}

    def renumber(self, new_slot: Mapping[int, int]) -> DiagramIndex:
        """An index of the same filters with new numbers for slots, which takes no more memory than it must."""
        other = DiagramIndex(tuple(self._depth), self._way)
        for slot, nodes in self._nodes.items():
            own = other._nodes[new_slot[slot]] = []
            for number, node in enumerate(nodes):
                predicates, residuals = self._constraints(node), self._entries[node][slot, number]
                own.append(other._insert(new_slot[slot], number, reversed(predicates), residuals))
        return other

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, lowest first."""
        found = sorted(set(self._matching(record)))
        self._counters["matches"] += len(found)
        return found

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""
        is_found = next(self._matching(record), None) is not None
        self._counters["matches"] += is_found
        return is_found

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        tails = {self.chains.tail(node) for node in self._entries}
        return {
            "predicates": len(self.predicates),
            "nodes": len(self.chains) - 1,
            "outputs": len(self._entries),
            "diagrams": len(tails),
            **self._counters,
        }

    def nbytes(self) -> int:
        """Bytes of the index, shared objects counted once, without checks that are no intervals."""
        rooms = self._truth.nbytes + self._value.nbytes + self._stack.nbytes + self._found.nbytes
        conjunctions = sum(map(len, self._entries.values()))
        nodes = sys.getsizeof(self._nodes) + _SLOT_BYTES * len(self._nodes)
        entries = sys.getsizeof(self._entries) + _OUTPUT_BYTES * len(self._entries)
        own = rooms + nodes + entries + _CONJUNCTION_BYTES * conjunctions
        return self.predicates.nbytes() + self.chains.nbytes() + own

    @property
    def outputs(self) -> dict[int, tuple[int, ...]]:
        """The slots of the filters at every topmost node."""
        return {node: tuple(sorted({slot for slot, _ in each})) for node, each in self._entries.items()}

    def _matching(self, record: Record) -> Iterator[int]:
        """The slots of filters that match, some more than once."""
        self._counters["events"] += 1
        true = self.predicates.true_variables(record)
        is_flat = not record.choices
        for node in self._true_outputs(true).tolist():
            for (slot, _), residuals in self._entries[node].items():
                if not is_flat or residuals:
                    self._counters["verified"] += 1
                    if not holds(Conjunction(self._constraints(node), residuals), record):
                        continue
                yield slot

    def _constraints(self, node: int) -> tuple[Predicate, ...]:
        """The predicates of the chain that begins at a node, from the top."""
        return tuple(map(self.predicates.predicate, self.chains.variables(node)))

    def _true_outputs(self, true: Variables) -> Int32s:
        columns = self.chains.columns
        size = len(columns.variable)
        self._make_room(size)
        count = -1
        if self._way != "full pass":
            # Unsigned, so that kernels need not test for negative indexes.
            walked = (columns.variable, columns.first, columns.after)
            seen = (*(each.view(np.uint32) for each in walked), columns.outputs)
            most = size if self._way == "top-down" else max(_FEW, size // _FULL_SHARE)
            count = top_down(seen, true, self._truth, self._stack, self._found, most)
        if count < 0:
            self._counters["full_passes"] += 1
            count = self._full_pass(columns, true, self._truth, self._value, self._found)
        return self._found[:count].copy()  # the caller may ask for another event while reading them

    def _make_room(self, nodes: int) -> None:
        if len(self._value) < nodes:
            self._value = np.zeros(2 * nodes, np.uint8)
            self._stack = np.zeros(2 * nodes, np.int32)
            self._found = np.zeros(2 * nodes, np.int32)
        if len(self._truth) < self.predicates.size:
            self._truth = np.zeros(2 * self.predicates.size, np.uint8)
