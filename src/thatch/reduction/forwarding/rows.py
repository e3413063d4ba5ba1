"""Rows that come and go on one link: what all policies have in common, and the two kinds that need no judge.

A row is what one subscription asks for. An active row is forwarded; a passive row is not, because active rows cover it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from thatch.errors import SubscriptionError, UnknownSubscriptionError, shown
from thatch.reduction.problem import NOTHING, Moves, Net

if TYPE_CHECKING:  # these take a while to load
    from thatch.model.filters import Filter
    from thatch.reduction.forwarding.candidates import MergedRow
    from thatch.reduction.forwarding.link_filters import LinkFilters
    from thatch.reduction.merging import Degree
    from thatch.reduction.negative_space import ApproximateSpace, ExactSpace

__all__ = ["LinkRows", "SpaceRows"]


class LinkRows:
    """Rows on one link. These are all active, the baseline of all policies; and they do not merge."""

    mergers: Mapping[int, MergedRow] = {}  # those there are, active or passive, by row

    def __init__(self) -> None:
        self._order: dict[int, None] = {}  # all rows, in the order of arrival

    @property
    def active(self) -> tuple[int, ...]:
        """The rows that are forwarded, in the order of arrival."""
        return tuple(self._order)

    @property
    def passive(self) -> tuple[int, ...]:
        """The rows that are covered, in the order of arrival."""
        return ()

    def is_active(self, row: int) -> bool:
        """Whether a row is forwarded."""
        return row in self._order

    def proof(self, row: int) -> tuple[int, ...] | None:
        """The active rows that together cover a passive one; None where no proofs are kept."""
        raise UnknownSubscriptionError(row)  # no row is passive

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        return {"active": len(self._order), "passive": 0}

    def add(self, row: int) -> Moves:
        """Add a row under a number that is free."""
        self._check_free(row)
        self._order[row] = None
        return Moves((row,), ())

    def remove(self, row: int) -> Moves:
        """Remove a row."""
        self._check_known(row)
        del self._order[row]
        return Moves((), (row,))

    def relabel(self, filters: LinkFilters) -> bool:  # noqa: ARG002 - nothing here has labels
        """Take the same rows under new labels; False if that cannot be done."""
        return True

    def extend(self, rows: Iterable[int]) -> Moves:
        """Add many rows."""
        net = Net()
        for row in rows:
            net.add(self.add(row))
        return net.moves()

    def restore(self, row: int) -> None:
        """Add a row that an earlier set had."""
        self.add(row)

    def restore_merger(
        self,
        filter: Filter,  # noqa: ARG002 - the contract's name
        parts: tuple[int, ...],  # noqa: ARG002 - the same
        degree: Degree,  # noqa: ARG002 - the same
    ) -> int | None:
        """Add a merger that an earlier set had, before its parts; None if this one would not make it."""
        return None

    def merge(self) -> Moves:
        """Merge what can be merged, whether it is due or not."""
        return NOTHING

    def merge_if_due(self, now: float, bandwidth: float | None = None) -> Moves:  # noqa: ARG002 - the contract's names
        """Note the time and how busy the link is; merge if a condition of the policy holds."""
        return NOTHING

    def next_merge_check(self, counted_at: float | None = None) -> float | None:  # noqa: ARG002 - the contract's name
        """When merging may become due although nothing comes or goes, None for never."""
        return None

    def _check_free(self, row: int) -> None:
        if row in self._order:
            raise SubscriptionError("a row that is not in the set", shown(row))

    def _check_known(self, row: int) -> None:
        if row not in self._order:
            raise UnknownSubscriptionError(row)


class SpaceRows(LinkRows):
    """Rows of a negative space, which keeps the boxes of all rows and decides about passive ones by itself."""

    def __init__(self, space: ExactSpace | ApproximateSpace, filters: LinkFilters) -> None:
        super().__init__()
        self._space = space
        self._filters = filters
        self._unbounded: set[int] = set()  # rows with too many boxes: always active, and no part of the space
        filters.follow_labels(space.relabel)

    @property
    def active(self) -> tuple[int, ...]:
        passive = set(self._space.passive)
        return tuple(row for row in self._order if row not in passive)

    @property
    def passive(self) -> tuple[int, ...]:
        return self._space.passive

    def is_active(self, row: int) -> bool:
        return row in self._order and row not in self._space.passive

    def proof(self, row: int) -> tuple[int, ...] | None:  # noqa: ARG002 - a space does not know which row covers which
        return None

    def stats(self) -> dict[str, int]:
        passive = len(self._space.passive)
        return {**self._space.stats(), "active": len(self._order) - passive, "passive": passive}

    def add(self, row: int) -> Moves:
        self._check_free(row)
        boxes = self._filters.boxes(row)
        moves = Moves((row,), ()) if boxes is None else self._space.add(row, boxes)
        if boxes is None:
            self._unbounded.add(row)
        self._order[row] = None
        return moves

    def remove(self, row: int) -> Moves:
        moves = super().remove(row)
        if row not in self._unbounded:
            return self._space.remove(row)
        self._unbounded.remove(row)
        return moves

    def relabel(self, filters: LinkFilters) -> bool:  # noqa: ARG002 - keeps the old ones
        return False  # the space has labels of rows that are gone; only a rebuilt set begins a new space
