"""The filters of one link by their rows: what subscriptions ask for, and the mergers that rows have made of them."""

from __future__ import annotations

from itertools import count
from math import inf
from operator import neg
from weakref import ReferenceType, WeakMethod, ref

from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints, log_volume
from thatch.reduction.coordinates import Coordinates
from thatch.reduction.forwarding.policies import Policy, RowSet

__all__ = ["LinkFilters"]


class LinkFilters:
    """The filters of rows, as boxes under the labels of the moment.

    Rows know their filters; what knows them in turn does so weakly, so that a set that is dropped is gone at once.
    """

    def __init__(self, schema: Schema | None) -> None:
        self.filters: dict[int, Filter] = {}  # in the order in which they came
        self.ids: dict[int, str] = {}
        self.taken: set[str] = set()  # all ids of subscriptions
        self.mergers: dict[int, Filter] = {}  # that rows have made
        self.merger_rows: dict[str, int] = {}  # their rows, by id
        self._numbers = count(1)  # of mergers; none is given twice
        self._rows: ReferenceType[RowSet] | None = None
        relabel = WeakMethod(self._relabel)

        def tell(axis: int, old: Ints, new: Ints) -> None:
            told = relabel()
            if told is not None:
                told(axis, old, new)

        self.coordinates = Coordinates(schema, tell)

    def with_new_labels(self) -> LinkFilters:
        """The same filters, kept in common, under labels that are yet to be given."""
        other = LinkFilters(self.coordinates.schema)
        other.filters, other.ids, other.taken = self.filters, self.ids, self.taken
        other.mergers, other.merger_rows, other._numbers = self.mergers, self.merger_rows, self._numbers
        return other

    @property
    def schema(self) -> Schema | None:
        """The declared types of attributes."""
        return self.coordinates.schema

    def id(self, row: int) -> str:
        """What a row is called."""
        return self.ids[row] if row >= 0 else f"merger {-row}"

    def filter(self, row: int) -> Filter:
        """What a row asks for."""
        return self.filters[row] if row >= 0 else self.mergers[row]

    def invent(self, filter: Filter) -> int:
        """Take in a filter that no subscription has; gives its row, a number below 0 that is never given again."""
        row = next(row for row in map(neg, self._numbers) if self.id(row) not in self.taken)
        self.mergers[row], self.merger_rows[self.id(row)] = filter, row
        return row

    def discard(self, row: int) -> None:
        """Forget such a filter."""
        del self.mergers[row], self.merger_rows[self.id(row)]

    def forget_mergers(self) -> None:
        """Forget all of them, so that they are made anew; those who share the filters keep theirs."""
        self.mergers, self.merger_rows = {}, {}

    def rows_by(self, policy: Policy) -> RowSet:
        """An empty set of rows, which is told when labels change."""
        rows = policy.rows(self)
        self.tell(rows)
        return rows

    def tell(self, rows: RowSet) -> None:
        """Let rows be told when labels change."""
        self._rows = ref(rows)

    def _relabel(self, axis: int, old: Ints, new: Ints) -> None:
        rows = None if self._rows is None else self._rows()
        if rows is not None:
            inner = (old > LOWEST) & (old <= HIGHEST)  # the ends of an axis are always the same
            rows.relabel(axis, old[inner], new[inner])

    def put(self, row: int, subscription: str, filter: Filter) -> None:
        """Take in a subscription."""
        self.filters[row], self.ids[row] = filter, subscription
        self.taken.add(subscription)

    def drop(self, row: int) -> None:
        """Forget a subscription."""
        self.taken.discard(self.ids[row])
        del self.filters[row], self.ids[row]

    def boxes(self, row: int) -> Boxes | None:
        """The boxes that hold just what a row asks for, None if there would be too many."""
        return self.coordinates.boxes(self.filter(row))

    def question(self, row: int) -> Boxes | None:
        """Boxes around what a row asks for, None if there would be too many."""
        return self.coordinates.question(self.filter(row))

    def largest_first(self) -> list[int]:
        """All rows by volume, which only orders the work; equals in the order in which they came."""
        return sorted(self.filters, key=self._volume, reverse=True)

    def _volume(self, row: int) -> float:
        question = self.question(row)
        return inf if question is None else log_volume(question)
