"""What one link forwards of one kind, subscriptions or advertisements, kept up with what comes and goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from thatch.model.filters import Filter
from thatch.model.schema import Schema
from thatch.reduction.forwarding.forwarding_set import Changes, ForwardingSet, MergerRecord
from thatch.reduction.forwarding.policies import Policy

__all__ = ["MERGER", "Entry", "Outgoing"]

MERGER = "merger "  # begins the names of mergers, and no id that a client may give
Entry = tuple[str, Filter, bool]  # an id, what it asks for or offers, and whether that is closed


class Outgoing:
    """The entries that belong on a link, and which of them the other end was told.

    Closed filters, which allow no attributes but their own, hold less than they say: they neither cover others nor are
    covered by others, but of equal ones only the first is told.

    A merger is an entry of this link's own. The set of filters numbers its mergers, beginning with 1 on every link: the
    network gets to know each under a name, which is given when it is told and never given again.

    Parameters
    ----------
    policy : how superfluous entries are found
    """

    __slots__ = ("_closed", "_closed_filters", "_names", "_open", "told")

    def __init__(self, policy: Policy, schema: Schema | None) -> None:
        self._open = ForwardingSet(policy, schema=schema)
        self._closed: dict[Filter, list[str]] = {}  # ids of equal ones, the one that was told first
        self._closed_filters: dict[str, Filter] = {}
        self._names: dict[str, str] = {}  # of mergers that were told
        self.told: dict[
            str, int
        ] = {}  # ids that the other end knows, with a number that rises as they were told

    @classmethod
    def of(
        cls,
        policy: Policy,
        schema: Schema | None,
        entries: Iterable[Entry],
        told: dict[str, int],
        mergers: Mapping[str, MergerRecord] | None = None,
    ) -> Outgoing:
        """All entries, decided in their order, whatever the other end was told.

        Parameters
        ----------
        mergers : for a broker that comes back, those that the other end was told, by name; None to decide all anew
        """
        made = cls(policy, schema)
        kept = list(entries)
        wanted = {about: filter for about, filter, closed in kept if not closed}
        if mergers is None:
            made._open.extend(wanted)
        else:
            made._names = made._open.restore(wanted, told, mergers)
        for about, filter, closed in kept:
            if closed:
                made.add(about, filter, closed)
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

    def tell(self, now: float, bandwidth: float | None = None) -> Changes:
        """Know the time, and how many events a second the link has: it may be time to merge."""
        return self._open.merge_if_due(now, bandwidth)

    def next_look(self, counted_at: float | None) -> float | None:
        """When the time should be told again though nothing comes or goes, None for never."""
        return self._open.next_merge_check(counted_at)

    def active(self) -> dict[str, Filter]:
        """The entries that the other end must know, mergers that were not told yet by their number."""
        open_ones = {self._names.get(about, about): filter for about, filter in self._open.active.items()}
        return {**open_ones, **{ids[0]: filter for filter, ids in self._closed.items()}}

    def merged(self, about: str) -> MergerRecord | None:
        """What is in a merger, by its number; None if it is none."""
        return None if about in self else self._open.merger(about)

    def name(self, merger: str, name: str) -> None:
        """Let a merger be known under a name."""
        self._names[merger] = name

    def unname(self, about: str) -> str:
        """The name of a merger that is told no more, by its number; any other id as it is."""
        return self._names.pop(about, about)

    def reason(self, about: str) -> tuple[str, ...] | None:
        """The ids that make an entry superfluous, None if they are not known."""
        filter = self._closed_filters.get(about)
        if filter is not None:
            return (self._closed[filter][0],)
        proof = self._open.proof(about)
        return None if proof is None else tuple(self._names.get(each, each) for each in proof)

    def __contains__(self, about: object) -> bool:
        return about in self._open or about in self._closed_filters

    def __iter__(self) -> Iterator[str]:
        yield from self._open
        yield from self._closed_filters

    def __len__(self) -> int:
        return len(self._open) + len(self._closed_filters)
