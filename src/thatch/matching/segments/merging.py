"""Choose which segments to merge, and merge them, in a job that needs no lock and mostly runs without the GIL.

Segments have tiers. The newest are in the lowest; when a tier has `FAN_OUT` segments they become one of the next. So a
filter is written once for each tier, and there are only logarithmically many segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.building.shares import Spreads
from thatch.matching.segments.parts import MOST_ATTRIBUTES
from thatch.matching.segments.segment import Segment
from thatch.matching.segments.shape import Source

__all__ = ["FAN_OUT", "MergeJob", "next_job"]

FAN_OUT = 4
_TIER = 8_192  # filters of a segment of the lowest tier


@dataclass(slots=True)
class MergeJob:
    """Sources to merge into one segment.

    `deaths` has the owners that die meanwhile: slot and change. A job is stale once a change was undone: what was built
    may lack an owner that lives again.
    """

    sources: list[Source]
    deaths: list[tuple[int, int]] = field(default_factory=list)
    is_stale: bool = False
    spreads: Spreads | None = None

    def build(self) -> list[Segment]:
        """The new segments: one, unless there are too many attributes for one."""
        parts = [part for part in (source.to_ranked() for source in self.sources) if len(part)]
        if not parts:
            return []
        attributes = np.unique(np.concatenate([part.tables.attributes for part in parts]))
        if len(attributes) > MOST_ATTRIBUTES:
            highest = max(tier(source) for source in self.sources)
            built = [Segment.build(Ranked.merge([part]), self.spreads) for part in parts]
            for segment in built:
                segment.tier = max(tier(segment), highest + 1)  # never merge these again
            return built
        return [Segment.build(Ranked.merge(parts), self.spreads)]


def next_job(segments: Sequence[Segment], waiting: Sequence[Source]) -> MergeJob | None:
    """The next merge: all waiting deltas, with the tiers that they fill; or a segment that is mostly dead."""
    if waiting:
        chosen: list[Source] = list(waiting)
        highest = _tier(sum(map(len, chosen)))
        while True:
            same = [each for each in segments if each not in chosen and tier(each) <= highest]
            if len(same) < FAN_OUT - 1:
                return MergeJob(chosen)
            chosen = [*same, *chosen]
            highest = max(highest, _tier(sum(map(len, chosen))))
    for segment in segments:
        if segment.dead * 2 > len(segment):
            return MergeJob([segment])
    # Segments added in bulk, a few at a time; but not those that have too many attributes together.
    free = [each for each in segments if each.tier <= _tier(len(each))]
    for level in range(max(map(tier, free), default=-1) + 1):
        same = [each for each in free if tier(each) <= level]
        if len(same) >= 2 * FAN_OUT:
            return MergeJob(list(same))
    return None


def tier(source: Source) -> int:
    """The tier of a segment: by its size, or as it was set."""
    return max(_tier(len(source)), getattr(source, "tier", 0))


def _tier(size: int) -> int:
    result = 0
    while size > _TIER:
        size //= FAN_OUT
        result += 1
    return result
