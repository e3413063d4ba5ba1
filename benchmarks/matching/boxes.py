"""W2-3D: boxes in three dimensions, a batch of events beside rtree and DuckDB."""

from __future__ import annotations

from benchmarks.console import note
from benchmarks.matching.measured import contest, our_row
from benchmarks.matching.rows import Row, at_least, times_faster
from benchmarks.matching.session import Session
from benchmarks.ours import BATCH, SINGLE, batch, single
from benchmarks.peers.duck import DUCKDB, duckdb_join
from benchmarks.peers.r_tree import PER_CALL, VECTOR, r_tree
from benchmarks.peers.scans import NAIVE, naive

__all__ = ["boxes_rows"]


def boxes_rows(session: Session) -> list[Row]:
    """Of rtree's two ways the quicker counts."""
    sizes = session.sizes
    prepared = session.prepare("W2-3D", sizes.count)
    boxes, points = prepared.boxes, prepared.points
    note("loading rtree and DuckDB")
    peers = [
        *r_tree(boxes, points[: sizes.few(256)], sizes.few(64)),
        duckdb_join(boxes, points[: sizes.few(256)]),
        naive(boxes, points[: sizes.few(32)]),
    ]
    ours, batched = single(prepared), batch(prepared)
    matches, taken = contest(sizes, [ours, batched, *peers])
    row = our_row(prepared, batched, matches, taken[BATCH])
    best_of_rtree = min((PER_CALL, VECTOR), key=lambda name: taken[name])
    other = PER_CALL if best_of_rtree == VECTOR else VECTOR
    return [
        row,
        times_faster(row, best_of_rtree, taken[best_of_rtree], at_least(30, 100)),
        times_faster(row, other, taken[other]),
        times_faster(row, DUCKDB, taken[DUCKDB], at_least(200, 1000)),
        times_faster(row, NAIVE, taken[NAIVE]),
        our_row(prepared, ours, matches, taken[SINGLE]),
    ]
