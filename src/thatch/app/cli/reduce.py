"""`thatch reduce`: which subscriptions are redundant?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch.app.cli.options import Master, Nulls, OutFolder, Overwrite, SchemaFile, SparkChoice, reads_files
from thatch.app.cli.output import chooses_spark, local_job, note, note_rows, say, say_files, spark_job
from thatch.errors import ParameterError
from thatch.formats.reading import Reading

if TYPE_CHECKING:
    from thatch.pipeline.jobs.merge_report import MergeFacts
    from thatch.pipeline.jobs.reduce_report import ReduceFacts

__all__ = ["reduce"]


@reads_files
def reduce(  # noqa: PLR0913, PLR0917 - an option each
    subscriptions: Annotated[
        str,
        typer.Argument(
            help="Files of subscriptions: .csv, .jsonl or .parquet; a folder or a glob; or a folder of `thatch load`."
        ),
    ],
    out: OutFolder,
    policy: Annotated[
        Literal["exact", "pairwise"],
        typer.Option(
            help="exact: several subscriptions together may cover one; pairwise: only a single one."
        ),
    ] = "exact",
    budget: Annotated[
        float | None,
        typer.Option(
            help="Most cells to search for one box; undecided subscriptions are kept. With --merge: the largest share of "
            "events that may be forwarded needlessly; 0 by default."
        ),
    ] = None,
    order: Annotated[
        Literal["arrival", "volume"],
        typer.Option(help="Process rows as they arrived, or the largest first, which leaves fewer."),
    ] = "arrival",
    merge: Annotated[
        bool,
        typer.Option("--merge", help="Merge several filters into a larger one where the budget allows it."),
    ] = False,
    events: Annotated[
        str | None, typer.Option(help="With --merge: files of logged events, to measure false positives.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="With --merge: a folder of `thatch profile`, to estimate false positives."),
    ] = None,
    nulls: Nulls = "missing",
    spark: SparkChoice = None,
    master: Master = None,
    overwrite: Overwrite = False,
    *,
    schema: SchemaFile,
    reading: Reading,
) -> None:
    """Report redundant subscriptions: the others match every event that any subscription matches.

    Writes a folder with `active` (the others, Parquet), `passive` (the redundant ones, with the active ones that cover
    each), `rejects` (invalid rows), `report.html` and `manifest.json`. With --merge, on Spark, `active` has mergers too, `merged`
    the subscriptions they replace, and `frontier.parquet` the false positives for each table size.

    \b
    Examples:
      $ thatch reduce subscriptions.csv --out reduced
      $ thatch reduce loaded --out reduced --order volume --budget 20000
      $ thatch reduce subscriptions.csv --out merged --merge --budget 0.02 --events 'log*.jsonl'
    """
    from thatch.pipeline.jobs.merge import MergeOptions, merge_files
    from thatch.pipeline.jobs.reduce import ReduceOptions, reduce_files

    if not merge and (events is not None or profile is not None):
        raise ParameterError("--events and --profile need --merge")
    merging = MergeOptions(
        budget=(budget or 0.0) if merge else 0.0, events=events, profile=profile, nulls=nulls
    )
    cells = None if merge or budget is None else _whole(budget)
    reducing = ReduceOptions(policy=policy, budget=cells, order=order, schema=reading.schema, reading=reading)
    if merge:
        if spark is False:
            raise ParameterError("--merge runs on Spark: leave out --no-spark")
        note("Running on Spark, which --merge needs.")
        with spark_job("reduce", "reducing", out, master=master, overwrite=overwrite, schema=schema) as (
            session,
            output,
        ):
            merged = merge_files(session, subscriptions, reducing, merging, output)
        _print_merged(merged, merging.budget, subscriptions, out.rstrip("/"))
        return
    if chooses_spark(spark, master, [subscriptions]):
        with spark_job("reduce", "reducing", out, master=master, overwrite=overwrite, schema=schema) as (
            session,
            output,
        ):
            reduced = reduce_files(session, subscriptions, reducing, output)
    else:
        from thatch.pipeline.embedded.reduce import reduce_here

        with local_job("reducing", out, overwrite=overwrite, schema=schema) as output:
            reduced = reduce_here(subscriptions, reducing, output)
    _print_reduced(reduced, subscriptions, out.rstrip("/"))


def _whole(budget: float) -> float:
    return int(budget) if budget.is_integer() else budget


def _print_reduced(facts: ReduceFacts, subscriptions: str, out: str) -> None:
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.reduce import ACTIVE, PASSIVE

    _print_covered(facts, subscriptions, out)
    say_files(
        out,
        {
            ACTIVE: "the subscriptions that are not redundant",
            PASSIVE: "the redundant ones, with those that cover each",
            REPORT: "a page with figures",
        },
    )


def _print_merged(facts: MergeFacts, budget: float, subscriptions: str, out: str) -> None:
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.merge import FRONTIER, MERGED
    from thatch.pipeline.jobs.merge_report import merge_remarks
    from thatch.pipeline.jobs.reduce import ACTIVE, PASSIVE

    if facts.refused:
        note(f"{facts.refused:,} rows of the log are not events")
    for remark in merge_remarks(facts, budget):
        note(remark)
    _print_covered(facts.covering, subscriptions, out)
    say(
        f"{facts.frontier.size:,} rows to forward: {facts.mergers:,} mergers of {facts.parts:,} subscriptions "
        f"({facts.perfect:,} of them perfect), {facts.frontier.size - facts.mergers:,} unchanged"
    )
    if facts.frontier.held.events:
        say(
            f"false positives: {facts.frontier.measured:.4%} of {facts.frontier.held.events:,} held-out events, "
            f"at most {facts.frontier.upper_bound:.4%} with 95 % confidence, budget {budget:.4%}"
        )
    elif budget:
        say(f"false positives: {facts.frontier.cost:.4%} of events estimated, budget {budget:.4%}")
    say_files(
        out,
        {
            ACTIVE: "the subscriptions and mergers to forward",
            MERGED: "the subscriptions that mergers replace",
            PASSIVE: "the redundant ones, with those that cover each",
            FRONTIER: "the false positives for each table size",
            REPORT: "a page with figures",
        },
    )


def _print_covered(facts: ReduceFacts, subscriptions: str, out: str) -> None:
    from thatch.pipeline.jobs.job import REJECTS

    refused = f"rows of {subscriptions} were refused (all of them are in {out}/{REJECTS})"
    note_rows(refused, facts.first_refused, facts.refused)
    if facts.exhausted:
        note(f"{facts.exhausted:,} subscriptions were kept: undecided within the budget")
    if facts.large:
        note(f"{facts.large:,} subscriptions were kept: they have too many boxes to decide")
    redundant = f"{facts.single:,} covered by one other, {facts.several:,} by several"
    say(f"{facts.subscriptions:,} subscriptions: {facts.active:,} needed, the others redundant ({redundant})")
