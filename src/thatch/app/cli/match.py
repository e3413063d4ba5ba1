"""`thatch match`: who wants each event of a file?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from thatch import EventError
from thatch.app.cli.match_spark import match_on_spark
from thatch.app.cli.output import json_line, note, progress
from thatch.app.cli.sources import load_engine, load_schema
from thatch.errors import TableError
from thatch.formats.events import read_events

__all__ = ["match"]

_ROWS_AT_ONCE = 65_536


def match(  # noqa: PLR0913, PLR0917 - an option each
    subscriptions: Annotated[str, typer.Argument(help="File of subscriptions: .csv, .jsonl or .parquet.")],
    events: Annotated[
        str, typer.Argument(help="File of events: .jsonl, .csv or .parquet; - for JSON lines on stdin.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write pairs to this .parquet file, or lines to this .jsonl file; on Spark, a folder."
        ),
    ] = None,
    by: Annotated[
        Literal["subscription", "subscriber"], typer.Option(help="`subscriber` names each subscriber once.")
    ] = "subscription",
    nulls: Annotated[
        Literal["missing", "null"], typer.Option(help="What empty fields of .csv and .parquet are.")
    ] = "missing",
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    spark: Annotated[bool, typer.Option("--spark", help="Match on Spark; files, folders or globs.")] = False,
    give: Annotated[
        Literal["pairs", "counts", "hours"],
        typer.Option(help="On Spark: pairs, events a subscription, or events a subscriber and hour."),
    ] = "pairs",
    time: Annotated[
        str | None, typer.Option(help="On Spark, for --give hours: the attribute with the time.")
    ] = None,
    plan: Annotated[
        Literal["auto", "mapped", "partitioned"],
        typer.Option(help="On Spark: one index for all workers, or subscriptions split too."),
    ] = "auto",
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn. All cores here by default."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option(help="On Spark: replace a folder that a job has written.")
    ] = False,
) -> None:
    """Tell for every event who wants it.

    One JSON line per event that somebody wants: its row in the file and the ids, in subscription order. Rows that
    are not events, and subscriptions that cannot be accepted, are told on standard error and left out.

    \b
    Examples:
      $ thatch match subscriptions.csv events.jsonl
      $ thatch match subscriptions.csv events.jsonl --by subscriber
      $ thatch match subscriptions.csv events.jsonl --out matches.parquet
      $ cat events.jsonl | thatch match subscriptions.csv -
      $ thatch match subscriptions.csv 'events*.jsonl' --spark --give counts --out counted
      $ thatch match loaded events.jsonl --spark --give hours --time time --out deliveries
    """
    if spark:
        from thatch.pipeline.jobs.match import Asked

        if out is None:
            raise TableError("--out with a folder to write", "none")
        if by != "subscription":
            raise TableError("--give hours for events by subscriber on Spark", f"--by {by}")
        asked = Asked(give=give, time=time, nulls=nulls, plan=plan, schema=load_schema(schema))
        match_on_spark(subscriptions, events, str(out), asked, master=master, overwrite=overwrite)
        return
    if give != "pairs" or time or plan != "auto" or master or overwrite:
        raise TableError("--spark with --give, --time, --plan, --master and --overwrite", "these without it")
    if out is not None and out.suffix not in (".parquet", ".jsonl"):
        raise TableError("--out with a file ending in .parquet or .jsonl", str(out))
    engine = load_engine(subscriptions, load_schema(schema))
    rejects: list[tuple[int, str]] = []
    with progress("events", beside_results=out is None) as meter, _Sink(out, by) as sink:
        for row, event in read_events(events, lambda *each: rejects.append(each), nulls=nulls):
            try:
                found = engine.match(event, by=by)
            except EventError as error:
                rejects.append((row, str(error)))
                continue
            meter.step()
            if found:
                sink.write(row, found)
    for row, reason in rejects[:5]:
        note(f"row {row} of {events} left out: {reason}")
    if len(rejects) > 5:
        note(f"... and {len(rejects) - 5:,} more rows")
    if out is not None:
        note(f"{sink.count:,} matches written to {out}")


class _Sink:
    """Where matches go; counts them. A file appears under its name only when it is whole."""

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
            raise TableError("a place where a file can be written", str(error), str(self._out)) from error
        return self

    def write(self, row: int, names: list[str]) -> None:
        """The matches of one event."""
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
            raise TableError("a place where a file can be written", str(error), str(self._out)) from error
        finally:
            self._part.unlink(missing_ok=True)
