"""What one link forwards of one kind, subscriptions or advertisements, kept up with what comes and goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.reduction.forwarding.forwarding_set import Changes, ForwardingSet
from thatch.reduction.forwarding.policies import Policy

__all__ = ["Entry", "Outgoing"]

Entry = tuple[str, Filter, bool]  # an id, what it asks for or offers, and whether that is closed


class Outgoing:
    """The entries that belong on a link, and which of them the other end was told.

    Closed filters, which allow no attributes but their own, hold less than they say: they neither cover others nor are
    covered by others, but of equal ones only the first is told.

    Parameters
    ----------
    policy : how superfluous entries are found
    """

    __slots__ = ("_closed", "_closed_filters", "_open", "told")

    def __init__(self, policy: Policy, schema: Schema | None) -> None:
        self._open = ForwardingSet(policy, schema=schema)
        self._closed: dict[Filter, list[str]] = {}  # ids of equal ones, the one that was told first
        self._closed_filters: dict[str, Filter] = {}
        self.told: dict[
            str, int
        ] = {}  # ids that the other end knows, with a number that rises as they were told

    @classmethod
    def of(
        cls, policy: Policy, schema: Schema | None, entries: Iterable[Entry], told: dict[str, int]
    ) -> Outgoing:
        """All entries, decided in their order, whatever the other end was told."""
        made = cls(policy, schema)
        for entry in entries:
            made.add(*entry)
        made.told = told
        return made

    def add(self, about: str, filter: Filter, closed: bool = False) -> Changes:  # noqa: FBT001, FBT002 - one of its parts
        """Take in an entry of an id that is free."""
        if not closed:
            return self._open.add(about, filter)
        same = self._closed.setdefault(filter, [])
        same.append(about)
        self._closed_filters[about] = filter
        return Changes(((about, filter),), ()) if len(same) == 1 else Changes()

    def remove(self, about: str) -> Changes:
        """Forget an entry."""
        filter = self._closed_filters.pop(about, None)
        if filter is None:
            return self._open.remove(about)
        same = self._closed[filter]
        was_first = same[0] == about
        same.remove(about)
        if not same:
            del self._closed[filter]
        if not was_first:
            return Changes()
        return Changes(((same[0], filter),) if same else (), (about,))

    def active(self) -> dict[str, Filter]:
        """The entries that the other end must know."""
        return {**self._open.active, **{ids[0]: filter for filter, ids in self._closed.items()}}

    def reason(self, about: str) -> tuple[str, ...] | None:
        """The ids that make an entry superfluous, None if they are not known."""
        filter = self._closed_filters.get(about)
        return (self._closed[filter][0],) if filter is not None else self._open.proof(about)

    def __contains__(self, about: object) -> bool:
        return about in self._open or about in self._closed_filters

    def __iter__(self) -> Iterator[str]:
        yield from self._open
        yield from self._closed_filters

    def __len__(self) -> int:
        return len(self._open) + len(self._closed_filters)
