"""The rules of an index: those in segments, and a few new ones that are tested one by one.

As of the index, one thread at a time may change them; readers have the tuple and the mapping of their view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int64s
from thatch.matching.segments.rules.draft import RuleDraft
from thatch.matching.segments.rules.merging import FRESH, Fresh, RuleJob, next_rule_job
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.model.filters import Filter

__all__ = ["RuleCollection"]

_MANY = 128


class RuleCollection:
    """Rules by slot.

    Parameters
    ----------
    number : gives the index's number of an attribute, which may be new
    background : the caller runs the merges, and soon; else new rules wait until there are some
    """

    def __init__(
        self,
        number: Callable[[str], int],
        segments: Iterable[RuleSegment] = (),
        fresh: Fresh | None = None,
        *,
        background: bool = False,
    ) -> None:
        self._number, self._background = number, background
        self.segments = tuple(segments)
        self.fresh: Fresh = dict(fresh or {})  # replaced, not changed: readers have it
        self.is_due = True  # perhaps: whoever merges next looks

    def __len__(self) -> int:
        return sum(len(each) - each.dead for each in self.segments) + len(self.fresh)

    def add(self, slot: int, filter: Filter) -> None:
        """Add a rule."""
        for key in filter.attributes():
            self._number(key)
        self.fresh = {**self.fresh, slot: filter}
        self.is_due |= self._background or len(self.fresh) >= FRESH

    def extend(self, segments: Sequence[RuleSegment]) -> None:
        """Add whole segments."""
        self.segments = (*self.segments, *segments)
        self.is_due |= bool(segments)

    def find(self, slot: int) -> tuple[RuleSegment, int] | None:
        """The segment of a living rule, and its number there; None if no segment has it."""
        for segment in self.segments:
            owner = segment.find(slot)
            if owner >= 0:
                return segment, owner
        return None

    def remove(self, slot: int, moment: int, job: object) -> bool:
        """Remove the rule at a slot as of a change, in a merge that is under way too; False if there is none."""
        if slot in self.fresh:
            self.fresh = {each: filter for each, filter in self.fresh.items() if each != slot}
            if isinstance(job, RuleJob) and slot in job.fresh:
                job.deaths.append((slot, moment))
            return True
        found = self.find(slot)
        if found is None:
            return False
        segment, owner = found
        segment.remove(owner, moment)
        self.is_due |= segment.is_thin
        if isinstance(job, RuleJob) and segment in job.sources:
            job.deaths.append((slot, moment))
        return True

    def revert(self, segments: tuple[RuleSegment, ...], fresh: Fresh, moment: int) -> None:
        """Go back to what readers have."""
        self.segments, self.fresh, self.is_due = segments, fresh, True
        for each in segments:
            each.revive(moment)

    # --- merging -----------------------------------------------------------------------------------------------------

    def next_job(self) -> RuleJob | None:
        """The next merge that is due, if any."""
        is_waiting = len(self.fresh) >= FRESH or self._background
        due = next_rule_job(self.segments, self.fresh if is_waiting else {}, self._number)
        self.is_due = due is not None
        return due

    def merge_all(self) -> None:
        """Make one segment of all rules, laid out by what searches counted if they did; no job may be under way."""
        segments = self.segments
        if len(segments) > 1 or self.fresh or any(each.dead for each in segments):
            job = RuleJob(segments, self._number, self.fresh)
            self.finish(job, job.build())
        elif segments and segments[0].wants_layout:
            self.segments = (segments[0].lay_out_again(),)

    def finish(self, job: RuleJob, built: Sequence[RuleSegment]) -> None:
        """Replace the sources of a job by what it built."""
        for each in built:
            each.count_dead()
        self.segments = (*(each for each in self.segments if each not in job.sources), *built)
        dead = {slot for slot, _ in job.deaths}
        # What has the slot of one that died was added later, even if it is the same filter.
        self.fresh = {
            slot: each for slot, each in self.fresh.items() if slot in dead or each is not job.fresh.get(slot)
        }

    def attributes(self) -> npt.NDArray[np.int32]:
        """The numbers of all attributes that rules name."""
        fresh = {self._number(key) for each in self.fresh.values() for key in each.attributes()}
        return np.concatenate(
            [np.array([*fresh], np.int32), *(each.table.attributes for each in self.segments)]
        )

    def renumber(
        self, new_slot: Int64s, numbers: npt.NDArray[np.int32], number: Callable[[str], int]
    ) -> RuleCollection:
        """The same rules at other slots, with other numbers of attributes."""
        return RuleCollection(
            number,
            [segment.renumber(new_slot, numbers) for segment in self.segments],
            {int(new_slot[slot]): each for slot, each in self.fresh.items()},
            background=self._background,
        )

    # --- at rest -------------------------------------------------------------------------------------------------------

    @property
    def backlog(self) -> int:
        """How many times the new rules are too many to be tested one by one."""
        return len(self.fresh) // _MANY

    def slots(self) -> Iterable[Int64s]:
        """The slots of each segment."""
        return (each.slots for each in self.segments)

    def arrays(self) -> list[dict[str, npt.NDArray[Any]]]:
        """The columns of every segment; new rules become one."""
        found = [segment.arrays() for segment in self.segments if segment.dead < len(segment)]
        return [*found, self._fresh_segment().arrays()] if self.fresh else found

    def stats(self) -> dict[str, int]:
        """Sizes by name."""
        return {
            "rules": len(self),
            "rule_segments": len(self.segments),
            "bytes_rules": sum(each.nbytes() for each in self.segments),
        }

    def _fresh_segment(self) -> RuleSegment:
        draft = RuleDraft(self._number)
        for slot, filter in self.fresh.items():
            draft.add(slot, filter)
        return RuleSegment.build(draft.table())
