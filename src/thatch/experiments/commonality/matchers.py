"""The matchers of figure 3(b): each is called with the place of an event, and counts what it evaluates on many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thatch.matching.diagrams import DiagramIndex
from thatch.matching.diagrams.kernels import top_down
from thatch.matching.diagrams.ordering import order_from_filters
from thatch.matching.segments import SegmentIndex
from thatch.model.events import Record, read_event
from thatch.model.filters import Filter
from thatch.model.printing import PrintedCondition
from thatch.planning import FilterSet, count, plan
from thatch.planning.truths import columns_of

__all__ = ["MATCHERS", "Matcher"]

Event = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Matcher:
    """Filters that are matched one way.

    Parameters
    ----------
    match : the number of filters that match an event, by its place
    evaluations : predicates evaluated on an event, in the mean over other events; None if that is not what it does
    """

    match: Callable[[int], int]
    evaluations: Callable[[Sequence[Record]], float] | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """A source for predicates that all have one selectivity."""

    p: float

    def selectivity(self, predicate: object) -> float:  # noqa: ARG002 - all are alike
        return self.p


def _planned(filters: Sequence[Filter], events: Sequence[Event], p: float) -> Matcher:
    named = {str(place): filter for place, filter in enumerate(filters)}
    wanted = FilterSet(named, _Known(p), covering=False)  # equation 6 knows independent predicates only
    found = plan(wanted.problem)
    records = [read_event(event) for event in events]

    def evaluations(others: Sequence[Record]) -> float:
        return count(found, wanted.columns(others), len(others)).evaluations / len(others)

    return Matcher(lambda place: len(wanted.execute(found, records[place]).owners), evaluations)


def _diagrams(filters: Sequence[Filter], events: Sequence[Event], p: float) -> Matcher:  # noqa: ARG001
    index = _index_of(filters)
    records = [read_event(event) for event in events]
    return Matcher(
        lambda place: len(index.match(records[place])), lambda others: _nodes_tested(index, others)
    )


def _chains(filters: Sequence[Filter], events: Sequence[Event], p: float) -> Matcher:  # noqa: ARG001
    """Diagrams without their first phase: which predicates are true is known."""
    index = _index_of(filters)
    true = [index.predicates.true_variables(read_event(event)) for event in events]
    columns = index.chains.columns
    seen = (columns.variable, columns.first, columns.after, columns.outputs)
    size = len(columns.variable)
    truth, stack, found = (
        np.zeros(index.predicates.size, np.uint8),
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
    )

    def match(place: int) -> int:
        outputs = top_down(seen, true[place], truth, stack, found, size)
        return int(columns.outputs[found[:outputs]].sum())

    return Matcher(match)


def _index_of(filters: Sequence[Filter]) -> DiagramIndex:
    index = DiagramIndex(order_from_filters(filters))
    for place, filter in enumerate(filters):
        index.add(place, filter)
    return index


def _nodes_tested(index: DiagramIndex, records: Sequence[Record]) -> float:
    """Nodes whose variable is asked on the way up from the terminal: those above what is true."""
    columns = index.chains.columns
    variables, children = columns.variable.tolist(), columns.child.tolist()
    asked = sorted(set(variables[1:]))
    predicates = [PrintedCondition("", (index.predicates.predicate(each),)) for each in asked]
    holds = dict(zip(asked, columns_of(predicates, records), strict=True))
    true = [(1 << len(records)) - 1]
    tested = 0
    for variable, child in zip(variables[1:], children[1:], strict=True):  # children have lower numbers
        tested += true[child].bit_count()
        true.append(true[child] & holds[variable])
    return tested / len(records)


def _segments(filters: Sequence[Filter], events: Sequence[Event], p: float) -> Matcher:  # noqa: ARG001
    """The engine's segments, in which an engine itself keeps no set as small as this one."""
    index = SegmentIndex()
    index.extend(dict(enumerate(filters)))
    view = index.view
    plain = [dict(event) for event in events]
    return Matcher(lambda place: view.match_plain(plain[place], len) or 0)


MATCHERS: dict[str, Callable[[Sequence[Filter], Sequence[Event], float], Matcher]] = {
    "planned": _planned,
    "diagrams": _diagrams,
    "chains": _chains,
    "segments": _segments,
}
