"""Active and passive rows, and the proofs that keep the passive ones passive.

A row is what one subscription asks for: some boxes. A row that active rows cover is passive: the other end of the link
need not know it. Its proof names the active rows that cover it, so a removal looks again only at rows whose proof it
breaks (ouksel2006 looks at all rows, jafarpour2008 at all rows in the region that became free).

A proof names rows that were active when it was found. When one of them becomes passive it has a proof of its own, which
then also proves what it proved, so nothing needs to be decided again. Proofs never form a cycle, and they end at active
rows. The union of the active rows is always the union of all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from thatch.reduction.forwarding.judges import Judge
from thatch.reduction.forwarding.link_filters import LinkFilters
from thatch.reduction.forwarding.rows import LinkRows
from thatch.reduction.problem import NOTHING, Moves

__all__ = ["CoveringRows"]


class CoveringRows(LinkRows):
    """Rows on one link, decided one at a time by a judge.

    With `demote`, an active row that later ones cover becomes passive: fewer rows, more messages.
    """

    def __init__(
        self, make_judge: Callable[[], Judge], filters: LinkFilters, *, demote: bool = False
    ) -> None:
        super().__init__()
        self._make_judge = make_judge
        self._demote = demote
        self._numbers: dict[int, range] = {}  # of active rows: the numbers of their boxes
        self._row_of: dict[int, int] = {}  # of the boxes of active rows
        self._proofs: dict[int, tuple[int, ...]] = {}  # of passive rows: the active rows that cover each
        self._dependants: dict[int, set[int]] = {}  # of active rows: the passive rows whose proof names them
        self._next = 0
        self._undecided: dict[int, None] | None = None  # active rows that wait to be decided, in bulk loading
        self._counters = {"decisions": 0, "unproved": 0, "uncertain": 0, "rechecked": 0}
        self._use(filters)

    def _use(self, filters: LinkFilters) -> None:
        self._filters, self._judge = filters, self._make_judge()
        filters.follow_labels(self._judge.relabel)

    @property
    def active(self) -> tuple[int, ...]:
        return tuple(row for row in self._order if row in self._numbers)

    @property
    def passive(self) -> tuple[int, ...]:
        return tuple(row for row in self._order if row in self._proofs)

    def is_active(self, row: int) -> bool:
        return row in self._numbers

    def proof(self, row: int) -> tuple[int, ...]:
        """The active rows that together cover a passive one."""
        found, seen, pending = set(), {row}, list(self._proofs[row])
        while pending:
            each = pending.pop()
            if each not in seen:
                seen.add(each)
                if each in self._proofs:
                    pending += self._proofs[each]
                else:
                    found.add(each)
        return tuple(sorted(found))

    def stats(self) -> dict[str, int]:
        return {"active": len(self._numbers), "passive": len(self._proofs), **self._counters}

    def add(self, row: int) -> Moves:
        self._check_free(row)
        is_covered = self._is_covered(row)
        if not is_covered:
            self._activate(row)
        self._order[row] = None
        return NOTHING if is_covered else Moves((row,), tuple(self._demote_near([row])))

    def remove(self, row: int) -> Moves:
        """Remove a row; rows that only it covered are forwarded before it is withdrawn."""
        self._check_known(row)
        del self._order[row]
        if row in self._proofs:
            self._inherit_proof_of(row)
            self._forget_proof(row)
            return NOTHING
        self._deactivate(row)
        promoted = self._promote(self._dependants.pop(row, set()))
        return Moves(tuple(promoted), (row, *self._demote_near(promoted)))

    def relabel(self, filters: LinkFilters) -> bool:
        """Take the boxes of active rows under new labels; nothing is decided anew."""
        self._use(filters)
        active = list(self._numbers)
        self._numbers.clear()
        self._row_of.clear()
        for row in active:
            self._activate(row)
        return True

    # --- one row -------------------------------------------------------------------------------------------------

    def _is_covered(self, row: int) -> bool:
        """Decide about a row that is neither active nor passive; if it is covered it becomes passive."""
        if self._undecided is not None:
            return False
        used: set[int] = set()
        self._counters["decisions"] += 1
        question = self._filters.question(row)
        if question is None:  # too many boxes
            self._counters["unproved"] += 1
            return False
        for side in question:
            verdict = self._judge.decide(*side)
            if verdict.covered is None:
                self._counters["unproved"] += 1
            if not verdict.covered:
                return False
            if not verdict.certain:
                self._counters["uncertain"] += 1
            used.update(self._row_of[number] for number in verdict.used)
        self._keep_proof(row, used)
        return True

    def _activate(self, row: int) -> None:
        if self._undecided is not None:
            self._undecided[row], self._numbers[row] = None, range(0)
            return
        boxes = self._filters.boxes(row) or ()  # none if there would be too many: then it proves nothing
        numbers = range(self._next, self._next + len(boxes))
        self._next = numbers.stop
        for number, side in zip(numbers, boxes, strict=True):
            self._judge.add(number, *side)
            self._row_of[number] = row
        self._numbers[row] = numbers

    def _deactivate(self, row: int) -> None:
        if self._undecided is not None:
            self._undecided.pop(row, None)
        for number in self._numbers.pop(row):
            self._judge.remove(number)
            del self._row_of[number]

    def _keep_proof(self, row: int, used: Iterable[int]) -> None:
        self._proofs[row] = tuple(sorted(used))
        for each in self._proofs[row]:
            self._dependants.setdefault(each, set()).add(row)

    def _forget_proof(self, row: int) -> None:
        for each in self._proofs.pop(row):
            self._dependants.get(each, set()).discard(row)

    # --- what a change brings with it ------------------------------------------------------------------------------

    def _promote(self, rows: set[int]) -> list[int]:
        """Decide about passive rows whose proof broke, largest first; those no longer covered become active."""
        promoted = []
        for row in self._largest_first(rows):
            self._counters["rechecked"] += 1
            self._forget_proof(row)
            if not self._is_covered(row):
                self._activate(row)
                promoted.append(row)
        return promoted

    def _demote_near(self, fresh: list[int]) -> list[int]:
        """Make passive the active rows that are covered now that the fresh ones are known, smallest first."""
        if not self._demote:
            return []
        near = {
            self._row_of[int(number)]
            for row in fresh
            for side in self._filters.boxes(row) or ()
            for number in self._judge.neighbours(*side)
        }
        return self._demote_covered(near.difference(fresh))

    def _demote_covered(self, rows: Iterable[int]) -> list[int]:
        """Make passive those of some active rows that the others cover, smallest first."""
        demoted = []
        for row in reversed(self._largest_first(rows)):
            self._deactivate(row)
            if self._is_covered(row):
                demoted.append(row)
            else:
                self._activate(row)
        return demoted

    def _inherit_proof_of(self, row: int) -> None:
        """Replace a passive row that goes, in the proofs that name it, by its own proof."""
        for dependant in self._dependants.pop(row, set()):
            self._keep_proof(dependant, {*self._proofs[dependant], *self._proofs[row]} - {row})

    def _largest_first(self, rows: Iterable[int]) -> list[int]:
        """By volume, which only orders the work; equal ones by number."""
        return sorted(rows, key=lambda row: (-self._filters.volume(row), row))

    # --- for rows that merge ---------------------------------------------------------------------------------------

    def _add_covered(self, row: int, coverer: int) -> None:
        """Add a row that an active one is known to cover: it is passive."""
        self._order[row] = None
        self._keep_proof(row, (coverer,))

    def _add_around(self, row: int, parts: Iterable[int]) -> Moves:
        """Add an active row, even if others cover it, that is known to contain active ones, which become passive."""
        self._order[row] = None
        self._activate(row)
        return Moves((row,), self._cover(row, parts).withdraw)

    def _cover(self, row: int, parts: Iterable[int]) -> Moves:
        """Make passive the active rows that an active one is known to contain."""
        withdrawn = tuple(parts)
        for part in withdrawn:
            self._deactivate(part)
            self._keep_proof(part, (row,))
        return Moves((), withdrawn)

    def _cover_inside(self, row: int) -> Moves:
        """Make passive the active rows whose boxes lie inside those of an active one."""
        if self._undecided is not None:
            return NOTHING
        near = {
            self._row_of[int(number)]
            for side in self._filters.boxes(row) or ()
            for number in self._judge.inside(*side)
        }
        return Moves((), tuple(self._demote_covered(near - {row})))

    def _begin_bulk(self) -> None:
        """Decide nothing until `_end_bulk`: a row that comes is active unless it is known to be covered."""
        self._undecided = {}

    def _end_bulk(self, order: Callable[[Iterable[int]], Iterable[int]]) -> Moves:
        """Decide about the active rows that came since `_begin_bulk`, in an order; rows active before stay active."""
        undecided, self._undecided = self._undecided or {}, None
        for row in undecided:
            del self._numbers[row]
        covered = []
        for row in order(undecided):
            if self._is_covered(row):
                covered.append(row)
            else:
                self._activate(row)
        return Moves((), tuple(covered))

    def _remove_all(self, rows: Iterable[int]) -> Moves:
        """Remove several rows at once; rows whose proof breaks are decided after all of them are gone."""
        gone = list(rows)
        withdrawn: list[int] = []
        loose: set[int] = set()
        for row in gone:
            del self._order[row]
            if row in self._proofs:
                self._forget_proof(row)
            else:
                self._deactivate(row)
                withdrawn.append(row)
        for row in gone:
            loose |= self._dependants.pop(row, set())
        promoted = self._promote(loose)
        return Moves(tuple(promoted), (*withdrawn, *self._demote_near(promoted)))
