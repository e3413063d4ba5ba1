"""Dicts of plain values matched in one call of a kernel, for as long as only the events change."""

from __future__ import annotations

from collections.abc import Callable

from thatch.matching.segments.encoding import Encoder
from thatch.matching.segments.records import NO_KERNEL, SearchContext
from thatch.matching.segments.rules.kernels.plain import match_plain
from thatch.matching.segments.rules.records import PlainMatch
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.rules.workspace import RuleWorkspace

__all__ = ["PlainMatcher"]


class PlainMatcher:
    """Searches of these segments, and of the boxes of a context, for one event after the other.

    Parameters
    ----------
    encoder, rules, context : the workspace in which others search, too
    sync : points the context to the rows of the encoder
    """

    def __init__(
        self,
        encoder: Encoder,
        rules: RuleWorkspace,
        context: SearchContext,
        sync: Callable[[], None],
        segments: tuple[RuleSegment, ...],
    ) -> None:
        self._encoder, self._rules, self._sync = encoder, rules, sync
        rules.attach(segments, len(context.slots))
        self._record = PlainMatch(
            context=context.table, slots=context.slots, event=rules.event, n_segments=len(segments)
        )
        self._record.rules, self._record.searches = rules.tables
        self._table = self._record.table
        self._buffers: object = None
        self._known = -1
        self._derived: tuple[str, ...] = ()

    def match(self, event: dict[str, object], flags: int, moment: int, newest: int) -> int:
        """What `match_plain` returns; negative, too, if the event cannot be read so."""
        encoder = self._encoder
        if newest == NO_KERNEL:
            return -1
        is_ready = self._buffers is encoder.buffers and self._known == len(encoder.attributes.keys)
        if not is_ready and not self._prepare():
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
        """Note how events are read now; False if no kernel can do it."""
        encoder = self._encoder
        known, reader = len(encoder.attributes.keys), encoder.plain_reader()
        if reader is None:
            return False
        self._sync()
        self._rules.use(encoder)
        self._record.reader, self._derived = reader.record.table, reader.derived
        self._buffers, self._known = encoder.buffers, known
        return True
