"""`thatch bench`: how fast is matching on your own files?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from thatch import Engine, TableError
from thatch.app.cli.options import EventsFile, Nulls, SubscriptionsFile, reads_files
from thatch.app.cli.output import json_line, note, progress, say
from thatch.app.cli.sources import fill_engine, read_valid_events
from thatch.formats.reading import Reading

__all__ = ["bench"]

bench = typer.Typer(
    name="bench", no_args_is_help=True, rich_markup_mode=None, help="Measure matching on your own files."
)

_ROUND = 0.1  # seconds; a round repeats all events until it has lasted this long
_JSON = "event"  # the column that holds events as JSON text


Figures = dict[str, Any]  # as in the JSON output


@bench.command("match")
@reads_files
def match(
    subscriptions: SubscriptionsFile,
    events: EventsFile,
    limit: Annotated[
        int, typer.Option(help="Use at most this many events, the first ones.", min=1)
    ] = 100_000,
    rounds: Annotated[int, typer.Option(help="Match all events at least this often.", min=1)] = 5,
    nulls: Nulls = "missing",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")] = False,
    *,
    reading: Reading,
) -> None:
    """Measure how fast events of a file are matched against subscriptions of a file.

    Everything is read first; only matching is timed. For one event per call, prints the median (p50) and 99th
    percentile (p99) of all calls and the mean of the fastest round; a batch is one table of all events. Rows that are
    not events and invalid subscriptions are counted and skipped.

    \b
    Examples:
      $ thatch bench match subscriptions.csv events.jsonl
      $ thatch bench match subscriptions.csv events.jsonl --rounds 10 --limit 1000
      $ thatch bench match subscriptions.csv events.jsonl --json
    """
    engine, refused, seconds = fill_engine(subscriptions, reading)
    taken, skipped, matches = _valid_events(engine, events, limit, nulls, reading)
    if not taken:
        raise TableError(f"{events} has no events ({skipped:,} rows were skipped)")
    note(f"Matching {len(taken):,} events, {rounds} rounds.")
    rate = len(engine) / seconds if seconds else 0.0
    sizes = {name: size for name, size in engine.stats().items() if name.startswith("bytes_")}
    with progress("measuring"):
        single, batch = _single(engine, taken, rounds), _batch(engine, taken, rounds, matches)
    figures: Figures = {
        "loading": {
            "subscriptions": len(engine),
            "refused": len(refused),
            "seconds": seconds,
            "per_second": rate,
        },
        "events": len(taken),
        "skipped": skipped,
        "matches_per_event": matches / len(taken),
        "single": single,
        "batch": batch,
        "bytes": {name.removeprefix("bytes_"): size for name, size in sizes.items()},
    }
    if as_json:
        json_line(figures)
    else:
        _print_figures(figures)


def _valid_events(
    engine: Engine, path: str, limit: int, nulls: str, reading: Reading
) -> tuple[list[dict[str, Any]], int, int]:
    """The valid events, the number of other rows, and the number of all matches. This also loads the kernels."""
    rejects: list[tuple[int, str]] = []
    taken: list[dict[str, Any]] = []
    matches = 0
    with progress("events") as meter:
        names = engine.attributes()
        found = read_valid_events(
            path, rejects, lambda event: (event, len(engine.match(event))), nulls, reading, names=names
        )
        for _, (event, count) in islice(found, limit):
            taken.append(event)
            matches += count
            meter.step()
    return taken, len(rejects), matches


def _single(engine: Engine, events: list[dict[str, Any]], rounds: int) -> Figures:
    """One event per call, in microseconds."""
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
    return {"p50": p50 / 1e3, "p99": p99 / 1e3, "best_mean": best / 1e3, "events_per_second": 1e9 / best}


def _batch(engine: Engine, events: list[dict[str, Any]], rounds: int, matches: int) -> Figures | None:
    """The speed of a batch; None if no table of the events gives the same matches."""
    for form, table, options in _tables(events):
        found = engine.match_batch(table, **options)
        if found.num_rows == matches:
            best = min(_seconds(lambda: engine.match_batch(table, **options)) for _ in range(rounds))  # noqa: B023 - called at once
            microseconds = best / len(events) * 1e6
            return {"microseconds": microseconds, "events_per_second": len(events) / best, "form": form}
    return None


def _tables(events: list[dict[str, Any]]) -> list[tuple[str, pa.Table, dict[str, Any]]]:
    """The events as columns, if Arrow can store them so, and as JSON text."""
    made: list[tuple[str, pa.Table, dict[str, Any]]] = []
    try:
        rows = pa.array(events)
        if rows.type.num_fields:
            made.append(("a column for each attribute", pa.Table.from_struct_array(rows), {}))
    except (pa.ArrowException, OverflowError, TypeError):
        pass  # an attribute with several types has no column
    try:
        texts = [json.dumps(event) for event in events]
        made.append(("JSON text", pa.table({_JSON: texts}), {"json": _JSON}))
    except TypeError:
        pass  # timestamps of a Parquet file have no JSON
    return made


def _seconds(call: Callable[[], object]) -> float:
    """The fastest of as many calls as fit into a round."""
    best, ends = float("inf"), time.perf_counter() + _ROUND
    while True:
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
        if time.perf_counter() >= ends:
            return best


def _print_figures(figures: Figures) -> None:
    loading, single, batch = figures["loading"], figures["single"], figures["batch"]
    say(
        f"subscriptions  {loading['subscriptions']:,} loaded in {loading['seconds']:.2f} s"
        f" ({loading['per_second']:,.0f} per second), {loading['refused']:,} refused"
    )
    say(
        f"events         {figures['events']:,} matched, {figures['skipped']:,} skipped,"
        f" {figures['matches_per_event']:,.2f} matches per event"
    )
    say(
        f"one per call   p50 {single['p50']:,.2f} µs, p99 {single['p99']:,.2f} µs, best mean {single['best_mean']:,.2f} µs:"
        f" {single['events_per_second']:,.0f} events per second"
    )
    if batch is None:
        say("batch          not measured: these events do not fit into a table")
    else:
        say(
            f"batch          {batch['microseconds']:,.2f} µs per event: {batch['events_per_second']:,.0f} events per second"
            f" ({batch['form']})"
        )
    total, count = sum(figures["bytes"].values()), max(loading["subscriptions"], 1)
    say(f"memory         {total:,} bytes, {total / count:,.1f} per subscription")
    for name, size in figures["bytes"].items():
        say(f"  {name:<12} {size:,} bytes, {size / count:,.1f} per subscription")
