"""Figure 3(b): the clusters of section 5.1, and the matchers that are measured on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thatch.matching.diagrams import DiagramIndex
from thatch.matching.diagrams.kernels import top_down
from thatch.matching.diagrams.ordering import order_from_filters
from thatch.matching.segments import SegmentIndex
from thatch.model.events import Record, read_event
from thatch.model.expressions import And, Compare
from thatch.model.filters import Filter
from thatch.model.printing import PrintedCondition
from thatch.planning import FilterSet, count, plan
from thatch.planning.truths import columns_of

__all__ = ["MATCHERS", "ClusterMatcher", "Event", "cluster_filters", "even_events"]


def cluster_filters(
    rng: np.random.Generator, *, members: int, size: int, shared: int, p: float
) -> list[Filter]:
    """Filters with a range on each attribute; on the first `shared` attributes all have the same range.

    A range holds a share p of [0, 1]. At p = 0 and p = 1, ranges lie outside [0, 1] or reach beyond it, so that those
    that are not shared still differ.
    """
    lows, highs = _ranges(rng, (members, size), p)
    lows[:, :shared], highs[:, :shared] = lows[:1, :shared], highs[:1, :shared]
    names = _names(size)
    return [
        Filter.of(
            And(
                tuple(
                    Compare(name, operator, end)
                    for name, low, high in zip(names, *ends, strict=True)
                    for operator, end in ((">=", low), ("<=", high))
                )
            )
        )
        for ends in zip(lows.tolist(), highs.tolist(), strict=True)
    ]


def even_events(rng: np.random.Generator, count: int, size: int) -> list[dict[str, float]]:
    """Events with a value between 0 and 1 for every attribute."""
    names = _names(size)
    return [dict(zip(names, values, strict=True)) for values in rng.random((count, size)).tolist()]


def _ranges(rng: np.random.Generator, shape: tuple[int, int], p: float) -> tuple[np.ndarray, np.ndarray]:
    drawn = rng.random(shape)
    if p == 0:
        return -1.0 - drawn, np.full(shape, -0.5)
    if p == 1:
        return -drawn, np.full(shape, 1.5)
    low = drawn * (1.0 - p)
    return low, low + p


def _names(size: int) -> list[str]:
    return [f"a{number:03}" for number in range(size)]


Event = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ClusterMatcher:
    """A set of filters and one way to match it.

    Parameters
    ----------
    match : returns the number of filters that match the event with this number
    evaluations : returns the mean number of predicates evaluated on other events; None if it evaluates none
    """

    match: Callable[[int], int]
    evaluations: Callable[[Sequence[Record]], float] | None = None


def _planned(filters: Sequence[Filter], events: Sequence[Event], p: float) -> ClusterMatcher:
    named = {str(number): filter for number, filter in enumerate(filters)}
    wanted = FilterSet(named, covering=False)  # equation 6 assumes independent predicates
    found = plan(wanted.problem.with_selectivities([p] * len(wanted.predicates)))
    records = [read_event(event) for event in events]

    def evaluations(others: Sequence[Record]) -> float:
        return count(found, wanted.columns(others), len(others)).evaluations / len(others)

    return ClusterMatcher(lambda event: len(wanted.execute(found, records[event]).owners), evaluations)


def _diagrams(filters: Sequence[Filter], events: Sequence[Event], _p: float) -> ClusterMatcher:
    index = _index_of(filters)
    records = [read_event(event) for event in events]
    return ClusterMatcher(
        lambda event: len(index.match(records[event])), lambda others: _nodes_tested(index, others)
    )


def _chains(filters: Sequence[Filter], events: Sequence[Event], _p: float) -> ClusterMatcher:
    """Diagrams without their first phase: the true predicates are known."""
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

    def match(event: int) -> int:
        outputs = top_down(seen, true[event], truth, stack, found, size)
        return int(columns.outputs[found[:outputs]].sum())

    return ClusterMatcher(match)


def _index_of(filters: Sequence[Filter]) -> DiagramIndex:
    index = DiagramIndex(order_from_filters(filters))
    for slot, filter in enumerate(filters):
        index.add(slot, filter)
    return index


def _nodes_tested(index: DiagramIndex, records: Sequence[Record]) -> float:
    """The mean number of nodes whose variable is tested on the way up from the terminal."""
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


def _segments(filters: Sequence[Filter], events: Sequence[Event], _p: float) -> ClusterMatcher:
    """The engine's segments; an engine itself would not use them for a set this small."""
    index = SegmentIndex()
    index.extend(dict(enumerate(filters)))
    view = index.view
    plain = [dict(event) for event in events]
    return ClusterMatcher(lambda event: view.match_plain(plain[event], len) or 0)


MATCHERS: dict[str, Callable[[Sequence[Filter], Sequence[Event], float], ClusterMatcher]] = {
    "planned": _planned,
    "diagrams": _diagrams,
    "chains": _chains,
    "segments": _segments,
}
