"""W3 and W4: nothing selective, or conditions shared by many, beside the naive compiled scan."""

from __future__ import annotations

from benchmarks.matching.measured import contest, our_row
from benchmarks.matching.rows import Row, at_least, times_faster
from benchmarks.matching.session import Session
from benchmarks.ours import BATCH, SINGLE, batch, single
from benchmarks.peers.scans import NAIVE, naive

__all__ = ["pooled_rows", "wide_rows"]


def wide_rows(session: Session) -> list[Row]:
    """W3 in batches of (event, id) pairs; one event a call for information."""
    sizes = session.sizes
    prepared = session.prepare("W3", sizes.count)
    peer = naive(prepared.boxes, prepared.points[: sizes.few(16)])
    batched, ours = batch(prepared), single(prepared, sizes.few(64))
    matches, taken = contest(sizes, [batched, ours, peer])
    row = our_row(prepared, batched, matches, taken[BATCH])
    return [
        row,
        times_faster(row, NAIVE, taken[NAIVE], at_least(40, 100)),
        our_row(prepared, ours, matches, taken[SINGLE]),
    ]


def pooled_rows(session: Session) -> list[Row]:
    """W4A and W4B, both ways."""
    return [row for name in ("W4A", "W4B") for row in _pooled(session, name)]


def _pooled(session: Session, name: str) -> list[Row]:
    sizes = session.sizes
    prepared = session.prepare(name, sizes.pooled)
    peer = naive(prepared.boxes, prepared.points[: sizes.few(32)])
    batched, ours = batch(prepared), single(prepared)
    matches, taken = contest(sizes, [batched, ours, peer])
    in_batch = our_row(prepared, batched, matches, taken[BATCH])
    alone = our_row(prepared, ours, matches, taken[SINGLE])
    return [
        in_batch,
        times_faster(in_batch, NAIVE, taken[NAIVE], at_least(100, 200)),
        alone,
        times_faster(alone, NAIVE, taken[NAIVE], at_least(30, 50)),
    ]
