"""Room to work in for one search: the buffers of an event, its codes, and its matches.

A search takes a workspace from a pool and puts it back, so that any number of threads may search at once. Between
searches the code arrays are zero, heads are -1 and the bits are clear; a search that raises does not put its
workspace back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from thatch.compiled.decorators import JIT
from thatch.matching.segments import fields
from thatch.matching.segments.encoding import Encoder
from thatch.matching.segments.kernels.checks import program_runner
from thatch.matching.segments.kernels.on_demand import PARTS, load_parts
from thatch.matching.segments.shape import Shape

__all__ = ["Workspace"]


class Workspace:
    """The context of a search, and all arrays it names."""

    def __init__(self) -> None:
        self.shape: Shape | None = None
        self.encoder = Encoder()
        self.context = np.zeros(fields.CONTEXT_WIDTH, np.int64)
        self.counts = np.zeros(fields.N_COUNTS, np.int64)
        self.tallies = np.zeros(0, np.int64)
        self._owned: dict[int, npt.NDArray[Any]] = {}
        self._spare: dict[str, npt.NDArray[Any]] = {}
        self._rows: Mapping[int, npt.NDArray[Any]] = {}
        self._has_verdicts = False
        self._attributes = self._locals = self._boxes = self._places = 0
        self._name({fields.COUNTS: self.counts, fields.TALLIES: self.tallies, fields.PARTS: PARTS})
        self._name(
            {
                fields.HOT_ATTRIBUTE: np.zeros(fields.MOST_HOT, np.uint16),
                fields.HOT_LO: np.zeros(fields.MOST_HOT, np.uint32),
                fields.HOT_HI: np.zeros(fields.MOST_HOT, np.uint32),
                fields.SIEVES: np.zeros(128, np.int64),
                fields.BLOCKS: np.zeros(fields.MOST_BLOCKS, np.int32),
            }
        )

    def attach(self, shape: Shape) -> None:
        """Get ready for searches of a shape."""
        self.shape = shape
        self.encoder.attributes = shape.attributes
        if shape.has_checks and not self.context[fields.RUNNER] and JIT:
            self.context[fields.RUNNER] = program_runner().address
        if shape.has_checks or not shape.is_exact:
            self._load_verdicts()
        self._name({fields.SEGMENTS: shape.segment_descs, fields.DELTAS: shape.delta_descs})
        if self._attributes != shape.attribute_room:
            self._attributes = shape.attribute_room
            self._name(
                {
                    fields.HEADS: np.full(shape.attribute_room, -1, np.int32),
                    fields.JOINTS: np.zeros(shape.attribute_room, np.uint8),
                    fields.TOUCHED: np.zeros(shape.attribute_room, np.int32),
                    fields.WIDE_LOW: np.zeros(shape.attribute_room, np.uint16),
                    fields.WIDE_HIGH: np.zeros(shape.attribute_room, np.uint16),
                }
            )
        if self.context[fields.OUTCOMES + 1] <= shape.most_checks:
            self._name({fields.OUTCOMES: np.zeros(shape.most_checks + 1, np.uint8)})
        if shape.has_texts:
            load_parts(fields.TEXTS)
        if shape.has_sieves:
            load_parts(fields.SIEVED)
        if shape.most_bits:
            self._name_bits(shape.most_bits)
        if self._locals < shape.local_room:
            self._locals = shape.local_room
            self._name(self._local_arrays(shape.local_room))
        if self._boxes < shape.boxes or 4 * shape.boxes < self._boxes:
            self._boxes = shape.boxes
            # Twice as many as there are boxes: elements of a list may find the same one.
            self.places = np.empty(2 * shape.boxes, np.int64)
            self.pending = np.empty(2 * shape.boxes, np.int64)
            self._name({fields.PLACES: self.places, fields.PENDING: self.pending})
        if self._places < shape.places or 4 * shape.places < self._places:
            self._places = shape.places
            words = (shape.places >> 6) + 1
            self._name(
                {
                    fields.BITS: np.zeros(words, np.uint64),
                    fields.SUMMARY: np.zeros((words >> 6) + 1, np.uint64),
                }
            )
        self.sync()

    @staticmethod
    def _local_arrays(room: int) -> dict[int, npt.NDArray[Any]]:
        return {
            fields.LOW: np.zeros(room, np.uint16),
            fields.HIGH: np.zeros(room, np.uint16),
            fields.STRICT_LOW: np.zeros(room, np.uint16),
            fields.STRICT_HIGH: np.zeros(room, np.uint16),
            fields.CELL_LOW: np.zeros(room, np.int32),
            fields.CELL_HIGH: np.zeros(room, np.int32),
            fields.LOCAL_HEADS: np.full(room, -1, np.int32),
            fields.LOCAL_JOINTS: np.zeros(room, np.uint8),
            fields.LOCAL_TOUCHED: np.zeros(room, np.int32),
            fields.LOCAL_SORTED: np.zeros(room, np.int32),
            fields.LOCAL_LENGTH: np.zeros(room, np.int32),
            fields.LAYERS: np.zeros(fields.MOST_LAYERS * room, np.uint16),
            fields.LISTED_LOW: np.full(room, 65535, np.uint16),
            fields.LISTED_HIGH: np.zeros(room, np.uint16),
        }

    def sync(self) -> None:
        """Tell the context where the event's rows are, if they have moved, and get ready for what they are."""
        if self.encoder.is_listed and not self._has_verdicts:
            self._load_verdicts()
        if self._rows is not self.encoder.buffers:
            self._rows = self.encoder.buffers
            self._name(self._rows)

    def _load_verdicts(self) -> None:
        """Let searches look for lists, and closer at boxes; what they cannot look at is verified, which takes longer."""
        load_parts(fields.VERDICTS, fields.LISTED)
        self._has_verdicts = True

    def _name_bits(self, boxes: int) -> None:
        """Let searches sweep over bitsets."""
        load_parts(fields.BITSETS)
        words = -(-boxes // 64)
        if self.context[fields.SWEPT + 1] < words:
            self._name({fields.SWEPT: np.zeros(words, np.uint64), fields.TURNED: np.zeros(words, np.uint64)})

    def name_words(self, blob: npt.NDArray[np.uint8]) -> None:
        """Let the texts of events be looked up elsewhere, until `attach`."""
        self._rows = {}
        self._name({fields.WORDS: blob})

    def name_sources(self, segments: npt.NDArray[np.int64], deltas: npt.NDArray[np.int64]) -> None:
        """Search in these only, until `attach`."""
        self._name({fields.SEGMENTS: segments, fields.DELTAS: deltas})

    def spare(self, name: str, size: int, kind: Any) -> npt.NDArray[Any]:
        """An array that is kept for the next batch, because making one anew takes as long as filling it."""
        known = self._spare.get(name)
        if known is None or len(known) < size:
            known = self._spare[name] = np.empty(size, kind)
        return known[:size]

    def tally(self, places: int) -> None:
        """Make room to count candidates and matches of every place."""
        self._load_verdicts()
        if len(self.tallies) < 2 * places:
            grown = np.zeros(2 * places, np.int64)
            grown[: len(self.tallies)] = self.tallies
            self.tallies = grown
            self._name({fields.TALLIES: grown})

    def _name(self, arrays: Mapping[int, npt.NDArray[Any]]) -> None:
        self._owned.update(arrays)  # addresses do not keep arrays alive
        for field, array in arrays.items():
            assert array.flags.c_contiguous
            self.context[field], self.context[field + 1] = array.ctypes.data, array.size

    def nbytes(self) -> int:
        """Bytes of all that is owned here."""
        shared = (fields.SEGMENTS, fields.DELTAS)
        spare = sum(array.nbytes for array in self._spare.values())
        return spare + sum(each.nbytes for field, each in self._owned.items() if field not in shared)
