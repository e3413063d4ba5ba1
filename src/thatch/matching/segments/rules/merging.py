"""Which rule segments to merge or to lay out again, in a job that needs no lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thatch.matching.segments.rules.segment import RuleSegment

__all__ = ["FRESH", "RuleJob", "next_rule_job"]

FRESH = 32  # rules that are tested one by one before they become a segment
_FAN_OUT = 4


@dataclass(slots=True)
class RuleJob:
    """Sources to merge into one segment, or one to lay out again. `deaths` are rules that die meanwhile: slot and change."""

    sources: Sequence[RuleSegment]
    keys: Sequence[str]  # of the index's attributes
    number: Callable[[str], int]
    deaths: list[tuple[int, int]] = field(default_factory=list)

    def build(self) -> list[RuleSegment]:
        """The new segment, if some rule lives."""
        if len(self.sources) == 1 and not self.sources[0].is_thin:
            return [self.sources[0].lay_out_again()]
        if all(each.dead == len(each) for each in self.sources):
            return []
        return [RuleSegment.merge(self.sources, self.keys, self.number)]


def next_rule_job(
    segments: Sequence[RuleSegment], keys: Sequence[str], number: Callable[[str], int]
) -> RuleJob | None:
    """The next job: merge what fills a tier or is mostly dead, or lay out anew what has counted enough events."""
    level = 0
    while any(_tier(len(each)) >= level for each in segments):
        same = [each for each in segments if _tier(len(each)) <= level]
        if len(same) >= _FAN_OUT:
            return RuleJob(same, keys, number)
        level += 1
    for each in segments:
        if each.is_thin or each.wants_layout:
            return RuleJob([each], keys, number)
    return None


def _tier(size: int) -> int:
    result = 0
    while size > FRESH:
        size //= _FAN_OUT
        result += 1
    return result
