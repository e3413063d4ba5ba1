"""The rows of one event while they are collected in Python."""

from __future__ import annotations

from math import inf, nextafter
from typing import Any

from thatch.matching.segments.records import JOINT
from thatch.model.derived import derive
from thatch.model.lines import Cut, point

__all__ = ["Derived", "EventRows", "is_whole"]

_EXACT = 2**53
_MOST_LISTS = 60  # of one event whose elements kernels keep apart

Derived = tuple[tuple[str, int], ...]  # derived attributes: their keys and numbers


class EventRows:
    """Rows while they are collected: their codes, numbers and texts, and the list and element of each.

    Of the rows up to the last number there is a number each, 0 where it is none.
    """

    __slots__ = ("codes", "element_count", "elements", "is_joint", "list_count", "lists", "numbers", "texts")

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.codes: list[int] = []
        self.texts: list[str] = []
        self.lists: list[int] = []
        self.elements: list[int] = []
        self.list_count = self.element_count = 0
        self.is_joint = False

    def new_list(self) -> int:
        """A number for a list whose elements kernels keep apart, 0 if there are too many lists."""
        if self.list_count == _MOST_LISTS:
            return 0
        self.list_count += 1
        return self.list_count

    def complete(self) -> None:
        """Write list 0 for rows that belong to no list; most events need not do so."""
        more = len(self.codes) - len(self.lists)
        self.lists += [0] * more
        self.elements += [0] * more

    def new_element(self) -> int:
        self.element_count += 1
        return self.element_count - 1

    def add_plain(self, code: int, value: Any, number: int = 0, element: int = 0) -> bool:
        """Add a value of one of the plain types; False if it is of another, or an integer that no double equals."""
        kind = type(value)
        if kind is str:
            self.texts.append(value)
            self.codes.append(code + 6)
        elif kind is float:
            self._add_number(code + (5 if value == value else 4), value)
        elif kind is int:
            if not -_EXACT <= value <= _EXACT and (not is_whole(value) or float(value) != value):
                return False
            self._add_number(code + 5, value)
        elif value is None or kind is bool:
            self.codes.append(code + (1 if value is None else 2 + value))
        else:
            return False
        if number:
            self.complete()
            self.lists[-1], self.elements[-1] = number, element
        return True

    def _add_number(self, code: int, value: float) -> None:
        if len(self.numbers) < len(self.codes):
            self.numbers += [0.0] * (len(self.codes) - len(self.numbers))
        self.codes.append(code)
        self.numbers.append(value)

    def add_texts(self, code: int, backwards: int | None, values: list[str]) -> bool:
        """Add a list of texts and, if there is a code for it, each text reversed; False if there are too many lists."""
        count = len(values)
        first, self.element_count = self.element_count, self.element_count + count
        if backwards is not None:
            number = self.new_list()
            if not number:
                return False
            self.complete()
            self.lists += [number] * (2 * count)
            self.elements += [*range(first, first + count)] * 2
            self.texts += [value[::-1] for value in values]
            self.codes += [backwards] * count
        self.texts += values
        self.codes += [code] * count
        return True

    def add_derived(self, keys: Derived, value: Any, number: int, element: int) -> bool:
        """Add what is derived from a plain value; False if one is an integer that no double equals."""
        for key, own in keys:
            cut = derive(key, point(value))
            if cut[0] == 5 and float(cut[1]) != cut[1]:
                return False
            self.add_cut(own, cut, number, element, 0)
        return True

    def add_cut(self, own: int, cut: Cut, number: int, element: int, joint: int) -> None:
        """Add a point of an attribute."""
        rank = cut[0]
        code = 8 * own + rank + joint
        if rank == 5 and float(cut[1]) != cut[1]:
            # An integer that no double equals: its two neighbours enclose it, and a match is verified.
            self.is_joint = True
            below = _double_below(cut[1])
            self._add_number(code | JOINT, below)
            self._add_number(code | JOINT, nextafter(below, inf))
            if number:
                self.complete()
                self.lists[-2:], self.elements[-2:] = (number, number), (element, element)
            return
        if rank == 5:
            self._add_number(code, float(cut[1]))
        else:
            self.codes.append(code)
        if rank == 6:
            self.texts.append(cut[1])
        if number:
            self.complete()
            self.lists[-1], self.elements[-1] = number, element


def is_whole(value: int) -> bool:
    """Whether an integer is one that an event may have."""
    return -(2**63) <= value < 2**63


def _double_below(value: int) -> float:
    double = float(value)
    return double if double <= value else nextafter(double, -inf)
