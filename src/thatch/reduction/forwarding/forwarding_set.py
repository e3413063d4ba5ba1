"""The filters that one outgoing link of a broker forwards, kept up with what comes and goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from math import inf
from operator import neg
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import ReferenceType, WeakMethod, ref

from thatch.errors import ParameterError, SchemaError, SubscriptionError, UnknownSubscriptionError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, Ints, log_volume
from thatch.reduction.coordinates import Coordinates
from thatch.reduction.forwarding.policies import Exact, Policy, RowSet
from thatch.reduction.moves import Moves

if TYPE_CHECKING:  # what these import takes a while to load
    from thatch.reduction.forwarding.merging_rows import Merger
    from thatch.reduction.merging import Degree

__all__ = ["Changes", "ForwardingSet"]

Order = Literal["arrival", "volume"]  # in which filters are decided anew
_ORDERS = ("arrival", "volume")
_MANY_REMOVED = 1_000  # filters, after which it is worth giving labels anew


class Changes(NamedTuple):
    """What a change asks to be sent: first all of `forward`, then all of `withdraw`, so that nothing is missed."""

    forward: tuple[tuple[str, Filter], ...] = ()
    withdraw: tuple[str, ...] = ()


class ForwardingSet:
    """Filters under ids, of which only those are forwarded that the others do not make superfluous.

    Parameters
    ----------
    policy : how superfluous filters are found; see `thatch.reduction.forwarding.policies`
    schema : declared types of attributes, the same for all filters

    Examples
    --------
    >>> import thatch
    >>> link = thatch.ForwardingSet()
    >>> link.add("low", "price <= 50").forward
    (('low', thatch.parse('price <= 50')),)
    >>> link.add("high", "price > 50").forward
    (('high', thatch.parse('price > 50')),)
    >>> link.add("all", "price between 10 and 90")
    Changes(forward=(), withdraw=())
    >>> link.proof("all")
    ('low', 'high')
    >>> link.remove("low")
    Changes(forward=(('all', thatch.parse('price between 10 and 90')),), withdraw=('low',))
    """

    def __init__(self, policy: Policy | None = None, *, schema: Schema | None = None) -> None:
        self.policy: Policy = Exact() if policy is None else policy
        self._rows_of: dict[str, int] = {}
        self._next = 0
        self._removed = 0  # since labels were given last
        self._source = _Filters(schema)
        self._rows = self._source.rows_by(self.policy)

    @property
    def schema(self) -> Schema | None:
        """The declared types of attributes."""
        return self._source.coordinates.schema

    @property
    def active(self) -> Mapping[str, Filter]:
        """The filters that are forwarded, by id, in the order in which they came."""
        rows = sorted(self._rows.active, key=lambda row: (row < 0, abs(row)))  # mergers after all others
        return {self._source.id(row): self._source.filter(row) for row in rows}

    @property
    def passive(self) -> Mapping[str, Filter]:
        """The filters that need not be known, by id, in the order in which they came."""
        return {self._source.ids[row]: self._source.filters[row] for row in sorted(self._rows.passive)}

    def proof(self, subscription: str) -> tuple[str, ...] | None:
        """The ids of active filters that together cover a passive one.

        None where the policy keeps no proofs, as negative spaces do not.

        Raises
        ------
        UnknownSubscriptionError
            If no passive filter has the id.
        """
        row = self._rows_of.get(subscription)
        if row is None or self._rows.is_active(row):
            raise UnknownSubscriptionError(subscription)
        rows = self._rows.proof(row)
        return None if rows is None else tuple(self._source.id(each) for each in rows)

    @property
    def mergers(self) -> Mapping[str, tuple[tuple[str, ...], Degree]]:
        """The subscriptions in every merger that is forwarded, and what it costs, by its id."""
        known: Mapping[int, Merger] = getattr(self._rows, "mergers", {})
        return {
            self._source.id(row): (
                tuple(self._source.id(each) for each in sorted(known[row].originals)),
                known[row].degree,
            )
            for row in sorted(known, reverse=True)
            if self._rows.is_active(row)
        }

    def add(self, subscription: str, filter: Filter | str | Mapping[str, Any]) -> Changes:
        """Take in a filter, or its text or pattern, under an id that is free.

        Raises
        ------
        SubscriptionError
            If the id is taken, or is no text.
        FilterError
            If the filter cannot be read.
        SchemaError
            If the filter has another schema.
        """
        if not isinstance(subscription, str):
            raise SubscriptionError("text as id", shown(subscription))
        if subscription in self._rows_of or subscription in self._source.invented:
            raise SubscriptionError("an id that is free (remove the filter that has it)", shown(subscription))
        read = filter if isinstance(filter, Filter) else parse(filter, schema=self.schema)
        if read.schema != self.schema:
            raise SchemaError(f"a filter with the schema {shown(self.schema)}", shown(read.schema))
        row = self._next
        self._source.put(row, subscription, read)
        try:
            moves = self._rows.add(row)
        except BaseException:
            self._source.drop(row)
            raise
        self._next += 1
        self._rows_of[subscription] = row
        return self._told(moves)

    def remove(self, subscription: str) -> Changes:
        """Forget a filter; what it alone had covered is forwarded before it is withdrawn.

        Raises
        ------
        UnknownSubscriptionError
            If no filter has the id.
        """
        row = self._rows_of.get(subscription) if isinstance(subscription, str) else None
        if row is None:
            raise UnknownSubscriptionError(subscription)
        changes = self._told(self._rows.remove(row))
        del self._rows_of[subscription]
        self._source.drop(row)
        self._removed += 1
        if self._removed > max(_MANY_REMOVED, len(self)):
            self._give_new_labels()
        return changes

    def rebuild(self, order: Order = "arrival") -> Changes:
        """Decide every filter anew, in the order in which they came or the largest first.

        Under churn an approximate policy forgets what it has found, and every policy keeps what was active when it came;
        this finds it again (paper 001, section 3.3).

        Parameters
        ----------
        order : "arrival", or "volume" for the largest first, which leaves fewer active filters
        """
        if order not in _ORDERS:
            raise ParameterError(" or ".join(map(repr, _ORDERS)), shown(order), "order")
        before = set(self._rows.active)
        source = self._source.with_new_labels()
        source.invented = {}  # mergers are made anew
        rows = source.rows_by(self.policy)
        for row in self._source.largest_first() if order == "volume" else self._source.filters:
            rows.add(row)
        self._source, self._rows, self._removed = source, rows, 0
        after = set(rows.active)
        return self._told(Moves(tuple(sorted(after - before)), tuple(sorted(before - after))))

    def _give_new_labels(self) -> None:
        """Forget the labels of cuts that only filters had which are gone; all decisions stay."""
        source = self._source.with_new_labels()
        source.tell(self._rows)  # from the first row on
        if self._rows.moved_to(source):
            self._source = source
        self._removed = 0

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return self._rows.stats()

    def __len__(self) -> int:
        """How many filters there are, active and passive."""
        return len(self._rows_of)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._rows_of

    def __iter__(self) -> Iterator[str]:
        """All ids, in the order in which they came."""
        return iter(self._rows_of)

    def __repr__(self) -> str:
        stats = self.stats()
        return f"<ForwardingSet of {len(self)} filters, {stats['active']} active, by {self.policy}>"

    def _told(self, moves: Moves) -> Changes:
        forward = tuple((self._source.id(row), self._source.filter(row)) for row in moves.forward)
        return Changes(forward, tuple(self._source.id(row) for row in moves.withdraw))


class _Filters:
    """The filters of rows, as boxes under the labels of the moment.

    Rows know their filters; what knows them in turn does so weakly, so that a set that is dropped is gone at once.
    """

    def __init__(self, schema: Schema | None) -> None:
        self.filters: dict[int, Filter] = {}  # in the order in which they came
        self.ids: dict[int, str] = {}
        self.taken: set[str] = set()  # all ids of subscriptions
        self.invented: dict[str, Filter] = {}  # mergers, by id
        self._numbers = count(1)  # of mergers; none is given twice
        self._rows: ReferenceType[RowSet] | None = None
        relabel = WeakMethod(self._relabel)

        def tell(axis: int, old: Ints, new: Ints) -> None:
            told = relabel()
            if told is not None:
                told(axis, old, new)

        self.coordinates = Coordinates(schema, tell)

    def with_new_labels(self) -> _Filters:
        """The same filters, kept in common, under labels that are yet to be given."""
        other = _Filters(self.coordinates.schema)
        other.filters, other.ids, other.taken = self.filters, self.ids, self.taken
        other.invented, other._numbers = self.invented, self._numbers
        return other

    @property
    def schema(self) -> Schema | None:
        return self.coordinates.schema

    def id(self, row: int) -> str:
        return self.ids[row] if row >= 0 else f"merger {-row}"

    def filter(self, row: int) -> Filter:
        return self.filters[row] if row >= 0 else self.invented[self.id(row)]

    def invent(self, filter: Filter) -> int:
        row = next(row for row in map(neg, self._numbers) if self.id(row) not in self.taken)
        self.invented[self.id(row)] = filter
        return row

    def discard(self, row: int) -> None:
        del self.invented[self.id(row)]

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
        self.filters[row], self.ids[row] = filter, subscription
        self.taken.add(subscription)

    def drop(self, row: int) -> None:
        self.taken.discard(self.ids[row])
        del self.filters[row], self.ids[row]

    def boxes(self, row: int) -> Boxes | None:
        return self.coordinates.boxes(self.filter(row))

    def question(self, row: int) -> Boxes | None:
        return self.coordinates.question(self.filter(row))

    def largest_first(self) -> list[int]:
        """All rows by volume, which only orders the work; equals in the order in which they came."""
        return sorted(self.filters, key=self._volume, reverse=True)

    def _volume(self, row: int) -> float:
        question = self.question(row)
        return inf if question is None else log_volume(question)
