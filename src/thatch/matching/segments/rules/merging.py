"""Which rules to merge or to lay out again, in a job that needs no lock.

New rules, which are tested one by one, become a segment. As with boxes, segments have tiers: those of a tier that is full
become one of the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from thatch.matching.segments.rules.draft import RuleDraft
from thatch.matching.segments.rules.joining import join_tables
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.rules.shares import LiteralShares
from thatch.model.filters import Filter

__all__ = ["FRESH", "Fresh", "RuleJob", "next_rule_job"]

FRESH = 32  # rules that are tested one by one where nobody merges in the background
_FAN_OUT = 4

Fresh = Mapping[int, Filter]  # rules that are in no segment yet, by slot


@dataclass(slots=True)
class RuleJob:
    """Sources to merge into one segment, or one to lay out again. `deaths` and `is_stale` as of a `MergeJob`."""

    sources: Sequence[RuleSegment]
    number: Callable[[str], int]
    fresh: Fresh = field(default_factory=dict)
    deaths: list[tuple[int, int]] = field(default_factory=list)
    is_stale: bool = False

    def build(self) -> list[RuleSegment]:
        """The new segment, if some rule lives."""
        first = self.sources[0] if self.sources else None
        if first is not None and len(self.sources) == 1 and not self.fresh and not first.dead:
            return [first.lay_out_again()]
        tables = [each.table for each in self.sources]
        is_kept = [~each.is_dead() for each in self.sources]
        if self.fresh:
            draft = RuleDraft(self.number)
            for slot, filter in self.fresh.items():
                draft.add(slot, filter)
            tables.append(draft.table())
            is_kept.append(np.ones(len(draft), np.bool_))
        if not any(each.any() for each in is_kept):
            return []
        table = join_tables(tables, is_kept) if self.sources else tables[0]
        counted = [known for each in self.sources if (known := each.counted) is not None]
        if not counted:
            return [RuleSegment.build(table)]
        built = RuleSegment.build(table, LiteralShares.carried(table, counted))
        built.next_layout = max(events for _, _, events in counted)  # fewer would say less
        return [built]


def next_rule_job(
    segments: Sequence[RuleSegment], fresh: Fresh, number: Callable[[str], int]
) -> RuleJob | None:
    """The next job: make a segment of these new rules, if any, and of the tiers that are full; or mend a segment.

    A segment is mended that is mostly dead, or has counted enough events to be laid out anew.
    """
    highest = _tier(len(fresh)) if fresh else _first_full(segments)
    if highest is not None:
        chosen = [] if fresh else [each for each in segments if _tier(len(each)) <= highest]
        while True:
            highest = max(highest, _tier(len(fresh) + sum(map(len, chosen))))
            same = [each for each in segments if _tier(len(each)) <= highest]
            if len(same) < len(chosen) + _FAN_OUT - 1:
                return RuleJob(chosen, number, fresh)
            chosen = same
    for each in segments:
        if each.is_thin or each.wants_layout:
            return RuleJob([each], number)
    return None


def _first_full(segments: Sequence[RuleSegment]) -> int | None:
    """The lowest tier that is full of segments, as sets of rules may come that are segments at once."""
    tiers = Counter(_tier(len(each)) for each in segments)
    return min((tier for tier, count in tiers.items() if count >= _FAN_OUT), default=None)


def _tier(size: int) -> int:
    result = 0
    while size > FRESH:
        size //= _FAN_OUT
        result += 1
    return result
