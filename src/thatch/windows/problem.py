"""What a window is asked, what counts towards it, and what it answers.

A window looks at **occurrences**: events that count for a key. Of each key it is told in the order of time

    count n      whether n occurrences lie within the time
    distinct n   whether occurrences of n different values do
    sequence     whether occurrences of its steps, one after the other, do

Whenever that is so, there is an **alert**, which uses up what it rests on: the key begins anew. Within a time means that
the last is at most that much later than the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from thatch.errors import ParameterError, shown
from thatch.model.filters import Filter
from thatch.model.lines import Cut
from thatch.model.lines import Literal as Value
from thatch.model.names import ANYWHERE, DERIVATIONS, derived_key, key_of, name_of, split
from thatch.model.values import is_id

__all__ = [
    "LONGEST",
    "MAX_AT_LEAST",
    "MAX_STEPS",
    "Alert",
    "Fulfilment",
    "Group",
    "Kind",
    "Occurrence",
    "Rule",
    "Step",
    "WindowLimits",
    "microseconds",
    "seconds_of",
]  # fmt: skip

MAX_AT_LEAST = 100_000  # what a key must remember grows with it
MAX_STEPS = 100
LONGEST = 100 * 366 * 86_400 * 10**6  # microseconds
_UNITS = {"us": 1, "ms": 1_000, "s": 10**6, "m": 60 * 10**6, "h": 3_600 * 10**6, "d": 86_400 * 10**6}

Kind = Literal["count", "distinct", "sequence"]
Step: TypeAlias = "str | Filter"  # the id of a subscription, or a filter that the window asks itself
Group: TypeAlias = tuple[
    str, tuple[Cut, ...]
]  # a subscription, empty for none, and a value of each attribute of `by`


class Occurrence(NamedTuple):
    """An event that counts for a key. Occurrences are taken in their order as tuples."""

    time: int  # microseconds since 1970
    group: Group
    what: tuple[
        Any, ...
    ]  # nothing; the value to be distinct, as a point; or the steps that the event is, rising


class Fulfilment(NamedTuple):
    """What a key's progress gives when the rule is fulfilled."""

    first: int
    number: int  # of occurrences, values or steps
    values: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """That a rule over time was fulfilled.

    Parameters
    ----------
    subscription : whose matches were counted; None if the window counts those of several, or of none in particular
    key : the values by which occurrences were kept apart
    first, last : the times of the first and the last occurrence that it rests on, in seconds since 1970
    count : the number of occurrences, of different values, or of steps
    values : the different values, in the order of the line
    """

    subscription: str | None
    key: dict[str, Value]
    first: float
    last: float
    count: int
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a window looks for; checked when it is made.

    Parameters
    ----------
    kind : count, distinct or sequence
    at_least : how many; for a sequence the number of its steps
    within : microseconds
    by : keys of the attributes by which occurrences are kept apart
    attribute : the key of the attribute whose values are to be distinct
    steps : what counts, for a sequence in this order; empty if each subscription counts by itself
    time : the key of the attribute that tells when an event happened
    """

    kind: Kind
    at_least: int
    within: int
    by: tuple[str, ...] = ()
    attribute: str = ""
    steps: tuple[Step, ...] = ()
    time: str = '"time"'

    def __post_init__(self) -> None:
        if self.kind not in {"count", "distinct", "sequence"}:
            raise ParameterError("count, distinct or sequence", shown(self.kind), "kind")
        if (self.kind == "distinct") != (self.attribute != ""):
            raise ParameterError(
                "an attribute where its values are to be distinct", shown(self.attribute), "attribute"
            )
        if self.kind == "sequence":
            if not 2 <= len(self.steps) <= MAX_STEPS:
                raise ParameterError(f"2 to {MAX_STEPS} steps", f"{len(self.steps)}", "steps")
        elif not _is_whole(self.at_least) or not 1 <= self.at_least <= MAX_AT_LEAST:
            raise ParameterError(
                f"a whole number from 1 to {MAX_AT_LEAST:,}", shown(self.at_least), "at_least"
            )
        if not _is_whole(self.within) or not 0 < self.within <= LONGEST:
            raise ParameterError("a time above 0", shown(self.within), "within")
        for each in (*self.by, self.time, *([self.attribute] if self.attribute else ())):
            if not _is_key(each):
                raise ParameterError("the key of an attribute", shown(each))
        if len(set(self.by)) != len(self.by):
            raise ParameterError("each attribute once", shown(self.by), "by")


class WindowLimits(TypedDict, total=False):
    """How a window bounds what it keeps; see `Window.count`."""

    lateness: float | str | timedelta
    max_keys: int
    max_waiting: int


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_key(key: object) -> bool:
    """Whether a value is the key of an attribute, written as keys are."""
    if not isinstance(key, str) or not is_id(key):
        return False
    functions, base = split(key)
    is_known = base != ANYWHERE and (not functions or functions in DERIVATIONS)
    return is_known and base == key_of(name_of(base)) and key == derived_key(functions, base)


def microseconds(value: object, what: str) -> int:
    """The microseconds of a duration: a number of seconds, a timedelta, or a text such as `90s`, `5m`, `1.5h`, `2d`."""
    number: float | None = None
    if isinstance(value, timedelta):
        number = value.total_seconds()
    elif isinstance(value, str):
        digits = value.strip().rstrip("dhmsu")
        unit = value.strip()[len(digits) :] or "s"
        try:
            number = float(digits) * _UNITS[unit] / 10**6
        except (ValueError, KeyError):
            number = None
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        number = value
    if number is None or not 0 <= number <= LONGEST / 10**6:  # NaN is not either
        raise ParameterError("seconds, a timedelta or a text such as 90s, 5m, 1.5h or 2d", shown(value), what)
    return round(number * 10**6)


def seconds_of(time: int) -> float:
    """A time in seconds since 1970."""
    return time / 10**6
