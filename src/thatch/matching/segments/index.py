"""The segment index: add, remove, merge and save filters.

New filters go to a delta; full deltas become segments, and segments of similar size are merged. A removed filter is
marked with the number of the change, and dropped by the next merge. Readers use `view`, which every change replaces.

One thread at a time may change the index. A merge has three steps: `next_job`, `MergeJob.build` and `finish`. The second
takes long, and may run in another thread while the index changes. Without `background`, every change merges what is
due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from thatch.compiled.records import Int64s
from thatch.matching.problem import AccessHints
from thatch.matching.segments.attributes import Attributes
from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.building.shares import Spreads
from thatch.matching.segments.columns import Columns, SavedIndex, Sides
from thatch.matching.segments.delta import CAPACITY, Delta
from thatch.matching.segments.draft import ColumnBuilder
from thatch.matching.segments.merging import FAN_OUT, MergeJob, next_job
from thatch.matching.segments.rules.collection import RuleCollection
from thatch.matching.segments.rules.draft import RuleDraft
from thatch.matching.segments.rules.merging import RuleJob
from thatch.matching.segments.rules.routing import is_rule, rules_among
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.segment import Segment
from thatch.matching.segments.shape import Shape, Source
from thatch.matching.segments.view import Pool, View
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["SegmentIndex"]

_FIRST = 64  # filters that the first delta has room for


class SegmentIndex:
    """Filters in segments of geometric sizes.

    Parameters
    ----------
    capacity : filters that a delta takes before it becomes a segment
    background : the caller runs the merges
    schema : declared types, for filters that are parsed again from their text
    hints : what planning knows of events; boxes are filed under the side that lets the fewest through
    """

    def __init__(
        self,
        capacity: int | None = None,
        *,
        background: bool = False,
        schema: Schema | None = None,
        hints: AccessHints | None = None,
    ) -> None:
        self._capacity = CAPACITY if capacity is None else capacity
        self._background = background
        self._schema = schema
        self._hints = hints
        self._attributes = Attributes()
        self._segments: list[Segment] = []
        self._deltas: list[Delta] = []  # full ones; they wait to become a segment
        self._newest = Delta(min(_FIRST, self._capacity))
        self._rules = RuleCollection(self.number_of, background=background)
        self._is_thin = False  # some segment is mostly dead, or there are many
        self._slots = 0  # all slots are below this
        self._job: MergeJob | RuleJob | None = None
        self._pool = Pool()
        self._moment = 1
        self._reshape()
        self._publish()

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, slot: int, filter: Filter) -> None:
        """Add a filter in a free slot."""
        self._add(slot, filter)
        self._commit()

    def remove(self, *slots: int) -> None:
        """Remove the filters in these slots, as one change."""
        for slot in slots:
            self._remove(slot)
        self._commit()

    def replace(self, slot: int, filter: Filter) -> None:
        """Replace the filter in a slot; readers see either the old one or the new one."""
        self._remove(slot)
        self._add(slot, filter)
        self._commit()

    def extend(
        self,
        filters: Mapping[int, Filter],
        *,
        removed: Iterable[int] = (),
        sources: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Add many filters at once, in a segment of their own; arguments as for `GrowingIndex`."""
        drafts, rules, chosen = [ColumnBuilder()], RuleDraft(self.number_of), rules_among(filters)
        for slot, each in filters.items():
            if slot in chosen:
                rules.add(slot, each, sources.get(slot))
                continue
            if not drafts[-1].add(slot, each, self._attributes.number, sources.get(slot)):
                drafts.append(ColumnBuilder())
                drafts[-1].add(slot, each, self._attributes.number, sources.get(slot))
        built = [RuleSegment.build(rules.table())] if len(rules) else []
        self._extend([draft.sides() for draft in drafts if len(draft)], built, removed)

    def extend_sides(self, many: Iterable[Sides], *, removed: Iterable[int] = ()) -> None:
        """Add boxes given as columns, each set in a segment of its own."""
        self._extend(many, [], removed)

    def _extend(self, many: Iterable[Sides], rules: Sequence[RuleSegment], removed: Iterable[int]) -> None:
        spreads = self._spreads()
        built = [Segment.build(Ranked.of(sides), spreads) for sides in many]
        for slot in removed:
            self._remove(slot)
        added = [*(each.slots() for each in built), *(each.slots for each in rules)]
        self._slots = max([self._slots, *(int(each.max()) + 1 for each in added)])
        self._segments += built
        self._rules.extend(rules)
        self._is_thin |= len(self._segments) >= 2 * FAN_OUT
        self._attributes.learn()
        self._reshape()
        self._commit()

    def number_of(self, key: str) -> int:
        """The number of an attribute; a new attribute gets one."""
        return self._attributes.number.setdefault(key, len(self._attributes.number))

    def _add(self, slot: int, filter: Filter) -> None:
        self._slots = max(self._slots, slot + 1)
        if is_rule(filter):
            self._rules.add(slot, filter)
        elif not self._newest.add(slot, filter, self._attributes.number):
            if len(self._newest):
                self._deltas.append(self._newest)
            self._newest = Delta(min(4 * self._newest.capacity, self._capacity))
            added = self._newest.add(slot, filter, self._attributes.number)
            assert added, "an empty delta has room for any filter"
            self._reshape()
        self._attributes.learn()
        shape = self._shape
        if (
            len(self._attributes) > shape.attribute_room
            or self._slots > shape.slots
            or shape.newest_record is not self._newest.record
            or (self._newest.has_checks and not shape.has_checks)
        ):
            self._reshape()

    def _remove(self, slot: int) -> None:
        if self._rules.remove(slot, self._moment + 1, self._job):
            return
        number, owner = self._find(slot)
        source, moment = self._sources()[number], self._moment + 1
        source.remove(owner, moment)
        self._is_thin |= source.dead * 2 > len(source) and source is not self._newest
        if isinstance(self._job, MergeJob) and source in self._job.sources:
            self._job.deaths.append((slot, moment))

    def _find(self, slot: int) -> tuple[int, int]:
        """The number of a slot's segment or delta, and its owner there."""
        for number, source in enumerate(self._sources()):
            owner = source.find(slot)
            if owner >= 0:
                return number, owner
        raise KeyError(slot)

    def _commit(self) -> None:
        self._moment += 1
        if self.has_work and not self._background:
            self.merge()
        self._publish()

    def _publish(self) -> None:
        self.view = View(self._shape, self._moment, self._newest.boxes, self._pool, self._rules.fresh)

    def _sources(self) -> list[Source]:
        """Segments and deltas as kernels number them."""
        return [*self._segments, *self._deltas, self._newest]

    def _reshape(self) -> None:
        slots, deltas = self._slots + self._newest.capacity, [*self._deltas, self._newest]
        self._shape = Shape(
            self._segments, deltas, self._attributes, slots, self._schema, self._rules.segments
        )

    # --- merging -------------------------------------------------------------------------------------------------

    def merge(self) -> None:
        """Merge all that is due, now."""
        while (job := self._due()) is not None:
            self.finish(job, job.build())

    def next_job(self) -> MergeJob | RuleJob | None:
        """The next merge that is due, which is under way from now on; None if there is none or another is."""
        job = self._due()
        if job is not None:
            self._job = job
        return job

    def _due(self) -> MergeJob | RuleJob | None:
        if self._job is not None:
            return None
        job = next_job(self._segments, self._deltas)
        self._is_thin &= job is not None
        if job is not None:
            job.spreads = self._spreads()
            return job
        return self._rules.next_job()

    @property
    def has_work(self) -> bool:
        """Whether a merge is due."""
        return bool(self._deltas) or self._is_thin or self._rules.is_due

    @property
    def is_merging(self) -> bool:
        """Whether a job is under way."""
        return self._job is not None

    @property
    def attributes(self) -> int:
        """How many attributes have a number, including those that no filter uses any more."""
        return len(self._attributes)

    def attribute_keys(self) -> list[str]:
        """The keys of those attributes."""
        return list(self._attributes.keys)

    @property
    def backlog(self) -> int:
        """How many full deltas, or as many rules, wait for a merge."""
        return len(self._deltas) + self._rules.backlog

    def _whole_job(self) -> MergeJob:
        """A job that merges everything into one segment; no other job may be under way."""
        assert self._job is None
        if len(self._newest):
            self._deltas.append(self._newest)
            self._newest = Delta(self._newest.capacity)
            self._reshape()
        return MergeJob([*self._segments, *self._deltas], spreads=self._spreads())

    def _spreads(self) -> Spreads | None:
        """Where events lie, by the number of an attribute."""
        if (hints := self._hints) is None:
            return None
        keys = list(self._attributes.number)
        return lambda number: hints.spread(keys[number])

    def finish(self, job: MergeJob | RuleJob, built: Sequence[Segment] | Sequence[RuleSegment]) -> None:
        """Replace the sources of a job by the segments that it built; a stale job changes nothing, and is due again."""
        if job.is_stale:
            self._job = None
            return
        for slot, moment in job.deaths:
            for segment in built:
                if (owner := segment.find(slot)) >= 0:
                    segment.remove(owner, moment)
                    break
        if isinstance(job, RuleJob):
            self._rules.finish(job, [each for each in built if isinstance(each, RuleSegment)])
        else:
            segments = [each for each in built if isinstance(each, Segment)]
            self._segments = [*(each for each in self._segments if each not in job.sources), *segments]
            self._segments.sort(key=len, reverse=True)
            self._deltas = [each for each in self._deltas if each not in job.sources]
        self._job = None
        self._reshape()
        self._publish()

    def abandon(self) -> None:
        """Drop the job that is under way; its sources stay."""
        self._job = None

    def revert(self, view: View) -> None:
        """Go back to the view that readers have, after a change that ended half-way; may be called again."""
        shape = view.shape
        self._rules.revert(shape.rules, view.fresh, view.moment)
        self._segments, self._deltas = list(shape.segments), list(shape.deltas[:-1])
        self._newest = shape.deltas[-1]
        if view.boxes:
            self._newest.revert(view.boxes)
        else:
            self._newest = Delta(self._newest.capacity)  # it may have been making room for a large filter
        self._shape, self._moment, self.view = shape, view.moment, view
        for source in self._sources():
            source.revive(view.moment)
        if self._job is not None:
            self._job.is_stale = True
        self._is_thin = True  # perhaps; whoever merges next looks

    def renumber(self, new_slot: Int64s) -> SegmentIndex:
        """An index of the same filters with new numbers for slots, in the same order, and for attributes.

        Attributes that no filter uses any more are dropped. Everything is merged first.
        """
        job = self._whole_job()
        self.finish(job, job.build())
        keys = self._attributes.keys
        self._rules.merge_all()
        numbered = [segment.tables.attributes for segment in self._segments]
        numbered.append(self._rules.attributes())
        used = np.unique(np.concatenate([np.zeros(0, np.int32), *numbered]))
        numbers = np.full(len(keys), -1, np.int32)
        numbers[used] = np.arange(len(used), dtype=np.int32)
        other = SegmentIndex(
            self._capacity, background=self._background, schema=self._schema, hints=self._hints
        )
        other._pool = self._pool
        # Go on counting changes: readers of the old segments share the times of death with the new ones.
        other._moment = self._moment
        self._pool.renumber(new_slot)
        other._attributes = Attributes(keys[number] for number in used)
        other._segments = [segment.renumber(new_slot, numbers) for segment in self._segments]
        other._rules = self._rules.renumber(new_slot, numbers, other.number_of)
        other._slots = int(new_slot.max(initial=-1)) + 1
        other._reshape()
        other._publish()
        return other

    # --- asking --------------------------------------------------------------------------------------------------

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, lowest first."""
        slots: list[int] = self.view.match(record).tolist()
        return slots

    def any(self, record: Record) -> bool:
        """Whether some filter matches; stops at the first."""
        return self.view.any(record)

    def filter(self, slot: int) -> Filter:
        """The filter in a slot."""
        if slot in self._rules.fresh:
            return self._rules.fresh[slot]
        found = self._rules.find(slot)
        return self._shape.filter(*self._find(slot)) if found is None else self._shape.rule(*found).filter

    def tally(self, *, on: bool) -> None:
        """Start to count candidates and matches of every slot, or stop and drop the counts."""
        self._pool.tally(on=on)

    def tallies(self) -> Int64s:
        """Candidates and matches of every slot, as far as they were counted."""
        return self._pool.tallies(self._slots)

    def stats(self) -> dict[str, int]:
        """Sizes and work counters by name."""
        sizes: Counter[str] = Counter()
        for segment in self._segments:
            sizes.update({f"bytes_{part}": size for part, size in segment.sizes().items()})
        sizes["bytes_delta"] = sum(each.nbytes() for each in (*self._deltas, self._newest))
        sizes["bytes_rooms"] = sum(room.nbytes() for room in self._pool.every)
        return {
            "segments": len(self._segments),
            "boxes": sum(each.boxes for each in self._sources()),
            "checks": sum(len(segment.check_number) for segment in self._segments),
            "dead": sum(each.dead for each in self._sources()),
            "waiting": sum(map(len, (*self._deltas, self._newest))),
            **self._rules.stats(),
            "attributes": len(self._attributes),
            "masked_segments": self._pool.masked,
            "bitset_segments": sum(len(segment.bitsets) > 0 for segment in self._segments),
            **sizes,
            **self._pool.totals(),
        }

    # --- at rest ---------------------------------------------------------------------------------------------------

    def arrays(self) -> SavedIndex:
        """All columns; deltas are turned into segments first."""
        waiting = [delta.to_ranked() for delta in (*self._deltas, self._newest) if len(delta) > delta.dead]
        parts = [segment.arrays() for segment in self._segments if segment.dead < len(segment)]
        parts += [Segment.build(ranked, self._spreads()).arrays() for ranked in waiting]
        return SavedIndex(list(self._attributes.keys), parts, self._rules.arrays())

    def restore(self, keys: Iterable[str], parts: Iterable[Columns], rules: Iterable[Columns] = ()) -> None:
        """Fill an empty index with what `arrays` returned."""
        self._attributes = Attributes(keys)
        self._segments = [Segment.from_arrays(part) for part in parts]
        self._rules = RuleCollection(
            self.number_of, map(RuleSegment.from_arrays, rules), background=self._background
        )
        slots = [*(each.slots() for each in self._segments), *self._rules.slots()]
        self._slots = max((int(each.max()) + 1 for each in slots), default=0)
        self._reshape()
        self._publish()
