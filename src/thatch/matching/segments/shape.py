"""The shape of an index: its segments, deltas and attributes at one time. It is immutable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thatch.compiled.records import Int64s
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.delta import Delta
from thatch.matching.segments.rules.literals import test_of
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.segment import Segment
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.names import ANYWHERE, name_of
from thatch.model.schema import Schema
from thatch.model.tree_matching import Plan, holds_on_plan, plan_of

__all__ = ["ReadRule", "Shape", "Source", "join_tables"]

Source = Segment | Delta

_REMEMBERED = 4_096  # verified filters of segments that are cached


class ReadRule(NamedTuple):
    """A filter that is asked, first what only it can say, and the names that it reads in an event; None if it reads all."""

    filter: Filter
    plan: Plan
    names: tuple[str, ...] | None

    def holds(self, record: Record) -> bool:
        """Whether the filter matches an event."""
        return self.filter.holds(record) if record.choices else holds_on_plan(self.plan, record)


class Shape:
    """Segments and deltas, numbered one after the other as kernels number them.

    The last delta is the one that still grows. `slots` bounds the slots that can be taken in it and before.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        deltas: Sequence[Delta],
        attributes: Attributes,
        slots: int,
        schema: Schema | None,
        rules: Sequence[RuleSegment] = (),
    ) -> None:
        self.rules = tuple(rules)
        self.segments, self.deltas = tuple(segments), tuple(deltas)
        self.attributes = attributes
        self.slots = slots
        self.segment_tables = join_tables(segments)
        # Kernels read the number of boxes of a full delta here; that of the growing one is an argument.
        self.delta_tables = join_tables(deltas)
        self.newest_record = deltas[-1].record
        self.attribute_room = _room(len(attributes))
        self.local_room = max((len(each.tables.attributes) for each in segments), default=0) + 64
        self.boxes = sum(each.boxes for each in segments) + sum(each.box_room for each in deltas) + 64
        self.has_checks = any(each.has_checks for each in segments) or any(each.has_checks for each in deltas)
        self.most_checks = max((len(each.check_attribute) for each in segments), default=0)
        self.has_texts = any(len(each.tables.text_keys) for each in segments)
        self.has_prefilter = any(len(each.prefilter) for each in segments)
        self.most_bits = max((len(each.bitsets) and each.boxes for each in segments), default=0)
        self.is_exact = all(each.record.is_exact for each in segments)
        self.schema = schema
        self._filters: dict[tuple[int, int], Filter] = {}
        self._rules: dict[tuple[int, int], ReadRule] = {}

    def is_single(self, segments: Sequence[int]) -> bool:
        """Whether every subscription has one box in these segments and all deltas."""
        has_several = any(len(self.segments[number].box_owner) for number in segments)
        return not has_several and not any(
            map(len, self.deltas)
        )  # more may be added to a delta that has some

    def has_boxes(self, newest: int) -> bool:
        """Whether there is any box, given how many of the last delta count."""
        return bool(self.segments) or len(self.deltas) > 1 or newest > 0

    def rule(self, segment: RuleSegment, owner: int) -> ReadRule:
        """The filter of a rule and what it reads, which are remembered for a while."""
        key = (id(segment), owner)
        known = self._rules.get(key)
        if known is None:
            filter = segment.filter(owner, self.schema)
            plan = plan_of(filter.tree, lambda leaf: test_of(leaf).asked == 0)
            keys = filter.attributes()
            known = ReadRule(filter, plan, None if ANYWHERE in keys else tuple(map(name_of, keys)))
            if len(self._rules) >= _REMEMBERED:
                self._rules = {}
            self._rules[key] = known
        return known

    def _remember(self, key: tuple[int, int], filter: Filter) -> None:
        if len(self._filters) >= _REMEMBERED:
            self._filters = {}
        self._filters[key] = filter

    def source(self, number: int) -> Source:
        """A segment, or past those a delta."""
        first = len(self.segments)
        return self.segments[number] if number < first else self.deltas[number - first]

    def filter(self, source: int, owner: int) -> Filter:
        """The filter of an owner."""
        if source >= len(self.segments):
            return self.deltas[source - len(self.segments)].filters[owner]
        known = self._filters.get((source, owner))
        if known is None:
            known = self.segments[source].filter(owner, self.attributes.keys, self.schema)
            self._remember((source, owner), known)
        return known


def join_tables(sources: Sequence[Source]) -> Int64s:
    """The records of segments or deltas, one after the other."""
    return np.concatenate([np.zeros(0, np.int64), *(each.record.table for each in sources)])


def _room(attributes: int) -> int:
    """Room for attributes: up to 64 fit the registers of the fast path, beyond that there is room for half as many more."""
    return 64 if attributes <= 64 else attributes + (attributes >> 1)
