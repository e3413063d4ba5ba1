"""`thatch reduce`: which subscriptions are enough, on Spark."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch.app.cli.output import note, say, tasks
from thatch.app.cli.sources import load_schema
from thatch.errors import ParameterError

if TYPE_CHECKING:
    from thatch.pipeline.jobs.merge_report import Facts as MergeFacts
    from thatch.pipeline.jobs.reduce_report import Facts

__all__ = ["reduce"]


def reduce(  # noqa: PLR0913, PLR0917 - an option each
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
        float | None,
        typer.Option(
            help="Most cells to look at for one box; what is not decided by then is kept. With --merge: most events "
            "to let through in vain, as a share of all; by default none."
        ),
    ] = None,
    order: Annotated[
        Literal["arrival", "volume"],
        typer.Option(help="Who comes first: the first row, or the largest, which leaves fewer of them."),
    ] = "arrival",
    merge: Annotated[
        bool, typer.Option("--merge", help="Forward one filter around several, where the budget allows it.")
    ] = False,
    events: Annotated[
        str | None,
        typer.Option(help="With --merge: files of logged events, which tell what merging costs."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="With --merge: a folder that `thatch profile` wrote, where no log tells more."),
    ] = None,
    nulls: Annotated[
        Literal["missing", "null"],
        typer.Option(help="With --events: what empty fields of .csv and .parquet are."),
    ] = "missing",
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn. All cores here by default."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a folder that a command has written.")] = False,
) -> None:
    """Find subscriptions that others cover: those that are left match every event that any of all matches.

    Writes a folder with `active` (those that are enough, Parquet), `passive` (the others, with the active ones that
    cover each), `rejects` (rows that are no subscriptions), `report.html` and `manifest.json`. With --merge, `active`
    has mergers too, `merged` what they are made of, and `frontier.parquet` which sizes cost how many false positives.

    \b
    Examples:
      $ thatch reduce subscriptions.csv --out reduced
      $ thatch reduce loaded --out reduced --order volume --budget 20000
      $ thatch reduce subscriptions.csv --out merged --merge --budget 0.02 --events 'log*.jsonl'
    """
    declared = load_schema(schema)
    from thatch.pipeline import session
    from thatch.pipeline.jobs.merge import Merging, merge_files
    from thatch.pipeline.jobs.reduce import Wanted, reduce_files

    if not merge and (events is not None or profile is not None):
        raise ParameterError("--merge with --events or --profile", "one of these alone", "thatch reduce")
    merging = Merging(budget=budget or 0.0, events=events, profile=profile, nulls=nulls) if merge else None
    cells = None if merge or budget is None else _whole(budget)
    wanted = Wanted(policy=policy, budget=cells, order=order, schema=declared)
    spark = session("thatch reduce", master=master)
    command = shlex.join(["thatch", *sys.argv[1:]])
    with tasks("reducing") as report:
        if merging is None:
            facts = reduce_files(
                spark, subscriptions, out, wanted, overwrite=overwrite, command=command, report=report
            )
        else:
            found = merge_files(
                spark,
                subscriptions,
                out,
                wanted,
                merging,
                overwrite=overwrite,
                command=command,
                report=report,
            )
    if merging is None:
        _tell(facts, subscriptions, out.rstrip("/"))
    else:
        _tell_merged(found, merging.budget, subscriptions, out.rstrip("/"))


def _whole(budget: float) -> float:
    return int(budget) if budget.is_integer() else budget


def _tell(facts: Facts, subscriptions: str, out: str) -> None:
    from thatch.pipeline.jobs.reduce import ACTIVE, PASSIVE
    from thatch.pipeline.sinks import REPORT

    _tell_covered(facts, subscriptions, out)
    _tell_parts(
        out,
        {
            ACTIVE: "those that are enough",
            PASSIVE: "the others, with those that cover each",
            REPORT: "what covers what",
        },
    )


def _tell_merged(facts: MergeFacts, budget: float, subscriptions: str, out: str) -> None:
    from thatch.pipeline.jobs.merge import FRONTIER, MERGED
    from thatch.pipeline.jobs.merge_report import remarks_on
    from thatch.pipeline.jobs.reduce import ACTIVE, PASSIVE
    from thatch.pipeline.sinks import REPORT

    if facts.refused:
        note(f"{facts.refused:,} rows of the log are no events")
    for remark in remarks_on(facts, budget):
        note(remark)
    _tell_covered(facts.covering, subscriptions, out)
    say(
        f"{facts.size:,} rows are forwarded: {facts.mergers:,} mergers of {facts.parts:,} subscriptions "
        f"({facts.perfect:,} of them perfect), {facts.size - facts.mergers:,} as they were given"
    )
    if facts.held:
        say(
            f"false positives: {facts.measured:.4%} of {facts.held:,} held-out events, "
            f"at most {facts.bound:.4%} with 95 % confidence, budget {budget:.4%}"
        )
    elif budget:
        say(f"false positives: {facts.estimated:.4%} of events estimated, budget {budget:.4%}")
    _tell_parts(
        out,
        {
            ACTIVE: "what is forwarded",
            MERGED: "what mergers are made of",
            PASSIVE: "the others, with those that cover each",
            FRONTIER: "which table sizes cost how many false positives",
            REPORT: "the same to look at and choose from",
        },
    )


def _tell_covered(facts: Facts, subscriptions: str, out: str) -> None:
    from thatch.pipeline.jobs.load import REJECTS

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


def _tell_parts(out: str, parts: dict[str, str]) -> None:
    for name, what in parts.items():
        say(f"  {out}/{name}: {what}")
