"""Subscriptions derived from real events, because real sets of subscriptions are not published.

A subscription is made from a random event and one to three of its attributes. For text, booleans and null it requires the
same value; for a number, a range around it between quantiles of that attribute: a few percent of all events to both sides
or to one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from thatch.errors import EventError, ParameterError, shown
from thatch.model.expressions import And, Compare, Expression, IsNull
from thatch.model.filters import Filter
from thatch.model.names import key_of

__all__ = ["draw_interests"]

SHARES = (0.01, 0.05, 0.1, 0.25)  # of all events on one side of a number


def draw_interests(
    rng: np.random.Generator,
    events: Sequence[Mapping[str, Any]],
    count: int,
    attributes: Sequence[str],
    *,
    sizes: tuple[int, int] = (1, 3),
    one_sided: float = 0.5,
) -> list[Filter]:
    """Filters that are each made from one event.

    Parameters
    ----------
    events : flat objects
    attributes : the attributes that filters may use, all equally likely
    sizes : least and most attributes of a filter, if the event has as many
    one_sided : the share of ranges with only one end
    """
    if count < 0:
        raise ParameterError("a count of at least 0", shown(count), "count")
    asked = [
        event
        for event in events
        if any(_is_askable(event.get(name), present=name in event) for name in attributes)
    ]
    if not asked:
        raise EventError("events with one of the attributes", f"none of {shown(list(attributes))}")
    numbers = {name: sorted(_numbers(asked, name)) for name in attributes}
    if not 1 <= sizes[0] <= sizes[1] or not 0 <= one_sided <= 1:
        raise ParameterError(
            "sizes from 1 up and a share from 0 to 1", f"{shown(sizes)} and {shown(one_sided)}"
        )
    made = []
    for _ in range(count):
        event = asked[int(rng.integers(len(asked)))]
        made.append(_interest(rng, event, numbers, int(rng.integers(sizes[0], sizes[1] + 1)), one_sided))
    return made


def _interest(
    rng: np.random.Generator,
    event: Mapping[str, Any],
    numbers: Mapping[str, list[float]],
    size: int,
    one_sided: float,
) -> Filter:
    there = [name for name in numbers if _is_askable(event.get(name), present=name in event)]
    chosen = [there[int(each)] for each in rng.permutation(len(there))[:size]]
    conditions = [
        each for name in sorted(chosen) for each in _asked(rng, name, event[name], numbers[name], one_sided)
    ]
    return Filter.of(And(tuple(conditions)))


def _asked(
    rng: np.random.Generator, name: str, value: Any, numbers: Sequence[float], one_sided: float
) -> list[Expression]:
    key = key_of(name)
    if value is None:
        return [IsNull(key)]
    if not _is_number(value):
        return [Compare(key, "=", value)]
    place, last = bisect_left(numbers, value), len(numbers) - 1
    reach = int(SHARES[int(rng.integers(len(SHARES)))] * len(numbers))
    low, high = numbers[max(0, place - reach)], numbers[min(last, place + reach)]
    side = rng.random()
    if side < one_sided / 2:
        return [Compare(key, "<=", high)]
    if side < one_sided:
        return [Compare(key, ">=", low)]
    return [Compare(key, ">=", low), Compare(key, "<=", high)]


def _numbers(events: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    values = [event.get(name) for event in events]
    return [value for value in values if _is_number(value)]


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_askable(value: Any, *, present: bool) -> bool:
    return present and (value is None or isinstance(value, bool | str) or _is_number(value))
