"""`thatch bench`: how fast is matching on your own files?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import typer

from thatch import Engine, EventError, Schema, TableError
from thatch.app.cli.output import json_line, note, progress, say
from thatch.app.cli.sources import load_schema
from thatch.formats.events import read_events
from thatch.formats.subscriptions import read_subscriptions

__all__ = ["bench"]

bench = typer.Typer(
    name="bench", no_args_is_help=True, rich_markup_mode=None, help="Measure matching on your own files."
)

_AT_ONCE = 10_000  # subscriptions between two steps of the progress bar
_ROUND = 0.1  # seconds that a round lasts at least: few events are matched many times
_JSON = "event"  # the column that holds events as JSON text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loading:
    """How the engine was filled."""

    subscriptions: int
    refused: int
    seconds: float
    per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Single:
    """One event a call, in microseconds."""

    p50: float
    p99: float
    best_mean: float
    events_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """All events in one table."""

    microseconds: float  # an event, best
    events_per_second: float
    form: str  # how the table holds the events


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """All that is told."""

    loading: _Loading
    events: int
    left_out: int
    matches_per_event: float
    single: _Single
    batch: _Batch | None
    bytes: dict[str, int]  # by part


@bench.command("match")
def match(
    subscriptions: Annotated[str, typer.Argument(help="File of subscriptions: .csv, .jsonl or .parquet.")],
    events: Annotated[
        str, typer.Argument(help="File of events: .jsonl, .csv or .parquet; - for JSON lines on stdin.")
    ],
    limit: Annotated[int, typer.Option(help="At most this many events, the first ones.", min=1)] = 100_000,
    rounds: Annotated[int, typer.Option(help="How often all events are matched, at least.", min=1)] = 5,
    nulls: Annotated[
        Literal["missing", "null"], typer.Option(help="What empty fields of .csv and .parquet are.")
    ] = "missing",
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")] = False,
) -> None:
    """Measure how fast events of a file are matched against subscriptions of a file.

    Everything is read first; only matching is timed. One event a call gives the middle (p50) and the slow end (p99)
    of all calls, and the mean of the best round; a batch is one table of all events. Rows that are not events, and
    subscriptions that cannot be accepted, are counted and left out.

    \b
    Examples:
      $ thatch bench match subscriptions.csv events.jsonl
      $ thatch bench match subscriptions.csv events.jsonl --rounds 10 --limit 1000
      $ thatch bench match subscriptions.csv events.jsonl --json
    """
    engine, loading = _loaded(subscriptions, load_schema(schema))
    taken, left_out, matches = _accepted(engine, events, limit, nulls)
    if not taken:
        raise TableError("a file with at least one event", f"none ({left_out:,} rows left out)", events)
    note(f"matching {len(taken):,} events, {rounds} rounds")
    report = _Report(
        loading=loading,
        events=len(taken),
        left_out=left_out,
        matches_per_event=matches / len(taken),
        single=_single(engine, taken, rounds),
        batch=_batch(engine, taken, rounds, matches),
        bytes={
            name.removeprefix("bytes_"): size
            for name, size in engine.stats().items()
            if name.startswith("bytes_")
        },
    )
    if as_json:
        json_line(asdict(report))
    else:
        _tell(report)


def _loaded(path: str, schema: Schema | None) -> tuple[Engine, _Loading]:
    """The engine; what `thatch match` refuses is refused here too."""
    loaded = read_subscriptions(path)
    engine, refused = Engine(schema), len(loaded.rejects)
    seen: set[str | None] = {None}
    spent = 0.0
    with progress("subscriptions", loaded.table.num_rows) as meter:
        for start in range(0, loaded.table.num_rows, _AT_ONCE):
            part = loaded.table.slice(start, _AT_ONCE)
            keep = []
            for at, identity in enumerate(part.column("subscription").to_pylist()):
                if identity not in seen:
                    keep.append(at)
                    seen.add(identity)
            fresh = part.take(pa.array(keep, pa.int64()))
            started = time.perf_counter()
            rejects = engine.subscribe_many(fresh)
            spent += time.perf_counter() - started
            refused += part.num_rows - len(keep) + rejects.num_rows
            meter.step(part.num_rows)
    rate = len(engine) / spent if spent else 0.0
    return engine, _Loading(subscriptions=len(engine), refused=refused, seconds=spent, per_second=rate)


def _accepted(engine: Engine, path: str, limit: int, nulls: str) -> tuple[list[dict[str, Any]], int, int]:
    """The events that can be matched, how many rows cannot, and matches of all; this also loads the kernels."""
    rejects: list[tuple[int, str]] = []
    taken: list[dict[str, Any]] = []
    matches = 0
    with progress("events") as meter:
        for row, event in read_events(path, lambda *each: rejects.append(each), nulls=nulls):
            try:
                matches += len(engine.match(event))
            except EventError as error:
                rejects.append((row, str(error)))
                continue
            taken.append(event)
            meter.step()
            if len(taken) == limit:
                break
    return taken, len(rejects), matches


def _single(engine: Engine, events: list[dict[str, Any]], rounds: int) -> _Single:
    clock, match = time.perf_counter_ns, engine.match
    taken: list[int] = []
    best = float("inf")
    for _ in range(rounds):
        ends = time.perf_counter() + _ROUND
        while True:
            first = len(taken)
            for event in events:
                started = clock()
                match(event)
                taken.append(clock() - started)
            best = min(best, sum(taken[first:]) / len(events))
            if time.perf_counter() >= ends:
                break
    p50, p99 = np.percentile(taken, [50, 99]).tolist()
    return _Single(p50=p50 / 1e3, p99=p99 / 1e3, best_mean=best / 1e3, events_per_second=1e9 / best)


def _batch(engine: Engine, events: list[dict[str, Any]], rounds: int, matches: int) -> _Batch | None:
    """None if the events fit into no table that gives the same matches."""
    for form, table, options in _tables(events):
        found = engine.match_batch(table, **options)
        if found.num_rows == matches:
            best = min(_seconds(lambda: engine.match_batch(table, **options)) for _ in range(rounds))  # noqa: B023
            return _Batch(
                microseconds=best / len(events) * 1e6, events_per_second=len(events) / best, form=form
            )
    return None


def _tables(events: list[dict[str, Any]]) -> list[tuple[str, pa.Table, dict[str, Any]]]:
    """The events as columns, where Arrow can hold them so, and as JSON text."""
    made: list[tuple[str, pa.Table, dict[str, Any]]] = []
    try:
        rows = pa.array(events)
        if rows.type.num_fields:
            made.append(("a column an attribute", pa.Table.from_struct_array(rows), {}))
    except (pa.ArrowException, OverflowError, TypeError):
        pass  # attributes of several types have no column
    try:
        texts = [json.dumps(event) for event in events]
        made.append(("JSON text", pa.table({_JSON: texts}), {"json": _JSON}))
    except TypeError:
        pass  # moments of a Parquet file have no JSON
    return made


def _seconds(call: Callable[[], object]) -> float:
    """Of a call, the best of as many as a round has time for."""
    best, ends = float("inf"), time.perf_counter() + _ROUND
    while True:
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
        if time.perf_counter() >= ends:
            return best


def _tell(report: _Report) -> None:
    loading, single, batch = report.loading, report.single, report.batch
    say(
        f"subscriptions  {loading.subscriptions:,} loaded in {loading.seconds:.2f} s"
        f" ({loading.per_second:,.0f} a second), {loading.refused:,} refused"
    )
    say(
        f"events         {report.events:,} matched, {report.left_out:,} left out,"
        f" {report.matches_per_event:,.2f} matches an event"
    )
    say(
        f"one a call     p50 {single.p50:,.2f} µs, p99 {single.p99:,.2f} µs, best mean {single.best_mean:,.2f} µs:"
        f" {single.events_per_second:,.0f} events a second"
    )
    if batch is None:
        say("batch          not measured: these events fit into no table")
    else:
        say(
            f"batch          {batch.microseconds:,.2f} µs an event: {batch.events_per_second:,.0f} events a second"
            f" ({batch.form})"
        )
    total, count = sum(report.bytes.values()), max(loading.subscriptions, 1)
    say(f"memory         {total:,} bytes, {total / count:,.1f} a subscription")
    for name, size in report.bytes.items():
        say(f"  {name:<12} {size:,} bytes, {size / count:,.1f} a subscription")
