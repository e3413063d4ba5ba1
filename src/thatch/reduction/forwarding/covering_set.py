"""Active and passive rows, and the proofs that keep the passive ones passive.

A row is what one subscription asks for: some boxes. A row that the active ones cover is passive: the other end of the
link need not know it. Its proof names the active rows that cover it, so that a removal looks again only at the rows
whose proof it breaks (papers 000 and 001 look at all, or at all in the place that became free).

A proof names rows that were active when it was found. One of them may become passive, with a proof of its own: then what
it proves is proved by those, and nothing needs to be looked at. So proofs never lead in a circle, and they end at active
rows. The union of the active rows is always the union of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

from thatch.errors import SubscriptionError, UnknownSubscriptionError, shown
from thatch.reduction.boxes import Boxes, Ints, log_volume
from thatch.reduction.forwarding.judges import Judge
from thatch.reduction.forwarding.rows import Source, Stored
from thatch.reduction.moves import NOTHING, Moves

__all__ = ["CoveringSet"]


class CoveringSet:
    """Rows that come and go on one link, judged one at a time.

    Parameters
    ----------
    judge : makes an empty judge
    demote : whether an active row that later ones cover becomes passive; fewer rows, more messages
    source : knows what rows ask for; without one, `add` is told
    """

    def __init__(
        self,
        judge: Callable[[], Judge],
        *,
        demote: bool = False,
        source: Source | None = None,
    ) -> None:
        self._make_judge = judge
        self._judge = judge()
        self._demote = demote
        self._stored = Stored()
        self._source: Source = self._stored if source is None else source
        self._order: dict[int, None] = {}  # all rows, in the order in which they came
        self._numbers: dict[int, range] = {}  # of active rows: the numbers of their boxes
        self._row_of: dict[int, int] = {}  # of the boxes of active rows
        self._proofs: dict[int, tuple[int, ...]] = {}  # of passive rows: the active rows that cover each
        self._dependants: dict[int, set[int]] = {}  # of active rows: the passive rows whose proof names them
        self._next = 0
        self._drafted: dict[int, None] | None = (
            None  # active rows that are yet to be judged, while many come at once
        )
        self._counters = {"decisions": 0, "unproved": 0, "uncertain": 0, "rechecked": 0}

    @property
    def active(self) -> tuple[int, ...]:
        """The rows that were forwarded, in the order in which they came."""
        return tuple(row for row in self._order if row in self._numbers)

    @property
    def passive(self) -> tuple[int, ...]:
        """The rows that need not be known, in the order in which they came."""
        return tuple(row for row in self._order if row in self._proofs)

    def is_active(self, row: int) -> bool:
        """Whether a row was forwarded."""
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
        """Sizes and work counters by name."""
        return {"active": len(self._numbers), "passive": len(self._proofs), **self._counters}

    def add(self, row: int, boxes: Boxes | None = None) -> Moves:
        """Take in a row under a number that is free.

        Parameters
        ----------
        boxes : what it asks for, where no source tells it
        """
        if row in self._order:
            raise SubscriptionError("a row that is not in the set", shown(row))
        if boxes is not None:
            self._stored.put(row, boxes)
        is_covered = self._is_covered(row)
        if not is_covered:
            self._activate(row)
        self._order[row] = None
        return NOTHING if is_covered else Moves((row,), tuple(self._demoted([row])))

    def hang(self, row: int, coverer: int) -> Moves:
        """Take in a row that an active one is known to cover: it is passive."""
        self._order[row] = None
        self._keep_proof(row, (coverer,))
        return NOTHING

    def overlay(self, row: int, parts: Iterable[int]) -> Moves:
        """Make a row active, though others may cover it, that is known to contain these active ones: they become passive."""
        self._order[row] = None
        self._activate(row)
        return Moves((row,), self.cover(row, parts).withdraw)

    def cover(self, row: int, parts: Iterable[int]) -> Moves:
        """Make passive the active rows that an active one is known to contain."""
        withdrawn = tuple(parts)
        for part in withdrawn:
            self._deactivate(part)
            self._keep_proof(part, (row,))
        return Moves((), withdrawn)

    def absorb(self, row: int) -> Moves:
        """Make passive the active rows that lie in an active one by itself."""
        if self._drafted is not None:
            return NOTHING
        near = {
            self._row_of[int(number)]
            for side in self._source.boxes(row) or ()
            for number in self._judge.inside(*side)
        }
        return Moves((), tuple(self._covered_among(near - {row})))

    def draft(self) -> None:
        """Judge nothing until `settle`: whatever comes is active, unless it is known to be covered."""
        self._drafted = {}

    def settle(self, order: Callable[[Iterable[int]], Iterable[int]]) -> Moves:
        """Judge the active rows that came since `draft`, in an order; those that are covered become passive.

        What was active before stays so.
        """
        drafted, self._drafted = self._drafted or {}, None
        for row in drafted:
            del self._numbers[row]
        covered = []
        for row in order(drafted):
            if self._is_covered(row):
                covered.append(row)
            else:
                self._activate(row)
        return Moves((), tuple(covered))

    def remove(self, row: int) -> Moves:
        """Forget a row; what it alone had covered is forwarded before it is withdrawn."""
        if row not in self._order:
            raise UnknownSubscriptionError(row)
        del self._order[row]
        self._stored.drop(row)
        if row in self._proofs:
            self._lean_on_proof_of(row)
            self._forget_proof(row)
            return NOTHING
        self._deactivate(row)
        promoted = self._promoted(self._dependants.pop(row, set()))
        return Moves(tuple(promoted), (row, *self._demoted(promoted)))

    def remove_all(self, rows: Iterable[int]) -> Moves:
        """Forget several rows at once; whatever leaned on one of them is judged after all of them are gone."""
        gone = list(rows)
        withdrawn: list[int] = []
        loose: set[int] = set()
        for row in gone:
            del self._order[row]
            self._stored.drop(row)
            if row in self._proofs:
                self._forget_proof(row)
            else:
                self._deactivate(row)
                withdrawn.append(row)
        for row in gone:
            loose |= self._dependants.pop(row, set())
        promoted = self._promoted(loose)
        return Moves(tuple(promoted), (*withdrawn, *self._demoted(promoted)))

    def relabel(self, axis: int, old: Ints, new: Ints) -> None:
        """Give the ends of all boxes on one axis other labels, in the same order."""
        self._judge.relabel(axis, old, new)
        self._stored.relabel(axis, old, new)

    def moved_to(self, source: Source) -> bool:
        """Take what active rows ask for anew, from a source with other labels; nothing is decided anew."""
        self._source, self._judge = source, self._make_judge()
        active = list(self._numbers)
        self._numbers.clear()
        self._row_of.clear()
        for row in active:
            self._activate(row)
        return True

    # --- one row -------------------------------------------------------------------------------------------------

    def _is_covered(self, row: int) -> bool:
        """Judge a row that is neither active nor passive; if it is covered it is passive from now on."""
        if self._drafted is not None:
            return False
        used: set[int] = set()
        self._counters["decisions"] += 1
        question = self._source.question(row)
        if question is None:  # too large to be asked
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
        if self._drafted is not None:
            self._drafted[row], self._numbers[row] = None, range(0)
            return
        boxes = self._source.boxes(row) or ()  # none if there would be too many: it proves nothing then
        numbers = range(self._next, self._next + len(boxes))
        self._next = numbers.stop
        for number, side in zip(numbers, boxes, strict=True):
            self._judge.add(number, *side)
            self._row_of[number] = row
        self._numbers[row] = numbers

    def _deactivate(self, row: int) -> None:
        if self._drafted is not None:
            self._drafted.pop(row, None)
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

    def _promoted(self, rows: set[int]) -> list[int]:
        """Judge passive rows whose proof broke, largest first; those that are no longer covered become active."""
        promoted = []
        for row in self._largest_first(rows):
            self._counters["rechecked"] += 1
            # The row that went away is in no table any more; the others lose this dependant until a new proof names it.
            for each in self._proofs.pop(row):
                self._dependants.get(each, set()).discard(row)
            if not self._is_covered(row):
                self._activate(row)
                promoted.append(row)
        return promoted

    def _demoted(self, fresh: list[int]) -> list[int]:
        """Active rows that are covered now that the fresh ones are known, smallest first; they become passive."""
        if not self._demote:
            return []
        near = {
            self._row_of[int(number)]
            for row in fresh
            for side in self._source.boxes(row) or ()
            for number in self._judge.neighbours(*side)
        }
        return self._covered_among(near.difference(fresh))

    def _covered_among(self, rows: Iterable[int]) -> list[int]:
        """Those of some active rows that the others cover, smallest first; they become passive."""
        demoted = []
        for row in reversed(self._largest_first(rows)):
            self._deactivate(row)
            if self._is_covered(row):
                demoted.append(row)
            else:
                self._activate(row)
        return demoted

    def _lean_on_proof_of(self, row: int) -> None:
        """Let what is proved by a passive row that goes be proved by what proves that row."""
        for dependant in self._dependants.pop(row, set()):
            self._keep_proof(dependant, {*self._proofs[dependant], *self._proofs[row]} - {row})

    def _largest_first(self, rows: Iterable[int]) -> list[int]:
        """By volume, which only orders the work; equals in the order of their numbers."""
        return sorted(rows, key=lambda row: (-self._volume(row), row))

    def _volume(self, row: int) -> float:
        question = self._source.question(row)
        return inf if question is None else log_volume(question)
