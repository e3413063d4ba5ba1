"""One event against all rules: beside reading it from JSON, and beside libraries that only search its texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from benchmarks.matching.rows import Row, at_most, slower_than, times_faster
from benchmarks.rules.corpus import Bench, microseconds
from benchmarks.rules.peers import PEERS

__all__ = ["event_rows", "peer_rows", "process_rows"]


def event_rows(bench: Bench) -> list[Row]:
    """All events, one by one and as a table."""
    row = _row(bench, "one event, dict to ids", bench.events, at_most(10, 5))
    reading = microseconds(json.loads, bench.lines, bench.rounds)
    table = _table(bench.events)
    batch = microseconds(partial(bench.engine.match_batch, nulls="missing"), [table], bench.rounds)
    return [
        row,
        slower_than(row, "json.loads", reading, at_most(0.7)),
        Row(
            what="one event of a table",
            subscriptions=row.subscriptions,
            ours=batch / len(bench.events),
            unit="µs",
            details={"columns": table.num_columns},
        ),
    ]


def _table(events: Sequence[dict[str, Any]]) -> pa.Table:
    """All events with their values as text, since a column has one type."""
    names = sorted({name for event in events for name in event})
    return pa.table(
        {name: [str(event[name]) if name in event else None for event in events] for name in names}
    )


def process_rows(bench: Bench) -> list[Row]:
    """Long command lines."""
    return [_row(bench, "one creation of a process", bench.process_creations, at_most(25, 10))]


def peer_rows(bench: Bench) -> list[Row]:
    """The same texts and literals, or the rules that a peer can express, through each peer that is installed."""
    rows = []
    row = _row(bench, "one event, dict to ids", bench.events)
    for peer in PEERS:
        made = peer(bench)
        if made is None:
            continue
        name, call, events, share = made
        theirs = microseconds(call, events, 1 if bench.is_quick else 3)
        beside = times_faster(row, name, theirs)
        rows.append(beside if share is None else _with_share(beside, share))
    return [row, *rows]


def _with_share(row: Row, share: float) -> Row:
    row.details["% of the rules"] = 100 * share
    return row


def _row(bench: Bench, what: str, events: Sequence[dict[str, Any]], goal: Any = None) -> Row:
    engine = bench.engine
    matches = sum(len(engine.match(event)) for event in events) / len(events)
    return Row(
        what=what,
        subscriptions=len(engine),
        matches=matches,
        ours=microseconds(engine.match, events, bench.rounds),
        unit="µs",
        goal=goal,
    )
