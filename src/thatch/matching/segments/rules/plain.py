"""Dicts of plain values matched in one call of a kernel, for as long as only the events change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thatch.matching.segments.rules.kernels.plain import match_plain
from thatch.matching.segments.rules.records import PlainMatch

if TYPE_CHECKING:
    from thatch.matching.segments.shape import Shape
    from thatch.matching.segments.workspace import SearchWorkspace

__all__ = ["PlainMatcher"]


class PlainMatcher:
    """One workspace, ready for events of plain values."""

    def __init__(self, room: SearchWorkspace) -> None:
        self._room = room
        self._record = PlainMatch()
        self._table = self._record.table
        self._shape: Shape | None = None
        self._buffers: object = None
        self._known = -1
        self._derived: tuple[str, ...] = ()

    def match(self, event: dict[str, object], flags: int, moment: int, newest: int) -> int:
        """What `match_plain` returns; negative, too, if the event cannot be read so."""
        room = self._room
        encoder = room.encoder
        if (
            self._shape is not room.shape
            or self._buffers is not encoder.buffers
            or self._known != len(encoder.attributes.keys)
        ) and not self._prepare():
            return -1
        for name in self._derived:
            if name in event:
                return -1
        return int(match_plain(self._table, id(event), flags, moment, newest))

    @property
    def waiting(self) -> int:
        """How many boxes the last match left to be verified."""
        return int(self._table[PlainMatch.waiting])

    def _prepare(self) -> bool:
        """Note where everything is; False if events cannot be read in a kernel now."""
        room, record, shape = self._room, self._record, self._room.shape
        assert shape is not None
        known = len(room.encoder.attributes.keys)
        reader = room.encoder.plain_reader()
        if reader is None:
            return False
        room.sync()
        room.rules.attach(shape.rules, shape.boxes)
        room.rules.use(room.encoder)
        record.reader, record.context, record.slots = reader.record.table, room.table, room.slots
        record.event = room.rules.event
        record.rules, record.searches = room.rules.tables
        record.n_segments = len(shape.rules)
        self._derived = reader.derived
        self._shape, self._buffers, self._known = shape, room.encoder.buffers, known
        return True
