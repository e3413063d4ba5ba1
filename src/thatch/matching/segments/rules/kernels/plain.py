"""Match a dict of plain values in one call: read it, and search boxes and rules for it."""

from __future__ import annotations

import numpy as np

from thatch.compiled.decorators import short_kernel
from thatch.matching.segments.kernels.reading import read_plain
from thatch.matching.segments.kernels.search import collect
from thatch.matching.segments.records import WAITING, ReaderRecord
from thatch.matching.segments.rules.kernels.events import file_rows
from thatch.matching.segments.rules.kernels.search import search_all, sort_few
from thatch.matching.segments.rules.records import PlainMatch

__all__ = ["match_plain"]

_LOWER = 2**32 - 1


@short_kernel
def match_plain(table, event_at, flags, moment, newest):
    """Find what an event satisfies, in `found` of its `RuleEvent`, and what is to be verified, in `pending` there.

    Returns the number of the first and, in the upper half, of the others. Those found are in order if they are few.
    What boxes leave to be verified stays where `collect` puts it; `waiting` says how many these are, and WAITING is
    set in the result if there are some. Negative if
    Python must read the event, or make room for it; then nothing has happened.

    Parameters
    ----------
    table : a `PlainMatch`
    event_at : address of the dict
    flags, moment, newest : as for `collect`; `newest` is negative if there are no boxes
    """
    match = PlainMatch(table, 0)
    event = match.event
    reader = ReaderRecord(match.reader, 0)  # without what Python derived from another event
    reader.given = 0
    reader.given_texts = 0
    reader.given_used = 0
    rows = read_plain(match.reader, event_at)
    if rows < 0 or file_rows(event, rows) < 0:
        return np.int64(-1)
    event.is_listed = 0
    boxes, waiting = np.int64(0), np.int64(0)
    if newest >= 0:
        counts = collect(match.context, rows, flags, moment, newest)
        boxes, waiting = counts & _LOWER, counts >> 32
    else:
        event.counts.events += 1
    packed = search_all(event, match.rules, match.searches, match.n_segments, moment)
    found = packed & _LOWER
    for k in range(boxes):
        event.found[found + k] = match.slots[k]
    sort_few(event.found, found, found + boxes)
    match.waiting = waiting
    return packed + boxes + (WAITING if waiting != 0 else 0)
