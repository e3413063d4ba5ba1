"""The line of an attribute, cuts on it, and constraints as unions of intervals between cuts.

Every attribute has one ordered line::

    missing < null < false < true < NaN < numbers ......... < text ...........
    (0,)      (1,)   (2,)    (3,)   (4,)  (5,) (5, v, side)   (6,) (6, s, side)   (7,)

A **cut** lies between two values. It is a tuple that Python orders by itself, exactly: integers and doubles
compare by value, text by code point. `(r,)` is the cut just below everything of rank `r`; `(r, v, 0)` is just
below the value `v` and `(r, v, 1)` just above it. Five ranks hold a single value with nothing between them, so
`(r + 1,)` is also the cut just above such a value. The least number, the greatest number and the empty text
touch the ends of their segment; `below` and `above` return the segment's own cut there, so that cuts with
nothing between them are equal wherever that can be known without a schema.

A **point** is the cut just below a value: the value's place on the line. A **constraint** is a flat tuple of an
even number of strictly rising cuts `(lo, hi, lo, hi, ...)`; a value satisfies it exactly when an odd number of
cuts lie at or below its point, which is one `bisect`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from operator import itemgetter
from typing import Any, TypeAlias

__all__ = [
    "BOOLEANS",
    "BOTTOM",
    "COMPARABLE",
    "EMPTY",
    "MISSING",
    "NULL",
    "NUMBERS",
    "PRESENT",
    "RANK_NUMBER",
    "RANK_TEXT",
    "RANK_TEXTS",
    "TEXTS",
    "TOP",
    "WHOLE",
    "Constraint",
    "Cut",
    "Literal",
    "above",
    "around",
    "below",
    "complement",
    "contains",
    "covers",
    "difference",
    "first_point",
    "intersect",
    "intersect_all",
    "intervals",
    "is_prefix",
    "is_single",
    "point",
    "prefix_interval",
    "segment_of",
    "union",
    "value_at",
    "values_union",
]

Cut: TypeAlias = tuple[Any, ...]
Constraint: TypeAlias = tuple[Cut, ...]
Literal: TypeAlias = bool | int | float | str | None

RANK_NUMBER = 5
RANK_TEXT = 6
RANK_TEXTS = 8  # beyond the line: (8, texts), all those of an event

BOTTOM: Cut = (0,)
TOP: Cut = (7,)
EMPTY: Constraint = ()
WHOLE: Constraint = (BOTTOM, TOP)
MISSING: Constraint = (BOTTOM, (1,))
NULL: Constraint = ((1,), (2,))
BOOLEANS: Constraint = ((2,), (4,))
NUMBERS: Constraint = ((5,), (6,))
TEXTS: Constraint = ((6,), TOP)
PRESENT: Constraint = ((1,), TOP)
COMPARABLE: Constraint = ((2,), (4,), (5,), TOP)  # booleans, numbers and text: neither null nor NaN

_SEGMENTS: dict[type, Constraint] = {
    str: TEXTS,
    int: NUMBERS,
    float: NUMBERS,
    bool: BOOLEANS,
    type(None): NULL,
}
_LOW = itemgetter(0)
_LAST_CODE_POINT = 0x10FFFF


def below(value: Literal) -> Cut:
    """The cut just below `value`, which must not be NaN."""
    if type(value) is int:  # the most common case first
        return (5, value, 0)
    if isinstance(value, str):
        return (6, value, 0) if value else (6,)
    if value is None:
        return (1,)
    if value is True:
        return (3,)
    if value is False:
        return (2,)
    return (5, value, 0) if value != -inf else (5,)


def above(value: Literal) -> Cut:
    """The cut just above `value`, which must not be NaN."""
    if type(value) is int:
        return (5, value, 1)
    if isinstance(value, str):
        return (6, value, 1)
    if value is None:
        return (2,)
    if value is True:
        return (4,)
    if value is False:
        return (3,)
    return (5, value, 1) if value != inf else (6,)


def point(value: Literal) -> Cut:
    """The place of a value on the line; NaN has its own."""
    if isinstance(value, str):
        return (6, value, 0)
    if value is None:
        return (1,)
    if value is True:
        return (3,)
    if value is False:
        return (2,)
    if value != value:
        return (4,)
    return (5, value, 0)


def value_at(place: Cut) -> Literal:
    """The value whose point is `place`; NaN for NaN. Not defined for missing."""
    rank = place[0]
    if rank >= RANK_NUMBER:
        value: Literal = place[1]
        return value
    return {1: None, 2: False, 3: True, 4: float("nan")}[rank]


def first_point(low: Cut) -> Cut:
    """The point of the least value above a cut that lies just below a value."""
    if len(low) == 3 or low[0] < RANK_NUMBER:
        return low
    return (5, -inf, 0) if low[0] == RANK_NUMBER else (6, "", 0)


def around(place: Cut) -> Constraint:
    """The interval that holds just the value at a point."""
    if len(place) == 1:
        return (place, (place[0] + 1,))
    return (below(place[1]), above(place[1]))


def is_single(low: Cut, high: Cut) -> bool:
    """Whether an interval holds just one value, as far as its cuts tell."""
    if len(low) == len(high) == 3:
        return bool(low[1] == high[1] and low[0] == high[0] and low[2] < high[2])
    return (len(low) == 1 or low[2] == 0) and around(first_point(low)) == (low, high)


def segment_of(value: Literal) -> Constraint:
    """The part of the line that holds the values of the same type as `value`."""
    segment = _SEGMENTS.get(type(value))
    assert segment is not None
    return segment


def contains(constraint: Constraint, place: Cut) -> bool:
    """Whether the value at `place` satisfies the constraint."""
    return bisect_right(constraint, place) & 1 == 1


def intervals(constraint: Constraint) -> Iterator[tuple[Cut, Cut]]:
    """The constraint's intervals, lowest first."""
    ends = iter(constraint)
    return zip(ends, ends, strict=True)


def complement(constraint: Constraint) -> Constraint:
    """Everything on the line, missing included, that the constraint leaves out."""
    if not constraint:
        return WHOLE
    start = constraint[1:] if constraint[0] == BOTTOM else (BOTTOM, *constraint)
    return start[:-1] if start and start[-1] == TOP else (*start, TOP)


def union(constraints: Iterable[Constraint]) -> Constraint:
    """All that satisfies at least one of the constraints. O(n log n) in the number of intervals."""
    constraints = [each for each in constraints if each]
    if len(constraints) == 1:
        return constraints[0]
    if all(len(each) == 2 for each in constraints):
        pairs = sorted(constraints, key=_LOW)
    else:
        pairs = sorted((pair for constraint in constraints for pair in intervals(constraint)), key=_LOW)
    merged: list[Cut] = []
    for low, high in pairs:
        if merged and low <= merged[-1]:
            if high > merged[-1]:
                merged[-1] = high
        else:
            merged.append(low)
            merged.append(high)
    return tuple(merged)


def values_union(values: Collection[Literal]) -> Constraint:
    """The values and nothing else. Quick for many that are all text, or all integers."""
    kinds = set(map(type, values))
    if kinds == {str}:
        texts = sorted(set(values))  # type: ignore[type-var]  # all are text
        first = [(6,), (6, "", 1)] if texts[0] == "" else []
        return (*first, *(cut for text in texts if text for cut in ((6, text, 0), (6, text, 1))))
    if kinds == {int}:
        return tuple(cut for value in sorted(set(values)) for cut in ((5, value, 0), (5, value, 1)))  # type: ignore[type-var]  # all are integers
    return union((below(value), above(value)) for value in values)


def intersect(first: Constraint, second: Constraint) -> Constraint:
    """All that satisfies both constraints. Linear in the number of intervals."""
    if len(first) == 2 and len(second) == 2:  # by far the most common case
        low = first[0] if first[0] >= second[0] else second[0]
        high = first[1] if first[1] <= second[1] else second[1]
        return (low, high) if low < high else EMPTY
    if len(first) == 2:
        return _inside(second, *first)
    if len(second) == 2:
        return _inside(first, *second)
    result: list[Cut] = []
    i = j = 0
    while i < len(first) and j < len(second):
        low = max(first[i], second[j])
        high = min(first[i + 1], second[j + 1])
        if low < high:
            result.append(low)
            result.append(high)
        if first[i + 1] <= second[j + 1]:
            i += 2
        else:
            j += 2
    return tuple(result)


def _inside(constraint: Constraint, low: Cut, high: Cut) -> Constraint:
    """The part of a constraint between two cuts."""
    start, end = bisect_right(constraint, low), bisect_left(constraint, high)
    found = constraint[start:end]
    if start & 1:
        found = (low, *found)
    return (*found, high) if end & 1 else found


def intersect_all(constraints: Sequence[Constraint]) -> Constraint:
    """All that satisfies every constraint. O(n log n) in the number of intervals, however many constraints."""
    if len(constraints) <= 2:
        return constraints[0] if len(constraints) == 1 else intersect(*constraints)
    if all(len(each) == 2 for each in constraints):
        low, high = max(each[0] for each in constraints), min(each[1] for each in constraints)
        return EMPTY if high <= low else (low, high)
    first = constraints[0]
    if len(first) == 4 and all(
        len(each) == 4 and each[0] == first[0] and each[3] == first[3] for each in constraints
    ):  # the same but for one gap each
        return (first[0], *union(each[1:3] for each in constraints), first[3])
    return complement(union(map(complement, constraints)))


def difference(first: Constraint, second: Constraint) -> Constraint:
    """All that satisfies the first constraint and not the second."""
    return intersect(first, complement(second))


def covers(outer: Constraint, inner: Constraint) -> bool:
    """Whether every place of `inner` lies in `outer`."""
    if len(outer) == 2 and inner:
        return outer[0] <= inner[0] and inner[-1] <= outer[1]
    for low, high in intervals(inner):
        index = bisect_right(outer, low)
        if not index & 1 or outer[index] < high:
            return False
    return True


def prefix_interval(prefix: str) -> Constraint:
    """All texts that begin with `prefix`: from the prefix itself to the first text past all of them."""
    return (below(prefix), _past_prefix(prefix))


def is_prefix(low: Cut, high: Cut) -> bool:
    """Whether an interval is that of all texts with one prefix, which is then the value of the lower cut."""
    return low[0] == RANK_TEXT and len(low) == 3 and low[2] == 0 and high == _past_prefix(low[1])


def _past_prefix(prefix: str) -> Cut:
    """The cut below the least text greater than every text with this prefix."""
    if prefix and prefix[-1] < "\ud7ff":  # the most common case first
        return (6, prefix[:-1] + chr(ord(prefix[-1]) + 1), 0)
    for position in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[position])
        if code < _LAST_CODE_POINT:
            # Surrogates are not text: the code point after U+D7FF is U+E000.
            following = 0xE000 if code == 0xD7FF else code + 1
            return (6, prefix[:position] + chr(following), 0)
    return TOP
