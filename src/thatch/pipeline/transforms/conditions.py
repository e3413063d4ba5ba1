"""What the conditions of a filter are like, for those who want to see a set of filters at a glance."""

from __future__ import annotations

from thatch.model.filters import Filter
from thatch.model.lines import (
    MISSING,
    NULL,
    NUMBERS,
    PRESENT,
    TEXTS,
    Constraint,
    intervals,
    is_single,
    prefix_interval,
)
from thatch.model.residuals import WildcardCheck

__all__ = ["conditions_of"]

_NAMED = {MISSING: "missing", NULL: "null", PRESENT: "present"}
_ENDS = {NUMBERS[0], NUMBERS[1], TEXTS[0], TEXTS[1]}


def conditions_of(filter: Filter) -> list[str]:
    """For each condition of a filter in normal form its kind, a blank, and its attribute."""
    found = []
    for conjunction in filter.conjunctions:
        found += [f"{_kind(constraint)} {key}" for key, constraint in conjunction.constraints]
        for check in conjunction.residuals:
            kind = "wildcard" if isinstance(check, WildcardCheck) else "within"
            found.append(f"{kind} {', '.join(check.keys)}")
    return found


def _kind(constraint: Constraint) -> str:
    """One word for a constraint."""
    if (name := _NAMED.get(constraint)) is not None:
        return name
    if len(constraint) > 2:
        return "in" if all(is_single(*each) for each in intervals(constraint)) else "intervals"
    low, high = constraint
    if is_single(low, high):
        return "equal"
    if len(low) == 3 and isinstance(low[1], str) and prefix_interval(low[1]) == constraint:
        return "prefix"
    return "one-sided" if low in _ENDS or high in _ENDS else "between"
