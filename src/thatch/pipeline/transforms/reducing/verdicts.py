"""Who is active and who is passive, pass by pass, until every proof names active subscriptions only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thatch.pipeline.transforms.reducing.arranged import Arranged
from thatch.pipeline.transforms.reducing.deciding import Asking, Decisions
from thatch.pipeline.transforms.reducing.lists import Lists
from thatch.reduction.boxes import Ints

__all__ = ["Verdicts"]

Flags = npt.NDArray[np.bool_]


class Verdicts:
    """What is known of every subscription, by place.

    Parameters
    ----------
    first : what was found about all of them
    """

    def __init__(self, first: Decisions) -> None:
        self.is_active: Flags = first.codes != 1
        self.is_exhausted: Flags = first.codes < 0
        self.is_single: Flags = first.is_single.copy()
        self.proofs: Lists = first.proofs
        self.nodes: Ints = first.nodes.copy()
        self.rounds: Ints = first.rounds.copy()

    def active(self) -> Ints:
        """The places that are active as far as is known."""
        return np.flatnonzero(self.is_active)

    def unproved(self) -> Ints:
        """The passive places whose proof names a passive one."""
        is_shaky = np.zeros(len(self.is_active), np.bool_)
        is_shaky[self.proofs.owners()[~self.is_active[self.proofs.items]]] = True
        return np.flatnonzero(is_shaky)

    def revise(self, places: Ints, again: Decisions) -> Ints:
        """Take in what was found about some places in another pass; those that are not covered are returned."""
        self.is_active[places] = again.codes != 1
        self.is_exhausted[places] = again.codes < 0
        self.is_single[places] = again.is_single
        self.proofs = self.proofs.replaced(places, again.proofs)
        self.nodes[places] += again.nodes
        self.rounds[places] += again.rounds
        return places[again.codes == 0]  # type: ignore[no-any-return]

    def settle(self, unexpected: Ints, found: Arranged, asking: Asking) -> None:
        """Decide one after the other, in this process, from the first place that turned out active unexpectedly.

        There is none unless filters have derived attributes or checks. Such a filter, which asks for less than its boxes
        hold (combinations of values that no event has), may be passive while its boxes are not covered. So another that
        they help to cover is covered by all before it, and yet not by the active ones.

        Nothing changes before that place. After it, those are decided that were active, since what is active now may
        cover them, and those whose proof is broken.
        """
        if not len(unexpected):
            return
        from thatch.reduction.index import BoxIndex

        first, rows = int(unexpected[0]), found.rows
        owners = rows.owners()
        known = np.flatnonzero(self.is_active[:first])
        numbers = np.flatnonzero(
            self.is_active[owners] & (owners < first)
        )  # boxes keep their numbers among all
        index = BoxIndex.of(rows.take(known).boxes, numbers)
        decided: list[int] = []
        decisions: list[Decisions] = []
        for place in range(first, len(self.is_active)):
            proof = self.proofs.items[self.proofs.starts[place] : self.proofs.starts[place + 1]]
            if not self.is_active[place] and self.is_active[proof].all():
                continue
            here = np.array([place])
            question = found.questions.take(here)
            before = np.repeat(rows.starts[here], question.counts())
            decision = asking.decided(index, owners, question, before)
            decided.append(place)
            decisions.append(decision)
            self.is_active[place] = decision.codes[0] != 1
            if self.is_active[place]:
                for number, box in enumerate(rows.take(here).boxes, start=int(rows.starts[place])):
                    index.add(number, *box)
        self.revise(np.array(decided), Decisions.of([each.arrays() for each in decisions]))
