"""Everything is forwarded: the baseline of all policies, in their contract."""

from __future__ import annotations

from thatch.errors import SubscriptionError, UnknownSubscriptionError, shown
from thatch.reduction.boxes import Boxes, Ints
from thatch.reduction.forwarding.rows import Source
from thatch.reduction.moves import Moves

__all__ = ["FloodedRows"]


class FloodedRows:
    """Rows on one link, all of them active; what they ask for does not matter."""

    passive: tuple[int, ...] = ()

    def __init__(self) -> None:
        self._rows: dict[int, None] = {}  # in the order in which they came

    @property
    def active(self) -> tuple[int, ...]:
        """All rows, in the order in which they came."""
        return tuple(self._rows)

    def is_active(self, row: int) -> bool:
        """Whether a row is here."""
        return row in self._rows

    def proof(self, row: int) -> tuple[int, ...] | None:
        """There are no passive rows to prove anything of."""
        raise UnknownSubscriptionError(row)

    def stats(self) -> dict[str, int]:
        """Sizes by name."""
        return {"active": len(self._rows), "passive": 0}

    def add(self, row: int, boxes: Boxes | None = None) -> Moves:  # noqa: ARG002 - the contract's name
        """Take in a row under a number that is free."""
        if row in self._rows:
            raise SubscriptionError("a row that is not in the set", shown(row))
        self._rows[row] = None
        return Moves((row,), ())

    def remove(self, row: int) -> Moves:
        """Forget a row."""
        if row not in self._rows:
            raise UnknownSubscriptionError(row)
        del self._rows[row]
        return Moves((), (row,))

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Nothing is labelled."""

    def moved_to(self, source: Source) -> bool:  # noqa: ARG002
        """Nothing is labelled, so any source will do."""
        return True
