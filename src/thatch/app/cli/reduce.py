"""`thatch reduce`: which subscriptions are enough, on Spark."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch.app.cli.output import note, say, tasks
from thatch.app.cli.sources import load_schema

if TYPE_CHECKING:
    from thatch.pipeline.jobs.reduce_report import Facts

__all__ = ["reduce"]


def reduce(
    subscriptions: Annotated[
        str,
        typer.Argument(
            help="Files of subscriptions: .csv, .jsonl or .parquet; a folder or a glob; or what `thatch load` wrote."
        ),
    ],
    out: Annotated[str, typer.Option(help="Folder to write; it appears when all of it is whole.")],
    policy: Annotated[
        Literal["exact", "pairwise"],
        typer.Option(help="Whether several subscriptions together may cover one, or only a single one."),
    ] = "exact",
    budget: Annotated[
        int | None,
        typer.Option(help="Most cells to look at for one box; what is not decided by then is kept."),
    ] = None,
    order: Annotated[
        Literal["arrival", "volume"],
        typer.Option(help="Who comes first: the first row, or the largest, which leaves fewer of them."),
    ] = "arrival",
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn. All cores here by default."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a folder that a command has written.")] = False,
) -> None:
    """Find subscriptions that others cover: those that are left match every event that any of all matches.

    Writes a folder with `active` (those that are enough, Parquet), `passive` (the others, with the active ones that
    cover each), `rejects` (rows that are no subscriptions), `report.html` and `manifest.json`.

    \b
    Examples:
      $ thatch reduce subscriptions.csv --out reduced
      $ thatch reduce loaded --out reduced --order volume --budget 20000
    """
    declared = load_schema(schema)
    from thatch.pipeline import session
    from thatch.pipeline.jobs.reduce import Wanted, reduce_files

    wanted = Wanted(policy=policy, budget=budget, order=order, schema=declared)
    spark = session("thatch reduce", master=master)
    command = shlex.join(["thatch", *sys.argv[1:]])
    with tasks("reducing") as report:
        facts = reduce_files(
            spark, subscriptions, out, wanted, overwrite=overwrite, command=command, report=report
        )
    _tell(facts, subscriptions, out.rstrip("/"))


def _tell(facts: Facts, subscriptions: str, out: str) -> None:
    from thatch.pipeline.jobs.load import REJECTS
    from thatch.pipeline.jobs.reduce import ACTIVE, PASSIVE
    from thatch.pipeline.sinks import REPORT

    if facts.refused:
        note(f"{facts.refused:,} rows of {subscriptions} were refused (all of them in {out}/{REJECTS}):")
        for row, reason in facts.first_refused:
            note(f"  row {row}: {reason}")
    if facts.exhausted:
        note(f"{facts.exhausted:,} were not decided within the budget, and kept")
    if facts.large:
        note(f"{facts.large:,} have too many boxes to be decided, and were kept")
    say(
        f"{facts.subscriptions:,} subscriptions: {facts.active:,} are enough "
        f"({facts.single:,} covered by one other, {facts.several:,} by several)"
    )
    parts = {
        ACTIVE: "those that are enough",
        PASSIVE: "the others, with those that cover each",
        REPORT: "what covers what",
    }
    for name, what in parts.items():
        say(f"  {out}/{name}: {what}")
