"""Filters with labels: an event asks which labels it reaches, not which filters.

A label is a small number, such as that of the neighbour a subscription came from. However many filters with a label
match, it is answered once. Filters labelled `OWN` are answered themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thatch.matching.growing import GrowingIndex
from thatch.matching.necessary import NecessaryView
from thatch.matching.problem import Slots
from thatch.model.events import Record
from thatch.model.filters import Filter
from thatch.model.schema import Schema

__all__ = ["OWN", "LabelledIndex", "Reached"]

OWN = -1  # the label of filters that are answered themselves
_LOWER = 2**32 - 1


class Reached(NamedTuple):
    """What an event reaches: labels, each once, and the slots of matches that are `OWN`; both lowest first."""

    labels: list[int]
    slots: list[int]


class LabelledIndex:
    """Filters in slots, each with a label.

    Parameters
    ----------
    schema : declared types of attributes
    """

    def __init__(self, schema: Schema | None = None) -> None:
        self._index = GrowingIndex(schema=schema)
        self._labels = np.full(64, OWN, np.int32)
        self._marks = np.zeros(1, np.uint64)
        self._found = np.zeros(64, np.int64), np.zeros(64, np.int64)

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, slot: int, filter: Filter, label: int) -> None:
        """Add a filter at a free slot."""
        self._index.add(slot, filter)
        self._set_label(slot, label)

    def extend(self, filters: Mapping[int, Filter], labels: Mapping[int, int]) -> None:
        """Add many filters at once."""
        self._index.extend(filters)
        for slot, label in labels.items():
            self._set_label(slot, label)

    def remove(self, *slots: int) -> None:
        """Remove the filters at these slots."""
        self._index.remove(*slots)

    def _set_label(self, slot: int, label: int) -> None:
        if slot >= len(self._labels):
            more = np.full(max(slot + 1, 2 * len(self._labels)) - len(self._labels), OWN, np.int32)
            self._labels = np.concatenate([self._labels, more])
            self._found = np.zeros(len(self._labels), np.int64), np.zeros(len(self._labels), np.int64)
        if label >= 64 * len(self._marks):
            self._marks = np.zeros(2 * (label >> 6) + 1, np.uint64)
        self._labels[slot] = label

    def label(self, slot: int) -> int:
        """The label of a slot."""
        return int(self._labels[slot])

    # --- asking --------------------------------------------------------------------------------------------------

    def match(self, record: Record) -> list[int]:
        """The slots of all filters that match, whatever their labels, lowest first."""
        return [int(slot) for slot in self._index.match(record)]

    def reached(self, record: Record) -> Reached:
        """What an event reaches."""
        view = self._index.view
        slots = view.match(record)
        return self._few(slots) if isinstance(view, NecessaryView) else self._split(slots)

    def reached_plain(self, event: dict[str, Any]) -> Reached | None:
        """The same for an event as it was given, of undeclared types; None if it has to be read first."""
        view = self._index.view
        return view.match_plain(event, self._few if isinstance(view, NecessaryView) else self._split)

    def _few(self, slots: Slots) -> Reached:
        labels = self._labels[slots]
        return Reached(np.unique(labels[labels != OWN]).tolist(), slots[labels == OWN].tolist())

    def _split(self, slots: npt.NDArray[np.int64]) -> Reached:
        from thatch.matching.segments.kernels.labels import split_slots  # which segments have loaded

        labels, own = self._found
        counts = split_slots(slots, self._labels, self._marks, labels, own)
        return Reached(labels[: counts & _LOWER].tolist(), own[: counts >> 32].tolist())
