"""The filters that one outgoing link of a broker forwards, kept up with what comes and goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from thatch.errors import ParameterError, SchemaError, SubscriptionError, UnknownSubscriptionError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.reduction.forwarding.link_filters import LinkFilters
from thatch.reduction.forwarding.policies import Exact, Merging, Policy
from thatch.reduction.moves import Moves, Net

if TYPE_CHECKING:  # what these import takes a while to load
    from thatch.reduction.forwarding.merging_rows import MergingRows
    from thatch.reduction.merging import Degree

__all__ = ["Changes", "ForwardingSet", "Merged"]

Order = Literal["arrival", "volume"]  # in which filters are decided anew
_ORDERS = ("arrival", "volume")
_MANY_REMOVED = 1_000  # filters, after which it is worth giving labels anew


class Changes(NamedTuple):
    """What a change asks to be sent: first all of `forward`, then all of `withdraw`, so that nothing is missed."""

    forward: tuple[tuple[str, Filter], ...] = ()
    withdraw: tuple[str, ...] = ()


class Merged(NamedTuple):
    """A merger: what it asks for, the ids of the subscriptions in it, and what it costs."""

    filter: Filter
    parts: tuple[str, ...]
    degree: Degree


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
        self._source = LinkFilters(schema)
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
        merging = self._merging
        if merging is None:
            return {}
        return {
            self._source.id(row): (self._parts(row), merging.mergers[row].degree)
            for row in sorted(merging.mergers, reverse=True)
            if merging.is_active(row)
        }

    def merged(self, merger: str) -> Merged | None:
        """What is known of a merger, None if no merger has the id."""
        row, merging = self._source.merger_rows.get(merger), self._merging
        if row is None or merging is None:
            return None
        return Merged(self._source.filter(row), self._parts(row), merging.mergers[row].degree)

    def _parts(self, row: int) -> tuple[str, ...]:
        assert self._merging is not None
        return tuple(self._source.id(each) for each in sorted(self._merging.originals(row)))

    @property
    def _merging(self) -> MergingRows | None:
        """The rows, if they make mergers."""
        return cast("MergingRows", self._rows) if isinstance(self.policy, Merging) else None

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
        read = self._checked(subscription, filter)
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

    def extend(self, filters: Mapping[str, Filter | str | Mapping[str, Any]]) -> Changes:
        """Take in many filters at once, by id: quicker than one by one where they are merged.

        Raises
        ------
        SubscriptionError, FilterError, SchemaError
            As `add` does; then none of them is taken in.
        """
        read = {each: self._checked(each, filter) for each, filter in filters.items()}
        rows = range(self._next, self._next + len(read))
        for row, (subscription, filter) in zip(rows, read.items(), strict=True):
            self._source.put(row, subscription, filter)
            self._rows_of[subscription] = row
        self._next = rows.stop
        return self._told(self._add_rows(rows))

    def _add_rows(self, rows: Iterable[int]) -> Moves:
        merging = self._merging
        if merging is not None:
            return merging.extend(rows)
        net = Net()
        for row in rows:
            net.add(self._rows.add(row))
        return net.moves()

    def _checked(self, subscription: str, filter: Filter | str | Mapping[str, Any]) -> Filter:
        """The filter of an id that can be taken in."""
        if not isinstance(subscription, str):
            raise SubscriptionError("text as id", shown(subscription))
        if subscription in self._rows_of or subscription in self._source.merger_rows:
            raise SubscriptionError("an id that is free (remove the filter that has it)", shown(subscription))
        read = filter if isinstance(filter, Filter) else parse(filter, schema=self.schema)
        if read.schema != self.schema:
            raise SchemaError(f"a filter with the schema {shown(self.schema)}", shown(read.schema))
        return read

    def restore(
        self, wanted: Mapping[str, Filter], told: Iterable[str], mergers: Mapping[str, Merged]
    ) -> dict[str, str]:
        """Fill an empty set with what another one had when it ended, so that it forwards the same again.

        What cannot be so, because the policy is another one or work ran out, is decided anew. Mergers of mergers are
        mergers of subscriptions from now on.

        Parameters
        ----------
        wanted : the filters, by id
        told : ids of those that were forwarded, and of mergers, in the order in which they were
        mergers : those mergers, by the ids that they had

        Returns
        -------
        The ids that mergers had, by those that they have now; a merger that is not restored has none.
        """
        for number, (subscription, filter) in enumerate(wanted.items()):
            self._source.put(number, subscription, filter)
            self._rows_of[subscription] = number
        self._next = len(wanted)
        merging = self._merging
        again = {}
        first = dict.fromkeys(told)
        for about in (*first, *(each for each in wanted if each not in first)):
            if about in wanted:
                (self._rows.add if merging is None else merging.restore)(self._rows_of[about])
            elif about in mergers and merging is not None:
                filter, ids, degree = mergers[about]
                parts = tuple(self._rows_of[each] for each in ids if each in self._rows_of)
                row = merging.restore_merger(filter, parts, degree) if len(parts) == len(ids) else None
                if row is not None:
                    again[row] = about
        return {self._source.id(row): about for row, about in again.items() if self._rows.is_active(row)}

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

    def tell(self, now: float, bandwidth: float | None = None) -> Changes:
        """Tell the time, and how busy the link is: it may be time to merge, see `thatch.reduction.merging.When`.

        Parameters
        ----------
        now : in seconds, not less than what was told before
        bandwidth : in the measure that the policy has it in, None if it is not known
        """
        merging = self._merging
        return Changes() if merging is None else self._told(merging.tell(now, bandwidth))

    def next_look(self, counted_at: float | None = None) -> float | None:
        """When the time should be told again though nothing comes or goes, since it may be time to merge; None for never.

        Parameters
        ----------
        counted_at : when it will be known how busy the link is, None if it is idle
        """
        merging = self._merging
        return None if merging is None else merging.next_look(counted_at)

    def merge(self) -> Changes:
        """Merge what can be merged, whether it is time to or not."""
        merging = self._merging
        return Changes() if merging is None else self._told(merging.merge())

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
        source.forget_mergers()
        self._rows = source.rows_by(self.policy)
        self._add_rows(self._source.largest_first() if order == "volume" else list(self._source.filters))
        self._source, self._removed = source, 0
        after = set(self._rows.active)
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
