"""Room to work in for one search: the buffers of an event, its codes, and its matches.

A search takes a workspace from a pool and puts it back, so that any number of threads may search at once. Between
searches the code arrays are zero, heads are -1 and the bits are clear; a search that raises does not put its
workspace back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int64s, Uint8s
from thatch.matching.segments import records as r
from thatch.matching.segments.delta import Delta
from thatch.matching.segments.encoding import Encoder
from thatch.matching.segments.segment import Segment
from thatch.matching.segments.shape import Shape, join_tables

if TYPE_CHECKING:
    from thatch.matching.segments.rules.plain import PlainMatcher
    from thatch.matching.segments.rules.workspace import RuleWorkspace

__all__ = ["SearchWorkspace"]


class SearchWorkspace:
    """The context of a search, and all arrays in it."""

    def __init__(self) -> None:
        self.shape: Shape | None = None
        self.encoder = Encoder()
        self._rules: RuleWorkspace | None = None
        self._plain: PlainMatcher | None = None
        self.counts = r.SearchCounts()
        self.tallies = np.zeros(0, np.int64)
        self.context = r.SearchContext(
            counts=self.counts,
            tallies=self.tallies,
            parts=r.PARTS.addresses,
            event_words=np.zeros(128, np.int64),
            blocks=np.zeros(r.MOST_BLOCKS, np.int32),
            hot_attribute=np.zeros(r.MOST_HOT, np.uint16),
            hot_lo=np.zeros(r.MOST_HOT, np.uint32),
            hot_hi=np.zeros(r.MOST_HOT, np.uint32),
            outcomes=np.zeros(0, np.uint8),
            bits_left=np.zeros(0, np.uint64),
        )
        self.table = self.context.table
        self._spare: dict[str, npt.NDArray[Any]] = {}
        self._rows: Mapping[str, npt.NDArray[Any]] = {}
        self._has_verdicts = self._is_tallied = False
        self._attributes = self._locals = self._boxes = self._slots = 0

    @property
    def rules(self) -> RuleWorkspace:
        """Room for searches in rules."""
        if self._rules is None:
            from thatch.matching.segments.rules.workspace import RuleWorkspace  # loads its kernels

            self._rules = RuleWorkspace(self.counts)
            self._rules.tally(self.tallies, on=self._is_tallied)
        return self._rules

    @property
    def plain(self) -> PlainMatcher:
        """What matches dicts of plain values against the boxes and rules of the shape."""
        if self._plain is None:
            from thatch.matching.segments.rules.plain import PlainMatcher  # loads its kernels

            assert self.shape is not None
            self._plain = PlainMatcher(self.encoder, self.rules, self.context, self.sync, self.shape.rules)
        return self._plain

    def attach(self, shape: Shape) -> None:
        """Get ready for searches of a shape."""
        self.shape = shape
        self._plain = None
        self.encoder.attributes = shape.attributes
        self._load_parts(shape)
        context = self.context
        self._search_tables(shape.segment_tables, shape.delta_tables, len(shape.segments), len(shape.deltas))
        if self._attributes != shape.attribute_room:
            self._attributes = room = shape.attribute_room
            context.heads = np.full(room, -1, np.int32)
            context.joints, context.touched = np.zeros(room, np.uint8), np.zeros(room, np.int32)
            context.wide_low, context.wide_high = np.zeros(room, np.uint16), np.zeros(room, np.uint16)
        if len(context.outcomes) <= shape.most_checks:
            context.outcomes = np.zeros(shape.most_checks + 1, np.uint8)
        words = -(-shape.most_bits // 64)
        if len(context.bits_left) < words:
            context.bits_left, context.bits_own = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
        if self._locals < shape.local_room:
            self._locals = shape.local_room
            self._make_codes(shape.local_room)
        if self._boxes < shape.boxes or 4 * shape.boxes < self._boxes:
            self._boxes = shape.boxes
            # Twice as many as there are boxes: several elements of a list may find the same one.
            self.slots = context.slots = np.empty(2 * shape.boxes, np.int64)
            self.pending = context.pending = np.empty(2 * shape.boxes, np.int64)
        if self._slots < shape.slots or 4 * shape.slots < self._slots:
            self._slots = shape.slots
            words = (shape.slots >> 6) + 1
            context.slot_bits = np.zeros(words, np.uint64)
            context.slot_summary = np.zeros((words >> 6) + 1, np.uint64)
        self.sync()

    def _load_parts(self, shape: Shape) -> None:
        """Load the parts of a search that every event may need here."""
        if shape.has_checks:
            r.PARTS.load(r.CHECKS)
        if shape.has_checks or not shape.is_exact:
            self._load_verdicts()
        if shape.has_texts:
            r.PARTS.load(r.TEXTS)
        if shape.has_prefilter:
            r.PARTS.load(r.PREFILTER)
        if shape.most_bits:
            r.PARTS.load(r.BITSETS)

    def _load_verdicts(self) -> None:
        """Let searches handle lists and look closer at boxes; else a match must be verified, which takes longer."""
        r.PARTS.load(r.VERDICTS, r.LISTS)
        self._has_verdicts = True

    def _make_codes(self, room: int) -> None:
        context = self.context
        for name in ("low", "high", "strict_low", "strict_high", "listed_high"):
            setattr(context, name, np.zeros(room, np.uint16))
        for name in ("cell_low", "cell_high", "local_touched", "local_sorted", "local_length"):
            setattr(context, name, np.zeros(room, np.int32))
        context.local_heads = np.full(room, -1, np.int32)
        context.local_joints = np.zeros(room, np.uint8)
        context.layers = np.zeros(r.MOST_LAYERS * room, np.uint16)
        context.listed_low = np.full(room, 65535, np.uint16)

    def sync(self) -> None:
        """Point the context to the event's rows, if they have moved, and load what these rows need."""
        if self.encoder.is_listed and not self._has_verdicts:
            self._load_verdicts()
        if self._rows is not self.encoder.buffers:
            self._rows = self.encoder.buffers
            for name, array in self._rows.items():
                setattr(self.context, name, array)

    def use_words(self, blob: Uint8s) -> None:
        """Read the texts of events from there, until `attach`."""
        self._rows = {}
        self.context.words = blob

    def search_in(self, segments: Sequence[Segment], deltas: Sequence[Delta]) -> None:
        """Search in these only, until `attach`."""
        self._search_tables(join_tables(segments), join_tables(deltas), len(segments), len(deltas))

    def _search_tables(self, segments: Int64s, deltas: Int64s, n_segments: int, n_deltas: int) -> None:
        self.context.segments, self.context.deltas = segments, deltas
        self.context.n_segments, self.context.n_deltas = n_segments, n_deltas

    def spare(self, name: str, size: int, kind: Any) -> npt.NDArray[Any]:
        """An array that is kept for the next batch, because a new one takes as long as filling it."""
        known = self._spare.get(name)
        if known is None or len(known) < size:
            known = self._spare[name] = np.empty(size, kind)
        return known[:size]

    def tally(self, slots: int, *, on: bool = True) -> None:
        """Count candidates and matches of every slot, for which there is room then, or do not."""
        self._is_tallied = on
        if on:
            self._make_tallies(slots)
        if self._rules is not None:
            self._rules.tally(self.tallies, on=on)

    def count_tested(self, slots: list[int], matches: int) -> None:
        """Count rules that were tested one by one."""
        self.counts.candidates += len(slots)
        self.counts.matches += matches
        if self._is_tallied:
            self.tallies[2 * np.array(slots, np.int64)] += 1

    def _make_tallies(self, slots: int) -> None:
        self._load_verdicts()
        if len(self.tallies) < 2 * slots:
            grown = np.zeros(2 * slots, np.int64)
            grown[: len(self.tallies)] = self.tallies
            self.tallies = self.context.tallies = grown

    def nbytes(self) -> int:
        """Bytes of all arrays that belong to the workspace."""
        shared = ("segments", "deltas", "parts")
        own = [array for name, array in self.context.arrays.items() if name not in shared]
        rules = 0 if self._rules is None else self._rules.nbytes()
        return rules + sum(array.nbytes for array in (*own, *self._spare.values()))
