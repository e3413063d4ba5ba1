"""Find the filters that others cover, by events that they match: for patterns, shapes and products too large for boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from thatch.matching.growing import GrowingIndex
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.reduction.problem import Verdict
from thatch.reduction.tree_refinement import decide_by_events
from thatch.reduction.witnesses import Event

__all__ = ["EventCovering"]

_MOST_TRIED = 64  # filters that may cover one alone


class EventCovering:
    """Filters by number, of which those are left out that the others cover.

    Parameters
    ----------
    filters : all of them
    by : those left out so far, each with those that cover it
    """

    def __init__(
        self, filters: Sequence[Filter], schema: Schema | None, by: Mapping[int, tuple[int, ...]]
    ) -> None:
        self.schema = schema
        self.by = dict(by)
        self._filters = filters
        self._index = GrowingIndex(schema=schema)
        self._index.extend(dict(enumerate(filters)))
        self._asked = -1
        self._always: set[int] | None = None  # those that match all events of what is asked

    def find(self, numbers: Iterable[int], budget: float, step: Callable[[int], object]) -> list[int]:
        """Leave out those of some filters that the others cover, the last ones first; returns those not decided.

        Those that one other covers go first, so that what several cover together does not hide them.
        """
        undecided = []
        together = []
        for number in sorted(numbers, reverse=True):
            if budget <= 0:
                undecided.append(number)
                continue
            verdict = self._decide(number)
            budget -= verdict.work.nodes
            if verdict.covered is None:
                undecided.append(number)
            elif verdict.covered:
                alone = self._find_alone(number, verdict.used)
                if alone is None:
                    together.append(number)
                else:
                    self.by[number] = (alone,)
            step(2)
        for number in together:
            verdict = self._decide(number)
            if verdict.covered:
                self.by[number] = verdict.used
        return undecided

    def _decide(self, number: int) -> Verdict[Event]:
        self._asked, self._always = number, None
        return decide_by_events(self._filters[number], self)

    def find_matching(self, event: Event) -> Iterator[tuple[int, Filter]]:
        """The filters that match an event, without the one that is asked about and those left out."""
        found = self._index.view.match(read_event(event, self.schema)).tolist()
        slots = {slot for slot in found if slot != self._asked and slot not in self.by}
        self._always = slots if self._always is None else self._always & slots
        return ((slot, self._filters[slot]) for slot in sorted(slots))

    def _find_alone(self, number: int, others: tuple[int, ...]) -> int | None:
        """A filter that alone covers one that others cover together; it matches all events that were looked at."""
        if len(others) == 1:
            return others[0]
        likely = sorted(self._always or ())[:_MOST_TRIED]
        return next((each for each in likely if self._filters[each].covers(self._filters[number])), None)
