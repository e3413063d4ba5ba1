"""`thatch profile`: what does my traffic look like?"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from thatch.app.cli.output import note, say, tasks
from thatch.app.cli.sources import load_schema

__all__ = ["profile"]


def profile(
    events: Annotated[
        str, typer.Argument(help="Files of events: .jsonl, .csv or .parquet; a folder or a glob.")
    ],
    subscriptions: Annotated[
        str | None, typer.Argument(help="Files of subscriptions, to measure what they ask for.")
    ] = None,
    *,
    out: Annotated[str, typer.Option(help="Folder to write; it appears when all of it is whole.")],
    fraction: Annotated[float, typer.Option(help="Look at this share of the events, drawn at random.")] = 1.0,
    nulls: Annotated[
        Literal["missing", "null"], typer.Option(help="What empty fields of .csv and .parquet are.")
    ] = "missing",
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn. All cores here by default."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a folder that a job has written.")] = False,
) -> None:
    """Tell what a log of events looks like, and what subscriptions ask of it, on Spark.

    How often attributes come, of which types, how their values are distributed, which come together; and with
    subscriptions the selectivity of every predicate, how many events each wants, and how many never match. Writes a
    folder of Parquet tables with `report.html` and `manifest.json`. Rows that are no events are counted, and no error.

    \b
    Examples:
      $ thatch profile events.jsonl --out profile
      $ thatch profile 'events*.jsonl' subscriptions.csv --out profile --overwrite --master 'local[2]'
      $ thatch profile events.jsonl subscriptions.csv --out profile --overwrite --fraction 0.5
    """
    declared = load_schema(schema)
    from thatch.pipeline import session
    from thatch.pipeline.jobs.profile import profile_files
    from thatch.pipeline.sinks import REPORT

    spark = session("thatch profile", master=master)
    with tasks("profiling") as report:
        found = profile_files(
            spark,
            events,
            out,
            subscriptions=subscriptions,
            nulls=nulls,
            fraction=fraction,
            schema=declared,
            overwrite=overwrite,
            command=shlex.join(["thatch", *sys.argv[1:]]),
            report=report,
        )
    if found.rejected:
        note(f"{found.rejected:,} rows of {events} are no events:")
        for reason, count in found.reasons:
            note(f"  {count:,} x {reason}")
    say(f"{found.events:,} events with {found.attribute_count:,} attributes")
    matches = found.matches
    if matches is not None:
        if matches.rejected:
            note(
                f"{matches.rejected:,} rows of {subscriptions} are no subscriptions (`thatch check` tells which)"
            )
        say(
            f"{matches.subscriptions:,} subscriptions with {len(found.predicates):,} distinct predicates: "
            f"{matches.total:,} matches, {matches.never:,} subscriptions never matched"
        )
    say(f"  {out.rstrip('/')}: the profile")
    say(f"  {out.rstrip('/')}/{REPORT}: the same to look at")
