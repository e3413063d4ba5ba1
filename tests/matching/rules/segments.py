"""Rule segments of their own, for tests: made of filters, and asked without an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from thatch.errors import FilterError
from thatch.matching.segments.rules.draft import RuleDraft
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.rules.workspace import RuleWorkspace
from thatch.model.events import read_event
from thatch.model.expressions import Expression
from thatch.model.filters import Filter
from thatch.model.trees import NEVER

__all__ = ["Numbers", "answer", "draft_of", "filters_of", "wanted"]

LAST = 2**62  # a moment after all changes


class Numbers(dict[str, int]):
    """The numbers of attributes; a new one gets the next."""

    def of(self, key: str) -> int:
        return self.setdefault(key, len(self))


def filters_of(expressions: Iterable[Expression]) -> dict[int, Filter]:
    """The filters of those expressions that some event can satisfy."""
    found: dict[int, Filter] = {}
    for slot, each in enumerate(expressions):
        try:
            filter = Filter.of(each)
        except FilterError:
            continue
        if filter.tree != NEVER:  # which only the tree may tell; such a filter is no rule
            found[slot] = filter
    return found


def draft_of(filters: Mapping[int, Filter], numbers: Numbers) -> RuleDraft:
    """Filters as rules, whether or not an index would keep them so."""
    draft = RuleDraft(numbers.of)
    for slot, each in filters.items():
        draft.add(slot, each)
    return draft


def answer(
    segments: Iterable[RuleSegment], event: dict[str, Any], numbers: Numbers, moment: int = LAST
) -> list[int]:
    """The slots of the rules that an event matches, in order."""
    workspace, record = RuleWorkspace(), read_event(event)
    workspace.attach(tuple(segments))
    found, pending = workspace.search_record(record, numbers, moment)
    asked = (workspace.owner(each) for each in pending.tolist())
    more = [segment.slot_of(owner) for segment, owner in asked if segment.filter(owner, None).holds(record)]
    assert record.choices or set(found.tolist()).isdisjoint(
        more
    )  # of a list, one element may be sure and one asked about
    return sorted({*found.tolist(), *more})


def wanted(filters: Mapping[int, Filter], event: dict[str, Any]) -> list[int]:
    """The slow answer."""
    return [slot for slot, each in sorted(filters.items()) if each.matches(event)]
