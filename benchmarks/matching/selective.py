"""W1: a dict to ids beside a NumPy scan and the naive compiled scan, in full size and a tenth of it."""

from __future__ import annotations

from benchmarks.matching.measured import contest, our_row
from benchmarks.matching.rows import Goal, Row, at_least, at_most, times_faster
from benchmarks.matching.session import Session
from benchmarks.ours import BATCH, SINGLE, Prepared, batch, single
from benchmarks.peers.scans import NAIVE, NUMPY, naive, numpy_scan

__all__ = ["selective_rows"]


def selective_rows(session: Session) -> list[Row]:
    """Rows for both sizes."""
    sizes = session.sizes
    return [
        *_rows(session, session.w1, at_most(25, 10), at_least(500, 2000)),
        *_rows(session, session.prepare("W1", sizes.tenth), at_most(8, 3), None),
    ]


def _rows(session: Session, prepared: Prepared, goal: Goal, beside_scan: Goal | None) -> list[Row]:
    sizes = session.sizes
    boxes, points = prepared.boxes, prepared.points
    ours, batched = single(prepared), batch(prepared)
    peers = [numpy_scan(boxes, points[: sizes.few(16)]), naive(boxes, points[: sizes.few(32)])]
    matches, taken = contest(sizes, [ours, batched, *peers])
    row = our_row(prepared, ours, matches, taken[SINGLE], goal)
    return [
        row,
        times_faster(row, NUMPY, taken[NUMPY], beside_scan),
        times_faster(row, NAIVE, taken[NAIVE]),
        our_row(prepared, batched, matches, taken[BATCH]),
    ]
