"""Filters as boxes of whole numbers: there is an axis for every attribute and every residual check that a filter uses.

A side of a box between two cuts is the closed interval of labels from that of the lower cut to the one before that of
the upper cut. A residual check and its opposite share an axis of two halves, because exactly one of them holds for every
flat event. So a check is a side like any other, and `A and c` together with `A and not c` covers `A`.

A filter becomes boxes in one of two ways. As a *row*, which covers others, its boxes hold exactly what satisfies it. As a
*question*, which is to be covered, its boxes hold at least what satisfies it, narrowed by what its conditions imply for
derived attributes and checks. So a question inside the union of rows is covered. The reverse need not hold, because axes
depend on each other: some combinations of a value, its lower-case form and its checks never occur.

Labels are valid until the next call of `boxes`, which may have to relabel an axis (see `on_relabel`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import cast

import numpy as np

from thatch.errors import SchemaError, shown
from thatch.model.conjunctions import Conjunction
from thatch.model.filters import Filter
from thatch.model.lines import Constraint, Cut, intervals
from thatch.model.residuals import Residual
from thatch.model.schema import Schema
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints
from thatch.reduction.coordinates.axis import LabelledAxis
from thatch.reduction.coordinates.implications import Implications

__all__ = ["MOST_BOXES", "Coordinates", "OnRelabel"]

MOST_BOXES = 1_024  # of one filter

OnRelabel = Callable[[int, Ints, Ints], None]
Interval = tuple[int, int]
Sides = dict[int, list[Interval]]

# An event without attributes satisfies negated checks only: it lies at the lowest label of every axis.
_HALF = {True: (LOWEST, -1), False: (0, HIGHEST)}  # by whether the check is negated
_WHOLE = (LOWEST, HIGHEST)


class Coordinates:
    """Axes and labels for a growing set of filters.

    Parameters
    ----------
    schema : declared types, the same for all filters
    on_relabel : called when there is no room for a new cut, with an axis, the labels of all its cuts, ascending, and their
        new labels; they include the lows, and highs + 1, of all boxes made so far

    Examples
    --------
    >>> from thatch.model.language import parse
    >>> coordinates = Coordinates()
    >>> len(coordinates.boxes(parse("price < 10 or price > 20")))
    2
    >>> coordinates.keys
    ['price']
    """

    def __init__(self, schema: Schema | None = None, on_relabel: OnRelabel | None = None) -> None:
        if schema is not None and not isinstance(schema, Schema):
            raise SchemaError("a thatch.Schema", shown(schema))
        self.schema = schema
        self.keys: list[str | Residual] = []  # of each axis: an attribute's key, or a check
        self._number: dict[str | Residual, int] = {}
        self._axes: list[LabelledAxis | None] = []  # None for checks, which have no cuts
        self._implications = Implications(schema)
        self.on_relabel = on_relabel

    def __len__(self) -> int:
        """How many values have labels; they keep them when the boxes that use them are gone."""
        return sum(len(axis) for axis in self._axes if axis is not None)

    def axis(self, key: str | Residual) -> int | None:
        """The axis of an attribute or a check, None if no row constrains it."""
        return self._number.get(key if isinstance(key, str) else _plain(key))

    def cell(self, axis: int, label: int) -> tuple[Cut, Cut]:
        """The cuts around the cell of a label on an attribute's axis; no row has a cut between them."""
        lines = self._axes[axis]
        assert lines is not None, "an axis of an attribute"
        return lines.cell(label)

    def cell_ends(self, axis: int, label: int) -> Interval:
        """The lowest and the highest label of the cell of a label."""
        lines = self._axes[axis]
        if lines is None:
            return _HALF[label < 0]
        low, high = lines.cell(label)
        return lines.floor(low), lines.ceiling(high) - 1

    def check_at(self, axis: int, label: int) -> Residual:
        """The check that holds at a label: the check of the axis, or its opposite."""
        check = self.keys[axis]
        assert not isinstance(check, str), "an axis of a check"
        return check if label >= 0 else check.opposite()

    # --- rows ----------------------------------------------------------------------------------------------------

    def boxes(self, filter: Filter | Conjunction, most: int = MOST_BOXES) -> Boxes | None:
        """A filter, or one of its conjunctions, as a row: boxes that hold exactly what satisfies it.

        None, and nothing is kept, if there would be too many boxes.
        """
        conjunctions = self._conjunctions(filter)
        if conjunctions is None or sum(each.box_count() for each in conjunctions) > most:
            return None
        while True:
            sides = [found for each in conjunctions if (found := self._row_sides(each)) is not None]
            if len(sides) == len(conjunctions):
                return _boxes(sides)

    def _row_sides(self, conjunction: Conjunction) -> Sides | None:
        """The sides of a row, with labels for all its cuts; None if an axis had to be relabelled."""
        sides: Sides = {}
        for key, constraint in conjunction.constraints:
            number = self._number.get(key)
            if number is None:
                number = self._new_axis(key, LabelledAxis())
            axis = self._axes[number]
            assert axis is not None
            labels = [axis.label(cut) for cut in constraint]
            if None in labels:
                self._relabel(number, axis, constraint[labels.index(None)])
                return None
            ends = iter(cast("list[int]", labels))
            sides[number] = [(low, high - 1) for low, high in zip(ends, ends, strict=True)]
        for residual in conjunction.residuals:
            number = self._number.get(_plain(residual))
            if number is None:
                number = self._new_axis(_plain(residual), None)
            sides[number] = [_HALF[residual.negated]]
        return sides

    def _new_axis(self, key: str | Residual, axis: LabelledAxis | None) -> int:
        number = self._number[key] = len(self.keys)
        self.keys.append(key)
        self._axes.append(axis)
        self._implications.add(key)
        return number

    def _relabel(self, number: int, axis: LabelledAxis, cut: Cut) -> None:
        old = axis.labels()
        axis.space_evenly(cut)
        if self.on_relabel is not None:
            self.on_relabel(number, old, axis.labels())

    def _label_outwards(self, number: int, constraint: Constraint) -> list[Interval]:
        """The intervals of a constraint; an end without a label is moved outwards to the nearest label."""
        axis = self._axes[number]
        assert axis is not None
        if len(constraint) == 2:  # by far the most common case
            return [(axis.floor(constraint[0]), axis.ceiling(constraint[1]) - 1)]
        return [(axis.floor(low), axis.ceiling(high) - 1) for low, high in intervals(constraint)]

    # --- questions -----------------------------------------------------------------------------------------------

    def question(self, filter: Filter | Conjunction, most: int = MOST_BOXES) -> Boxes | None:
        """A filter, or one of its conjunctions, as a question: boxes of whole cells around what satisfies it.

        No label is added: rows have no cut inside a cell, so a cell is covered if any part of it is, and axes that no
        row constrains do not matter. None if there would be too many boxes.
        """
        conjunctions = self._conjunctions(filter)
        if conjunctions is None:
            return None
        found: list[Sides] = []
        count = 0
        for each in conjunctions:
            sides = self._question_sides(each, most)
            count += 0 if sides is None else _product_size(sides)
            if sides is None or count > most:
                return None
            found.append(sides)
        return _boxes(found)

    def _question_sides(self, conjunction: Conjunction, most: int) -> Sides | None:
        sides: Sides = {}
        numbers = self._number
        for key, constraint in conjunction.constraints:
            number = numbers.get(key)
            if number is not None:
                sides[number] = _join_intervals(self._label_outwards(number, constraint))
        own = set(sides)
        for key, constraint in self._implications.of(conjunction):
            sides[numbers[key]] = _join_intervals(self._label_outwards(numbers[key], constraint))
        for residual in self._implications.checks_of(conjunction):
            sides[numbers[_plain(residual)]] = [_HALF[residual.negated]]
        if _product_size(sides) > most:  # implied sides may be widened
            for number in sides.keys() - own:
                sides[number] = [(sides[number][0][0], sides[number][-1][1])]
            if _product_size(sides) > most:
                return None
        return {number: each for number, each in sides.items() if each != [_WHOLE]}

    def _conjunctions(self, filter: Filter | Conjunction) -> Sequence[Conjunction] | None:
        """None if there are too many."""
        if isinstance(filter, Conjunction):
            return (filter,)
        if filter.schema != self.schema:
            raise SchemaError(
                f"a filter with the schema {shown(self.schema)}", f"one with {shown(filter.schema)}"
            )
        return filter.conjunctions if filter.has_conjunctions else None


def _plain(residual: Residual) -> Residual:
    """The check itself, or its opposite if it is negated."""
    return residual.opposite() if residual.negated else residual


def _join_intervals(parts: list[Interval]) -> list[Interval]:
    """Join ascending intervals that touch or overlap."""
    if len(parts) < 2:
        return parts
    result = [parts[0]]
    for low, high in parts[1:]:
        last_low, last_high = result[-1]
        if low <= last_high + 1:
            result[-1] = (last_low, max(high, last_high))
        else:
            result.append((low, high))
    return result


def _product_size(sides: Sides) -> int:
    size = 1
    for each in sides.values():
        size *= len(each)
    return size


def _boxes(several: Iterable[Sides]) -> Boxes:
    """The boxes of these products of intervals."""
    offsets = [0]
    axes: list[int] = []
    ends: list[Interval] = []
    for sides in several:
        numbers = sorted(sides)
        for chosen in product(*(sides[number] for number in numbers)):
            axes += numbers
            ends += chosen
            offsets.append(len(axes))
    sides_array = np.array(ends, np.int64).reshape(-1, 2)
    return Boxes(
        np.array(offsets, np.int64),
        np.array(axes, np.int32),
        np.ascontiguousarray(sides_array[:, 0]),
        np.ascontiguousarray(sides_array[:, 1]),
    )
