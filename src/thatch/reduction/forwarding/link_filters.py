"""The filters of one link, by row, and their boxes under the labels of the moment."""

from __future__ import annotations

from functools import partial
from itertools import count
from math import inf
from operator import neg

from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints, log_volume
from thatch.reduction.coordinates import Coordinates, OnRelabel

__all__ = ["LinkFilters"]


class LinkFilters:
    """Subscriptions have rows from 0 up, in the order of arrival; mergers, which rows make themselves, have rows below 0."""

    def __init__(self, schema: Schema | None) -> None:
        self.coordinates = Coordinates(schema)
        self.filters: dict[int, Filter] = {}  # of subscriptions
        self.ids: dict[int, str] = {}
        self.rows: dict[str, int] = {}  # the reverse
        self.mergers: dict[int, Filter] = {}
        self.merger_rows: dict[str, int] = {}  # by id
        self._numbers = count(1)  # of mergers; none is used twice

    def with_new_labels(self) -> LinkFilters:
        """The same filters, shared with this one, under labels that are yet to be given."""
        other = LinkFilters(self.schema)
        other.filters, other.ids, other.rows = self.filters, self.ids, self.rows
        other.mergers, other.merger_rows, other._numbers = self.mergers, self.merger_rows, self._numbers
        return other

    def follow_labels(self, relabel: OnRelabel) -> None:
        """Call a function when the labels on an axis change, with the axis, the old labels and the new ones."""
        self.coordinates.on_relabel = partial(_relabel_cuts, relabel)

    @property
    def schema(self) -> Schema | None:
        """The declared types of attributes."""
        return self.coordinates.schema

    def id(self, row: int) -> str:
        """The id of a row."""
        return self.ids[row] if row >= 0 else f"merger {-row}"

    def filter(self, row: int) -> Filter:
        """The filter of a row."""
        return self.filters[row] if row >= 0 else self.mergers[row]

    def put(self, row: int, subscription: str, filter: Filter) -> None:
        """Add a subscription."""
        self.filters[row], self.ids[row] = filter, subscription
        self.rows[subscription] = row

    def drop(self, row: int) -> None:
        """Remove a subscription."""
        del self.rows[self.ids[row]]
        del self.filters[row], self.ids[row]

    def put_merger(self, filter: Filter) -> int:
        """Add a merger; returns its row, a number below 0 that is never used again."""
        row = next(row for row in map(neg, self._numbers) if self.id(row) not in self.rows)
        self.mergers[row], self.merger_rows[self.id(row)] = filter, row
        return row

    def drop_merger(self, row: int) -> None:
        """Remove a merger."""
        del self.mergers[row], self.merger_rows[self.id(row)]

    def drop_mergers(self) -> None:
        """Remove all mergers, but not from others that share the filters."""
        self.mergers, self.merger_rows = {}, {}

    def boxes(self, row: int) -> Boxes | None:
        """The boxes that hold exactly what a row asks for, None if there would be too many."""
        return self.coordinates.boxes(self.filter(row))

    def question(self, row: int) -> Boxes | None:
        """Boxes around what a row asks for, as tight as is known, None if there would be too many."""
        return self.coordinates.question(self.filter(row))

    def volume(self, row: int) -> float:
        """The logarithm of a row's volume in labels, which only orders work."""
        question = self.question(row)
        return inf if question is None else log_volume(question)


def _relabel_cuts(relabel: OnRelabel, axis: int, old: Ints, new: Ints) -> None:
    """Pass on new labels of cuts; the ends of an axis never change."""
    inner = (old > LOWEST) & (old <= HIGHEST)
    relabel(axis, old[inner], new[inner])
