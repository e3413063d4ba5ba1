"""The filters that one outgoing link of a broker forwards, kept up with subscriptions that come and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from thatch.errors import ParameterError, SchemaError, SubscriptionError, UnknownSubscriptionError, shown
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.schema import Schema
from thatch.model.values import check_id
from thatch.reduction.forwarding import policies
from thatch.reduction.forwarding.link_filters import LinkFilters
from thatch.reduction.forwarding.policies import Policy
from thatch.reduction.forwarding.rows import LinkRows, SpaceRows
from thatch.reduction.problem import NOTHING, Moves

if TYPE_CHECKING:  # these take a while to load
    from thatch.reduction.forwarding.judges import Judge
    from thatch.reduction.merging import Degree

__all__ = ["Changes", "ForwardingSet", "MergerRecord", "make_rows"]

Order = Literal["arrival", "volume"]  # in which filters are decided anew
_MANY_REMOVED = 1_000  # filters, after which it is worth giving labels anew


class Changes(NamedTuple):
    """What to send: first all of `forward`, then all of `withdraw`, so that no event is missed."""

    forward: tuple[tuple[str, Filter], ...] = ()
    withdraw: tuple[str, ...] = ()


_NO_CHANGES = Changes()


class MergerRecord(NamedTuple):
    """A merger: its filter, the ids of the subscriptions in it, and what it costs."""

    filter: Filter
    parts: tuple[str, ...]
    degree: Degree


class ForwardingSet:
    """Filters under ids, of which only those are forwarded that the others do not make redundant.

    Parameters
    ----------
    policy : how redundant filters are found; see `thatch.reduction.forwarding.policies`
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
        self.policy: Policy = policies.Exact() if policy is None else policy
        self._next = 0
        self._removed = 0  # since labels were last given
        self._filters = LinkFilters(schema)
        self._rows = make_rows(self.policy, self._filters)

    @property
    def schema(self) -> Schema | None:
        """The declared types of attributes."""
        return self._filters.schema

    @property
    def active(self) -> Mapping[str, Filter]:
        """The filters that are forwarded, by id, in the order of arrival; then mergers."""
        rows = sorted(self._rows.active, key=lambda row: (row < 0, abs(row)))
        return {self._filters.id(row): self._filters.filter(row) for row in rows}

    @property
    def passive(self) -> Mapping[str, Filter]:
        """The filters that are not forwarded, by id, in the order of arrival."""
        return {self._filters.ids[row]: self._filters.filters[row] for row in sorted(self._rows.passive)}

    def proof(self, subscription: str) -> tuple[str, ...] | None:
        """The ids of active filters that together cover a passive one.

        None where the policy keeps no proofs, as negative spaces do not.

        Raises
        ------
        UnknownSubscriptionError
            If no passive filter has the id.
        """
        row = self._filters.rows.get(subscription)
        if row is None or self._rows.is_active(row):
            raise UnknownSubscriptionError(subscription)
        rows = self._rows.proof(row)
        return None if rows is None else tuple(self._filters.id(each) for each in rows)

    @property
    def mergers(self) -> Mapping[str, tuple[tuple[str, ...], Degree]]:
        """The subscriptions in every merger that is forwarded, and what it costs, by its id."""
        mergers = self._rows.mergers
        return {
            self._filters.id(row): (self._parts(row), mergers[row].degree)
            for row in sorted(mergers, reverse=True)
            if self._rows.is_active(row)
        }

    def merger(self, merger: str) -> MergerRecord | None:
        """A merger by its id, None if there is none."""
        row = self._filters.merger_rows.get(merger)
        if row is None:
            return None
        return MergerRecord(self._filters.filter(row), self._parts(row), self._rows.mergers[row].degree)

    def _parts(self, merger: int) -> tuple[str, ...]:
        mergers = self._rows.mergers
        return tuple(self._filters.id(row) for row in sorted(mergers[merger].subscriptions(mergers)))

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(self, subscription: str, filter: Filter | str | Mapping[str, Any]) -> Changes:
        """Add a filter, or its text or pattern, under an id that is free.

        Raises
        ------
        SubscriptionError
            If the id is taken, or is no text.
        FilterError
            If the filter cannot be read.
        SchemaError
            If the filter has another schema.
        """
        row = self._next
        self._filters.put(row, subscription, self._read(subscription, filter))
        try:
            moves = self._rows.add(row)
        except BaseException:
            self._filters.drop(row)
            raise
        self._next += 1
        return self._changes(moves)

    def extend(self, filters: Mapping[str, Filter | str | Mapping[str, Any]]) -> Changes:
        """Add many filters at once, by id: faster than one by one where they are merged.

        Raises
        ------
        SubscriptionError, FilterError, SchemaError
            As `add` does; then none of them is added.
        """
        read = {each: self._read(each, filter) for each, filter in filters.items()}
        return self._changes(self._rows.extend(self._put_all(read)))

    def _put_all(self, filters: Mapping[str, Filter]) -> range:
        """Give rows to filters."""
        rows = range(self._next, self._next + len(filters))
        for row, (subscription, filter) in zip(rows, filters.items(), strict=True):
            self._filters.put(row, subscription, filter)
        self._next = rows.stop
        return rows

    def _read(self, subscription: str, filter: Filter | str | Mapping[str, Any]) -> Filter:
        """The filter of an id that can be added."""
        check_id(subscription)
        if subscription in self._filters.rows or subscription in self._filters.merger_rows:
            raise SubscriptionError("an id that is free (remove the filter that has it)", shown(subscription))
        read = filter if isinstance(filter, Filter) else parse(filter, schema=self.schema)
        if read.schema != self.schema:
            raise SchemaError(f"a filter with the schema {shown(self.schema)}", shown(read.schema))
        return read

    def restore(
        self, filters: Mapping[str, Filter], forwarded: Iterable[str], mergers: Mapping[str, MergerRecord]
    ) -> dict[str, str]:
        """Fill an empty set with what another one had when it ended, so that it forwards the same again.

        What cannot be the same, because the policy differs or a budget of work ran out, is decided anew. Mergers of
        mergers become mergers of subscriptions. `forwarded` has the ids of filters and mergers in the order in which
        they were forwarded, `mergers` those mergers by their old ids. Returns the old ids of restored mergers, by their
        new ids.
        """
        self._put_all(filters)
        rows_of, first, restored = self._filters.rows, dict.fromkeys(forwarded), {}
        for about in (*first, *(each for each in filters if each not in first)):
            if about in filters:
                self._rows.restore(rows_of[about])
            elif about in mergers:
                filter, ids, degree = mergers[about]
                parts = tuple(rows_of[each] for each in ids if each in rows_of)
                row = self._rows.restore_merger(filter, parts, degree) if len(parts) == len(ids) else None
                if row is not None:
                    restored[row] = about
        return {self._filters.id(row): about for row, about in restored.items() if self._rows.is_active(row)}

    def remove(self, subscription: str) -> Changes:
        """Remove a filter; what only it covered is forwarded before it is withdrawn.

        Raises
        ------
        UnknownSubscriptionError
            If no filter has the id.
        """
        row = self._filters.rows.get(subscription) if isinstance(subscription, str) else None
        if row is None:
            raise UnknownSubscriptionError(subscription)
        changes = self._changes(self._rows.remove(row))
        self._filters.drop(row)
        self._removed += 1
        if self._removed > max(_MANY_REMOVED, len(self)):
            self._give_new_labels()
        return changes

    def merge(self) -> Changes:
        """Merge what can be merged, whether it is due or not."""
        return self._changes(self._rows.merge())

    def merge_if_due(self, now: float, bandwidth: float | None = None) -> Changes:
        """Note the time and how busy the link is; merge if a condition holds, see `thatch.reduction.merging.When`.

        Parameters
        ----------
        now : in seconds, never less than before
        bandwidth : in the unit that the policy uses, None if it is not known
        """
        return self._changes(self._rows.merge_if_due(now, bandwidth))

    def next_merge_check(self, counted_at: float | None = None) -> float | None:
        """When to call `merge_if_due` again although nothing comes or goes, None for never.

        Parameters
        ----------
        counted_at : when it will be known how busy the link is, None if it is idle
        """
        return self._rows.next_merge_check(counted_at)

    def rebuild(self, order: Order = "arrival") -> Changes:
        """Decide every filter anew, in the order of arrival or the largest first.

        Under churn an approximate policy forgets what it has found, and every policy keeps what was active when it came;
        this finds it again (jafarpour2008, section 3.3).

        Parameters
        ----------
        order : "arrival", or "volume" for the largest first, which leaves fewer active filters
        """
        if order not in get_args(Order):
            raise ParameterError(" or ".join(map(repr, get_args(Order))), shown(order), "order")
        before = set(self._rows.active)
        rows = list(self._filters.filters)
        if order == "volume":
            rows.sort(key=self._filters.volume, reverse=True)
        self._filters = self._filters.with_new_labels()
        self._filters.drop_mergers()
        self._rows, self._removed = make_rows(self.policy, self._filters), 0
        self._rows.extend(rows)
        after = set(self._rows.active)
        return self._changes(Moves(tuple(sorted(after - before)), tuple(sorted(before - after))))

    def _give_new_labels(self) -> None:
        """Forget the labels of cuts that only removed filters had; all decisions stay."""
        filters = self._filters.with_new_labels()
        if self._rows.relabel(filters):
            self._filters = filters
        self._removed = 0

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return self._rows.stats()

    def __len__(self) -> int:
        """How many filters there are, active and passive."""
        return len(self._filters.rows)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._filters.rows

    def __iter__(self) -> Iterator[str]:
        """All ids, in the order of arrival."""
        return iter(self._filters.rows)

    def __repr__(self) -> str:
        stats = self.stats()
        return f"<ForwardingSet of {len(self)} filters, {stats['active']} active, by {self.policy}>"

    def _changes(self, moves: Moves) -> Changes:
        if moves is NOTHING:
            return _NO_CHANGES
        forward = tuple((self._filters.id(row), self._filters.filter(row)) for row in moves.forward)
        return Changes(forward, tuple(self._filters.id(row) for row in moves.withdraw))


def make_rows(policy: Policy, filters: LinkFilters) -> LinkRows:
    """Make empty rows for the filters of a link. What a policy needs is loaded here, since some of it takes a while."""
    match policy:
        case policies.Flooding():
            return LinkRows()
        case policies.NegativeSpace():
            from thatch.reduction.negative_space import ExactSpace

            return SpaceRows(ExactSpace(budget=policy.budget), filters)
        case policies.ApproximateNegativeSpace():
            from thatch.reduction.negative_space import ApproximateSpace

            return SpaceRows(ApproximateSpace(**asdict(policy)), filters)
        case policies.Merging():
            return _make_merging_rows(policy, filters)
        case _:
            from thatch.reduction.forwarding.covering_rows import CoveringRows

            return CoveringRows(_judge_maker(policy), filters, demote=policy.demote)


def _make_merging_rows(policy: policies.Merging, filters: LinkFilters) -> LinkRows:
    from thatch.model.selectivity import Selectivity
    from thatch.reduction.forwarding.merging_rows import MergingRows
    from thatch.reduction.merging import ExpectedTraffic

    density = Selectivity(policy.profile, filters.schema)
    advertised = [part for each in policy.advertisements for part in each.outer_conjunctions]
    return MergingRows(filters, ExpectedTraffic(density, advertised), policy)


def _judge_maker(
    policy: policies.Pairwise | policies.Diagrams | policies.Exact | policies.Probabilistic,
) -> Callable[[], Judge]:
    from thatch.reduction.forwarding import judges

    match policy:
        case policies.Pairwise():
            return judges.PairwiseJudge
        case policies.Exact():
            return partial(judges.ExactJudge, policy.budget)
        case policies.Diagrams():
            from thatch.reduction.diagrams import DiagramJudge

            return partial(DiagramJudge, policy.phases)
        case policies.Probabilistic():
            from numpy.random import default_rng

            from thatch.reduction.probabilistic import rspc

            rng = default_rng(policy.seed)  # one stream for all decisions of the link
            cap = judges.MOST_POINTS if policy.cap is None else policy.cap
            decide = partial(rspc, delta=policy.delta, rng=rng, literal=policy.literal, cap=cap)
            return partial(judges.ProbabilisticJudge, decide, may_be_capped=policy.cap is not None)
