"""`thatch profile`: what do my events look like?"""

from __future__ import annotations

from typing import Annotated

import typer

from thatch.app.cli.options import (
    Master,
    Nulls,
    OutFolder,
    Overwrite,
    SchemaFile,
    SparkChoice,
    reads_files,
)
from thatch.app.cli.output import chooses_spark, local_job, note, say, say_files, spark_job
from thatch.formats.reading import Reading

__all__ = ["profile"]


@reads_files
def profile(  # noqa: PLR0913 - an option each
    events: Annotated[
        str, typer.Argument(help="Files of events: .jsonl, .csv or .parquet; a folder or a glob.")
    ],
    subscriptions: Annotated[
        str | None, typer.Argument(help="Files of subscriptions, to measure how many events they match.")
    ] = None,
    *,
    out: OutFolder,
    fraction: Annotated[float, typer.Option(help="Profile a random sample: this share of the events.")] = 1.0,
    nulls: Nulls = "missing",
    spark: SparkChoice = None,
    master: Master = None,
    overwrite: Overwrite = False,
    schema: SchemaFile,
    reading: Reading,
) -> None:
    """Profile a log of events, and how subscriptions match it: a small log in this process, a large one on Spark.

    The profile has the frequency, types and value distribution of attributes, and which occur together; with
    subscriptions also the selectivity of every predicate, the events each matches, and how many never match. Writes a
    folder of Parquet tables with `report.html` and `manifest.json`. Rows that are not events are counted;
    --strict and --max-rejects say when they are an error. docs/reference/files.md has the rules of files.

    \b
    Examples:
      $ thatch profile events.jsonl --out profile
      $ thatch profile 'events*.jsonl' subscriptions.csv --out profile --overwrite --fraction 0.5 --spark
    """
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.profile import ProfileOptions, profile_files

    options = ProfileOptions(
        subscriptions=subscriptions, nulls=nulls, fraction=fraction, schema=reading.schema, reading=reading
    )
    inputs = [events] if subscriptions is None else [events, subscriptions]
    if chooses_spark(spark, master, inputs):
        with spark_job("profile", "profiling", out, master=master, overwrite=overwrite, schema=schema) as (
            session,
            output,
        ):
            found = profile_files(session, events, output, **options)
    else:
        from thatch.pipeline.embedded.profile import profile_here

        with local_job("profiling", out, overwrite=overwrite, schema=schema) as output:
            found = profile_here(events, output, **options)
    if found.rejected:
        note(f"{found.rejected:,} rows of {events} are not events:")
        for reason, count in found.reasons:
            note(f"  {count:,} x {reason}")
    say(f"{found.events:,} events with {found.attribute_count:,} attributes")
    matches = found.matches
    if matches is not None:
        if matches.rejected:
            note(
                f"{matches.rejected:,} rows of {subscriptions} are not valid subscriptions (`thatch check` lists them)"
            )
        say(
            f"{matches.subscriptions:,} subscriptions with {len(found.predicates):,} distinct predicates: "
            f"{matches.total:,} matches, {matches.never:,} subscriptions never matched"
        )
    say_files(out, {REPORT: "a page with figures"})
