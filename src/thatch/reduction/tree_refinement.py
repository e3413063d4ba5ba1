"""From trees to events: the loop that decides filters whose alternatives or patterns are too many, or too unlike, for boxes.

An event that the filter matches is looked for, and matched against the others. Those that match it are excluded, and
another event is looked for, until none of the others matches it, or there is none left. Covering is matching: of many
thousand others only those are looked at that match an event made of the filter's own patterns.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import islice
from typing import Protocol

from thatch.model.event_search import EventSearch
from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.reduction.problem import Verdict, Work
from thatch.reduction.witnesses import Event, event_at

__all__ = ["MatchingOthers", "decide_by_events"]

_MOST_ROUNDS = 1_000  # events of one question; every one but the last excludes a filter
_AT_ONCE = 8  # filters that match one event and are excluded at once


class MatchingOthers(Protocol):
    """Filters by name that can be asked which of them match an event."""

    schema: Schema | None

    def find_matching(self, event: Event) -> Iterable[tuple[Hashable, Filter]]:
        """Some that match an event; none only if none does."""
        ...


def decide_by_events(filter: Filter, others: MatchingOthers, budget: float | None = None) -> Verdict[Event]:
    """Decide whether the union of others contains a filter; `covered` is None if the budget of steps runs out."""
    search = EventSearch([filter.tree], others.schema, budget)
    names: dict[Hashable, None] = {}
    work = Work()
    for _ in range(_MOST_ROUNDS):
        found = search.find()
        work = Work(len(names), search.steps_taken, work.rounds + 1)
        if found.is_empty:
            every = tuple(names)
            used = tuple(sorted(every[number] for number in found.used))  # type: ignore[type-var]  # of one kind
            rule = "event_search" if len(used) > 1 else "pairwise" if used else "empty"
            return Verdict(covered=True, certain=True, decided_by=rule, used=used, work=work)
        if found.is_empty is None:
            break
        event = event_at(found.places)
        matching = list(islice(others.find_matching(event), _AT_ONCE))
        if not matching:
            if not filter.matches(event):
                break  # values that are read otherwise than they were written prove nothing
            return Verdict(covered=False, certain=True, decided_by="event_search", witness=event, work=work)
        fresh = [(name, each) for name, each in matching if name not in names]
        if not fresh:
            break  # the same
        for name, each in fresh:
            names[name] = None
            search.exclude(each.tree)
    return Verdict(covered=None, certain=False, decided_by="budget", work=work)
