"""Boxes as columns: one row per side, with exact cuts, before and between segments.

A cut is a kind and a value. Kinds 0 to 7 are the cuts `(0,)` to `(7,)` of the line, without a value; `NUMBER` and
`TEXT`, plus the side, are cuts below or above a number or a text, the latter given by its position in `texts`.

Every number is kept as a double. An integer that no double equals is kept as the cut below the next double above it:
no double, and no integer that is one, lies between the two. Events with other integers are verified.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import inf, nextafter, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, Cut, intervals

__all__ = ["NUMBER", "TEXT", "Draft", "Sides"]

NUMBER, TEXT = 16, 32
MOST_SIDES = 1_000  # of one box; the rest is verified
MOST_BOXES = 16  # of one conjunction; beyond, the longest unions are kept as their hull and verified

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Sides:
    """Columns of boxes. `offsets` has the sides of each box, `subscription` the owner of each box.

    `place` and `verify` have a row per subscription: its turn in answers, and whether a match must be verified.
    """

    offsets: npt.NDArray[np.int64]
    attribute: Ints  # numbered as the index numbers its attributes
    lo_kind: npt.NDArray[np.int8]
    lo_value: npt.NDArray[np.float64]
    hi_kind: npt.NDArray[np.int8]
    hi_value: npt.NDArray[np.float64]
    subscription: Ints
    place: npt.NDArray[np.int64]
    verify: npt.NDArray[np.bool_]
    texts: list[bytes]

    @classmethod
    def joined(cls, parts: list[Sides]) -> Sides:
        """All boxes of several sets, in order."""
        texts: list[bytes] = []
        offsets = [np.zeros(1, np.int64)]
        values: dict[str, list[Any]] = {name: [] for name in ("lo_value", "hi_value")}
        owners = []
        sides = subscriptions = 0
        for part in parts:
            offsets.append(part.offsets[1:] + sides)
            for name, kinds in (("lo_value", part.lo_kind), ("hi_value", part.hi_kind)):
                value = getattr(part, name)
                values[name].append(np.where(kinds >= TEXT, value + len(texts), value))
            owners.append(part.subscription + np.int32(subscriptions))
            texts += part.texts
            sides += len(part.attribute)
            subscriptions += len(part.place)
        return cls(
            offsets=np.concatenate(offsets),
            attribute=np.concatenate([part.attribute for part in parts]),
            lo_kind=np.concatenate([part.lo_kind for part in parts]),
            lo_value=np.concatenate(values["lo_value"]),
            hi_kind=np.concatenate([part.hi_kind for part in parts]),
            hi_value=np.concatenate(values["hi_value"]),
            subscription=np.concatenate(owners),
            place=np.concatenate([part.place for part in parts]),
            verify=np.concatenate([part.verify for part in parts]),
            texts=texts,
        )

    def without(self, dead: npt.NDArray[np.bool_]) -> Sides:
        """The boxes of all subscriptions but the dead ones."""
        keep_box = ~dead[self.subscription]
        counts = np.diff(self.offsets)
        keep_side = np.repeat(keep_box, counts)
        numbers = np.cumsum(~dead, dtype=np.int32) - 1
        return Sides(
            offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[keep_box])]),
            attribute=self.attribute[keep_side],
            lo_kind=self.lo_kind[keep_side],
            lo_value=self.lo_value[keep_side],
            hi_kind=self.hi_kind[keep_side],
            hi_value=self.hi_value[keep_side],
            subscription=numbers[self.subscription[keep_box]].astype(np.int32),
            place=self.place[~dead],
            verify=self.verify[~dead],
            texts=self.texts,
        )


class Draft:
    """Columns in the making, filter by filter."""

    def __init__(self) -> None:
        self._offsets = array("q", [0])
        self._attribute = array("i")
        self._lo_kind, self._hi_kind = array("b"), array("b")
        self._lo_value, self._hi_value = array("d"), array("d")
        self._subscription = array("i")
        self._place = array("q")
        self._verify = array("b")
        self._texts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._place)

    def add(self, place: int, filter: Filter, number: dict[str, int]) -> None:
        """Append a filter; `number` gives attributes their numbers and learns new ones."""
        verify = False
        subscription = len(self._place)
        for conjunction in filter.conjunctions:
            sides, is_exact = _indexed(conjunction)
            verify = verify or not is_exact
            for box in _boxes(sides):
                self._add_box(box, number)
                self._subscription.append(subscription)
        self._place.append(place)
        self._verify.append(verify)

    def _add_box(self, box: Iterable[tuple[str, Cut, Cut]], number: dict[str, int]) -> None:
        for key, low, high in box:
            attribute = number.get(key)
            if attribute is None:
                attribute = number[key] = len(number)
            self._attribute.append(attribute)
            if len(low) == 3 and low[0] == 5 and -_EXACT < low[1] < _EXACT:  # by far the most common
                self._lo_kind.append(NUMBER + low[2])
                self._lo_value.append(low[1])
            else:
                kind, value = self._cut(low)
                self._lo_kind.append(kind)
                self._lo_value.append(value)
            if len(high) == 3 and high[0] == 5 and -_EXACT < high[1] < _EXACT:
                self._hi_kind.append(NUMBER + high[2])
                self._hi_value.append(high[1])
            else:
                kind, value = self._cut(high)
                self._hi_kind.append(kind)
                self._hi_value.append(value)
        self._offsets.append(len(self._attribute))

    def _cut(self, cut: Cut) -> tuple[int, float]:
        if len(cut) == 1:
            return cut[0], 0.0
        rank, value, side = cut
        if rank == 6:
            return TEXT + side, float(self._texts.setdefault(value, len(self._texts)))
        double = float(value)
        if double == value:
            return NUMBER + side, double
        return NUMBER, double if double > value else nextafter(double, inf)

    def sides(self) -> Sides:
        """What was added, as columns."""
        return Sides(
            offsets=np.array(self._offsets, np.int64),
            attribute=np.array(self._attribute, np.int32),
            lo_kind=np.array(self._lo_kind, np.int8),
            lo_value=np.array(self._lo_value, np.float64),
            hi_kind=np.array(self._hi_kind, np.int8),
            hi_value=np.array(self._hi_value, np.float64),
            subscription=np.array(self._subscription, np.int32),
            place=np.array(self._place, np.int64),
            verify=np.array(self._verify, np.bool_),
            texts=[text.encode("utf-8") for text in self._texts],
        )


_EXACT = 2**53


def _indexed(conjunction: Conjunction) -> tuple[list[tuple[str, Constraint]], bool]:
    """The constraints to index, and whether they say all: long unions are replaced by their hull."""
    constraints = list(conjunction.constraints[:MOST_SIDES])
    is_exact = not conjunction.residuals and len(conjunction.constraints) <= MOST_SIDES
    count = prod(len(constraint) // 2 for _, constraint in constraints)
    while count > MOST_BOXES:
        position = max(range(len(constraints)), key=lambda each: len(constraints[each][1]))
        key, constraint = constraints[position]
        count //= len(constraint) // 2
        constraints[position] = (key, (constraint[0], constraint[-1]))
        is_exact = False
    return constraints, is_exact


def _boxes(constraints: list[tuple[str, Constraint]]) -> Iterator[Iterable[tuple[str, Cut, Cut]]]:
    if all(len(constraint) == 2 for _, constraint in constraints):
        yield [(key, constraint[0], constraint[1]) for key, constraint in constraints]
        return
    yield from product(
        *([(key, low, high) for low, high in intervals(constraint)] for key, constraint in constraints)
    )
