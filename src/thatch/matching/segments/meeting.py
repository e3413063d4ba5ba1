"""Which filters of an index may share an event with a condition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import inf, nextafter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from thatch.compiled.records import Int32s, Int64s, Uint64s
from thatch.matching.problem import IndexView
from thatch.matching.segments.columns import cut_of
from thatch.matching.segments.kernels.meeting import ALL_CODES, find_meeting
from thatch.matching.segments.records import MOST_BLOCKS, NUMBER, TEXT
from thatch.matching.segments.shape import Shape
from thatch.matching.segments.view import View
from thatch.model.conjunctions import Conjunction
from thatch.model.lines import Cut

__all__ = ["MeetingSearch"]

Kinds: TypeAlias = tuple[
    Int32s, Uint64s, int
]  # labels and traits (bits) of slots, and the traits that are needed


class MeetingSearch:
    """Searches the boxes of one index for one conjunction after the other."""

    def __init__(self) -> None:
        self._blocks = np.zeros(MOST_BLOCKS, np.int32)
        self._ranges: list[npt.NDArray[np.uint16]] = []
        self._out = np.zeros(0, np.int64)
        self._zeros = np.zeros(0, np.int32)

    def everything(self, view: IndexView, asked: Conjunction) -> Int64s:
        """The slots of all boxes that a conjunction may meet; some come again."""
        assert isinstance(view, View)
        if len(self._zeros) < 2 * view.shape.slots:
            self._zeros = np.zeros(4 * view.shape.slots, np.int32)
        return self.every(view, asked, (self._zeros, self._zeros.view(np.uint64), 0), (0,))

    def every(self, view: IndexView, asked: Conjunction, kinds: Kinds, wanted: Iterable[int]) -> Int64s:
        """The same for boxes with some labels and the traits that are needed."""
        return self._run(view, asked, kinds, _marks(wanted), None)[0].copy()

    def first(
        self, view: IndexView, asked: Conjunction, kinds: Kinds, wanted: Collection[int]
    ) -> tuple[list[int], int]:
        """The slot of one such box for each of some labels; and how many of them, in front, were compared cut by cut."""
        slots, exact = self._run(view, asked, kinds, _marks(wanted), len(wanted))
        return slots.tolist(), exact

    def rules(self, view: IndexView) -> Int64s:
        """The slots of all rules, which are not searched."""
        assert isinstance(view, View)
        living = [each.slots[each.died > view.moment] for each in view.shape.rules]
        return np.concatenate([np.array([*view.fresh], np.int64), *living])

    def _run(
        self, view: IndexView, asked: Conjunction, about: Kinds, open_labels: Uint64s, most: int | None
    ) -> tuple[Int64s, int]:
        """Slots of boxes that the conjunction may meet, and whose label is open; those compared cut by cut come first.

        Parameters
        ----------
        open_labels : a bit for each label
        most : one slot of each open label, of which there are so many, is enough
        """
        assert isinstance(view, View)
        (labels, traits, needed), shape = about, view.shape
        self._make_room(shape)
        keys = [
            (shape.attributes.number[key], cuts)
            for key, cuts in asked.constraints
            if key in shape.attributes.number
        ]
        texts: list[str] = []
        kinds, values = np.zeros((len(keys), 2), np.int64), np.zeros((len(keys), 2))
        for side, (_, cuts) in enumerate(keys):
            for end, cut in enumerate((cuts[0], cuts[-1])):
                kinds[side, end], values[side, end] = _outer_cut(cut, texts, is_high=end == 1)
        written = _written(texts)
        is_text = kinds >= TEXT
        values[is_text] = written.offsets[values[is_text].astype(np.int64)]
        count, exact = find_meeting(
            shape.segment_tables, shape.delta_tables, view.boxes, view.moment,
            np.array([number for number, _ in keys], np.int64), kinds, values, written.blob, *self._ranges,
            labels, open_labels, traits, np.uint64(needed), most is not None, len(self._out) if most is None else most, self._blocks, self._out,
        )  # fmt: skip
        return self._out[:count], exact

    def _make_room(self, shape: Shape) -> None:
        sizes = (shape.local_room, shape.local_room, shape.attribute_room, shape.attribute_room)
        if not self._ranges or any(len(each) != size for each, size in zip(self._ranges, sizes, strict=True)):
            self._ranges = [
                np.full(size, value, np.uint16) for size, value in zip(sizes, (0, ALL_CODES) * 2, strict=True)
            ]
        if len(self._out) < shape.boxes:
            self._out = np.zeros(2 * shape.boxes, np.int64)


def _marks(labels: Iterable[int]) -> Uint64s:
    """A bit for each label."""
    known = list(labels)
    marks = np.zeros((max(known) >> 6) + 1, np.uint64)
    for label in known:
        marks[label >> 6] |= np.uint64(1 << (label & 63))
    return marks


class _Written:
    """Texts as kernels read them here: each with its length before it, at multiples of four."""

    def __init__(self, texts: Sequence[str]) -> None:
        content, offsets = bytearray(), []
        for text in texts:
            offsets.append(len(content))
            encoded = text.encode()
            content += len(encoded).to_bytes(4, "little") + encoded
            content += bytes(-len(content) % 4)
        self.offsets = np.array(offsets, np.int64)
        self.blob = np.frombuffer(bytes(content) or bytes(4), np.uint8)


_NO_TEXTS = _Written(())


def _written(texts: Sequence[str]) -> _Written:
    return _Written(texts) if texts else _NO_TEXTS


def _outer_cut(cut: Cut, texts: list[str], *, is_high: bool) -> tuple[int, Any]:
    """Kind and value of a cut or, if its number is no double, of the next one outwards; a text's value is its position."""
    if len(cut) == 3 and cut[0] == 5 and float(cut[1]) != cut[1]:
        return NUMBER + is_high, nextafter(float(cut[1]), inf if is_high else -inf)

    def keep(text: str) -> int:
        texts.append(text)
        return len(texts) - 1

    return cut_of(cut, keep)
