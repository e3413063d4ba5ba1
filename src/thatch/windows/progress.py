"""How far the occurrences of one key have come; they are taken in the order of time.

What is remembered of a key is bounded by the rule: at most `at_least` times or values, or a time for each step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from typing import Any

from thatch.model.derived import FIRST_MICROSECOND, LAST_MICROSECOND
from thatch.model.lines import Cut, point, value_at
from thatch.model.values import is_text
from thatch.windows.problem import Fulfilment, Rule

__all__ = ["Progress", "place_of", "progress_of", "time_of"]


class Progress(ABC):
    """What is remembered of a key."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = 0  # the time of the last occurrence

    @abstractmethod
    def take(self, rule: Rule, time: int, what: tuple[Any, ...]) -> Fulfilment | None:
        """Take an occurrence that is no earlier than those before; what was found, which is then forgotten."""

    @abstractmethod
    def state(self) -> list[Any]:
        """All that is remembered, as JSON can hold it."""

    @abstractmethod
    def restore(self, rule: Rule, state: list[Any]) -> None:
        """Remember what `state` gave; raises for what it never gives."""


class _Count(Progress):
    """The times of occurrences, rising."""

    __slots__ = ("times",)

    def __init__(self) -> None:
        super().__init__()
        self.times: deque[int] = deque()

    def take(self, rule: Rule, time: int, what: tuple[Any, ...]) -> Fulfilment | None:  # noqa: ARG002 - all are alike
        times = self.times
        times.append(time)
        while times[0] < time - rule.within:
            times.popleft()
        if len(times) < rule.at_least:
            return None
        found = Fulfilment(times[0], len(times))
        times.clear()
        return found

    def state(self) -> list[Any]:
        return list(self.times)

    def restore(self, rule: Rule, state: list[Any]) -> None:
        self.times = deque(_rising(rule, map(time_of, state)))


class _Distinct(Progress):
    """The last time of each value, in the order of these times."""

    __slots__ = ("times",)

    def __init__(self) -> None:
        super().__init__()
        self.times: dict[Cut, int] = {}

    def take(self, rule: Rule, time: int, what: tuple[Any, ...]) -> Fulfilment | None:
        times, value = self.times, what[0]
        times.pop(value, None)
        times[value] = time
        while times[first := next(iter(times))] < time - rule.within:
            del times[first]
        if len(times) < rule.at_least:
            return None
        found = Fulfilment(times[first], len(times), tuple(sorted(times)))
        times.clear()
        return found

    def state(self) -> list[Any]:
        return [[list(value), time] for value, time in self.times.items()]

    def restore(self, rule: Rule, state: list[Any]) -> None:
        _rising(rule, [time_of(time) for _, time in state])
        self.times = {place_of(value): time for value, time in state}


class _Sequence(Progress):
    """For each step but the last: when the latest row of occurrences began that has come that far."""

    __slots__ = ("begun",)

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[int | None] = []

    def take(self, rule: Rule, time: int, what: tuple[Any, ...]) -> Fulfilment | None:
        begun, last = self.begun, len(rule.steps) - 1
        if not begun:
            begun += [None] * last
        for step in reversed(what):  # so that one event takes each row one step further at most
            start = begun[step - 1] if step else time
            if start is None or start < time - rule.within:
                continue
            if step == last:
                self.begun = []
                return Fulfilment(start, len(rule.steps))
            before = begun[step]
            begun[step] = start if before is None else max(start, before)
        return None

    def state(self) -> list[Any]:
        return list(self.begun)

    def restore(self, rule: Rule, state: list[Any]) -> None:
        if len(state) not in {0, len(rule.steps) - 1}:
            raise ValueError("steps")
        self.begun = [None if each is None else time_of(each) for each in state]


def _rising(rule: Rule, times: Iterable[int]) -> list[int]:
    some = list(times)
    if some != sorted(some) or len(some) >= rule.at_least:
        raise ValueError("times")
    return some


def time_of(read: Any) -> int:
    """A time of a saved window; raises for what is none."""
    if type(read) is not int or not FIRST_MICROSECOND <= read <= LAST_MICROSECOND:
        raise ValueError("a time")
    return read


def place_of(read: Any) -> Cut:
    """A point of a saved window; raises for what is none."""
    place = tuple(read)
    value = value_at(place)
    if not is_text(value) if isinstance(value, str) else type(value) not in {int, float, bool, type(None)}:
        raise ValueError("a value")
    if place != point(value):
        raise ValueError("a point")
    return place


def progress_of(rule: Rule) -> Progress:
    """The progress of a key of which nothing is known yet."""
    if rule.kind == "count":
        return _Count()
    return _Distinct() if rule.kind == "distinct" else _Sequence()
