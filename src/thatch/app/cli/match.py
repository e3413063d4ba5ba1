"""`thatch match`: who wants which event?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from thatch.app.cli.options import (
    Encoding,
    EventsFile,
    Master,
    MaxLine,
    MaxRejects,
    MaxUnpacked,
    Missing,
    Nulls,
    Overwrite,
    SchemaFile,
    Strict,
    SubscriptionsFile,
    reading_of,
)
from thatch.app.cli.output import json_line, note, note_rows, progress, say, say_files, spark_job
from thatch.app.cli.sources import load_engine, load_schema, read_valid_events
from thatch.errors import TableError

if TYPE_CHECKING:
    from thatch.pipeline.jobs.match import MatchOptions

__all__ = ["match"]

_ROWS_AT_ONCE = 65_536


def match(  # noqa: PLR0913, PLR0917 - an option each
    subscriptions: SubscriptionsFile,
    events: EventsFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write pairs to this .parquet file or lines to this .jsonl file; with --spark, a folder."
        ),
    ] = None,
    by: Annotated[
        Literal["subscription", "subscriber"], typer.Option(help="`subscriber` lists each subscriber once.")
    ] = "subscription",
    nulls: Nulls = "missing",
    schema: SchemaFile = None,
    spark: Annotated[bool, typer.Option("--spark", help="Match on Spark; files, folders or globs.")] = False,
    give: Annotated[
        Literal["pairs", "counts", "hours"],
        typer.Option(help="With --spark: pairs, counts by subscription, or counts by subscriber and hour."),
    ] = "pairs",
    time: Annotated[
        str | None, typer.Option(help="With --give hours: the attribute that holds the time.")
    ] = None,
    strategy: Annotated[
        Literal["auto", "mapped", "partitioned"],
        typer.Option(help="With --spark: one index for all workers, or subscriptions partitioned too."),
    ] = "auto",
    master: Master = None,
    overwrite: Overwrite = False,
    missing: Missing = None,
    encoding: Encoding = None,
    strict: Strict = False,
    max_rejects: MaxRejects = None,
    max_line: MaxLine = "16M",
    max_unpacked: MaxUnpacked = None,
) -> None:
    """Match events with subscriptions.

    Prints a JSON line for every event that matches: its row in the file, and the ids in the order of the subscriptions.
    Rows that are not events and invalid subscriptions are skipped and reported on standard error; --strict and
    --max-rejects say when they are an error. docs/reference/files.md tells how CSV columns, missing values, encodings and
    limits are handled.

    \b
    Examples:
      $ thatch match subscriptions.csv events.jsonl
      $ thatch match subscriptions.csv events.jsonl --by subscriber
      $ thatch match subscriptions.csv events.jsonl --out matches.parquet
      $ cat events.jsonl | thatch match subscriptions.csv -
      $ thatch match subscriptions.csv 'events*.jsonl' --spark --give counts --out counted
      $ thatch match loaded events.jsonl --spark --give hours --time time --out deliveries
    """
    declared = load_schema(schema)
    reading = reading_of(declared, missing, encoding, max_line, max_unpacked, max_rejects, strict=strict)
    if spark:
        from thatch.pipeline.jobs.match import MatchOptions

        if out is None:
            raise TableError("--spark needs an output folder: add --out FOLDER")
        if by != "subscription":
            raise TableError("--by subscriber does not work with --spark: use --give hours")
        options = MatchOptions(
            give=give, time=time, nulls=nulls, strategy=strategy, schema=declared, reading=reading
        )
        _match_on_spark(subscriptions, events, str(out), options, master=master, overwrite=overwrite)
        return
    if give != "pairs" or time or strategy != "auto" or master or overwrite:
        raise TableError("--give, --time, --strategy, --master and --overwrite need --spark")
    if out is not None and out.suffix not in (".parquet", ".jsonl"):
        raise TableError("a file ending in .parquet or .jsonl", str(out), "--out")
    engine = load_engine(subscriptions, declared, reading)
    rejects: list[tuple[int, str]] = []
    try:
        with progress("events", beside_results=out is None) as meter, _Sink(out, by) as sink:
            matches = read_valid_events(
                events, rejects, lambda event: engine.match(event, by=by), nulls, reading
            )
            for row, found in matches:
                meter.step()
                if found:
                    sink.write(row, found)
    finally:
        note_rows(f"rows of {events} are not events and were skipped", rejects)
    if out is not None:
        note(f"{sink.count:,} matches written to {out}")


class _Sink:
    """Writes and counts matches. An output file appears only when it is complete."""

    def __init__(self, out: Path | None, by: str) -> None:
        self.count = 0
        self._out = out
        self._part = out.with_name(f".{out.name}.part") if out else None
        self._schema = pa.schema([("event", pa.int64()), (by, pa.string())])
        self._events: list[int] = []
        self._names: list[str] = []
        self._writer: Any = None

    def __enter__(self) -> Self:
        try:
            if self._part is not None and self._part.suffixes[-2:-1] == [".parquet"]:
                self._writer = pq.ParquetWriter(self._part, self._schema)
            elif self._part is not None:
                self._writer = self._part.open("w", encoding="utf-8")
        except OSError as error:
            raise TableError("a file that can be written", str(error), str(self._out)) from error
        return self

    def write(self, row: int, names: list[str]) -> None:
        """Write the matches of one event."""
        self.count += len(names)
        if self._writer is None:
            json_line({"event": row, "matches": names})
        elif isinstance(self._writer, pq.ParquetWriter):
            self._events += [row] * len(names)
            self._names += names
            if len(self._events) >= _ROWS_AT_ONCE:
                self._flush()
        else:
            self._writer.write(json.dumps({"event": row, "matches": names}, ensure_ascii=False) + "\n")

    def _flush(self) -> None:
        self._writer.write_table(pa.table([self._events, self._names], schema=self._schema))
        self._events, self._names = [], []

    def __exit__(self, kind: object, *_: object) -> None:
        if self._writer is None or self._part is None or self._out is None:
            return
        try:
            if isinstance(self._writer, pq.ParquetWriter) and kind is None:
                self._flush()
            self._writer.close()
            if kind is None:
                self._part.replace(self._out)
        except OSError as error:
            raise TableError("a file that can be written", str(error), str(self._out)) from error
        finally:
            self._part.unlink(missing_ok=True)


def _match_on_spark(
    subscriptions: str, events: str, out: str, options: MatchOptions, *, master: str | None, overwrite: bool
) -> None:
    """Run the job and print what it found."""
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.match import MATCHES, match_files

    with spark_job("match", "matching", out, master=master, overwrite=overwrite) as (spark, output):
        facts = match_files(spark, subscriptions, events, options, output)
    note_rows(f"subscriptions of {subscriptions} were refused", facts.first_rejected, facts.rejected)
    note_rows(f"rows of {events} are not events and were skipped", facts.first_refused, facts.refused)
    say(f"{facts.matches:,} matches of {facts.events:,} events; {facts.matched:,} {facts.who}s have matches")
    say_files(out, {MATCHES: f"{options.give}, as Parquet", REPORT: "a page with figures"})
