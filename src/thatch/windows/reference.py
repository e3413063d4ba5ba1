"""The definition: the alerts of a whole history, with a look at all of it for every occurrence. Slow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from thatch.windows.problem import Fulfilment, Group, Occurrence, Rule

__all__ = ["find_alerts"]


def find_alerts(rule: Rule, history: Iterable[Occurrence]) -> list[tuple[int, Group, Fulfilment]]:
    """The time and the group of every alert, in order, with what it rests on."""
    by_group: dict[Group, list[Occurrence]] = defaultdict(list)
    for each in sorted(history):
        by_group[each.group].append(each)
    found = [(time, group, what) for group, some in by_group.items() for time, what in _of_group(rule, some)]
    return sorted(found, key=lambda each: each[:2])


def _of_group(rule: Rule, some: Sequence[Occurrence]) -> Iterator[tuple[int, Fulfilment]]:
    unused = 0  # where the occurrences begin that no alert has used up
    for position, last in enumerate(some):
        seen = [
            each for each in some[unused : position + 1] if each.time >= last.time - rule.within
        ]  # ends with `last`
        found = _fulfilled(rule, seen)
        if found is not None:
            yield last.time, found
            unused = position + 1


def _fulfilled(rule: Rule, seen: Sequence[Occurrence]) -> Fulfilment | None:
    if rule.kind == "count":
        return Fulfilment(seen[0].time, len(seen)) if len(seen) >= rule.at_least else None
    if rule.kind == "distinct":
        latest = {each.what[0]: each.time for each in seen}
        if len(latest) < rule.at_least:
            return None
        return Fulfilment(min(latest.values()), len(latest), tuple(sorted(latest)))
    rows = [seen[row[0]].time for row in _rows(len(rule.steps), seen) if row[-1] == len(seen) - 1]
    return Fulfilment(max(rows), len(rule.steps)) if rows else None


def _rows(steps: int, seen: Sequence[Occurrence]) -> list[tuple[int, ...]]:
    """Every way to choose, in this order, an occurrence for each step."""
    rows: list[tuple[int, ...]] = [()]
    for step in range(steps):
        rows = [
            (*row, position)
            for row in rows
            for position in range(row[-1] + 1 if row else 0, len(seen))
            if step in seen[position].what
        ]
    return rows
