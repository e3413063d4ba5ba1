"""`thatch load`: subscriptions of any number, parsed and checked on Spark."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from thatch.app.cli.output import note, say, tasks
from thatch.app.cli.sources import load_schema

__all__ = ["load"]

_SHOWN = 5


def load(
    subscriptions: Annotated[
        str, typer.Argument(help="Files of subscriptions: .csv, .jsonl or .parquet; a folder or a glob.")
    ],
    out: Annotated[str, typer.Option(help="Folder to write; it appears when all of it is whole.")],
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn. All cores here by default."),
    ] = None,
    index: Annotated[
        bool, typer.Option(help="Whether to build index.thatch, which thatch.Engine.open opens.")
    ] = True,
    overwrite: Annotated[bool, typer.Option(help="Replace a folder that `thatch load` has written.")] = False,
) -> None:
    """Parse and check subscriptions in parallel, on Spark.

    Writes a folder with `subscriptions` (the good ones, Parquet), `rejects` (the others, with row and reason),
    `index.thatch` (an engine of all good ones), `report.html` and `manifest.json`. Bad rows are no error.

    \b
    Examples:
      $ thatch load subscriptions.csv --out loaded
      $ thatch load 'subs*.csv' --out loaded --overwrite --master 'local[2]' --no-index
    """
    declared = load_schema(schema)
    from thatch.pipeline import session
    from thatch.pipeline.jobs.load import INDEX, REJECTS, SUBSCRIPTIONS, load_files
    from thatch.pipeline.sinks import REPORT

    spark = session("thatch load", master=master)
    command = shlex.join(["thatch", *sys.argv[1:]])
    with tasks("loading") as report:
        facts = load_files(
            spark,
            subscriptions,
            out,
            schema=declared,
            with_index=index,
            overwrite=overwrite,
            command=command,
            report=report,
        )
    if facts.refused:
        note(f"{facts.refused:,} rows of {subscriptions} were refused:")
        for each in facts.reasons[:_SHOWN]:
            note(f"  {each.rows:,} x {each.expected}; the first is row {each.first}")
        if len(facts.reasons) > _SHOWN:
            note("  ... and for other reasons")
    say(f"{facts.accepted:,} subscriptions accepted, {facts.refused:,} refused")
    parts = {
        SUBSCRIPTIONS: "the accepted ones",
        REJECTS: "the others, with the reason",
        **({INDEX: "an index of the accepted ones"} if index else {}),
        REPORT: "what they are like",
    }
    for name, what in parts.items():
        say(f"  {out.rstrip('/')}/{name}: {what}")
