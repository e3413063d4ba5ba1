"""`thatch match`: who wants which event?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch.app.cli.alerts import AlertReading, WindowOptions, check_window, find_alerts
from thatch.app.cli.matches import check_matches, matches_to
from thatch.app.cli.options import (
    EventsFile,
    Master,
    Now,
    Nulls,
    Overwrite,
    SchemaFile,
    SubscriptionsFile,
    moment_of,
    reads_files,
)
from thatch.app.cli.output import (
    FirstRows,
    flush,
    note,
    note_rows,
    progress,
    say,
    say_files,
    spark_job,
)
from thatch.app.cli.sources import load_engine, read_valid_events
from thatch.errors import TableError
from thatch.formats.live import Live
from thatch.formats.reading import Reading

if TYPE_CHECKING:
    from thatch.pipeline.jobs.match_report import MatchFacts

__all__ = ["match"]


@reads_files
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
    now: Now = None,
    spark: Annotated[bool, typer.Option("--spark", help="Match on Spark; files, folders or globs.")] = False,
    give: Annotated[
        Literal["pairs", "counts", "hours"],
        typer.Option(help="With --spark: pairs, counts by subscription, or counts by subscriber and hour."),
    ] = "pairs",
    time: Annotated[
        str | None,
        typer.Option(
            help="With --give hours or --window: the attribute that holds the time; for --window, by default `time`."
        ),
    ] = None,
    strategy: Annotated[
        Literal["auto", "mapped", "partitioned"],
        typer.Option(help="With --spark: one index for all workers, or subscriptions partitioned too."),
    ] = "auto",
    master: Master = None,
    overwrite: Overwrite = False,
    with_event: Annotated[
        bool, typer.Option("--with-event", help="Put the event itself beside its matches, as `content`.")
    ] = False,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Go on as the file of JSON lines grows or is rotated, until Ctrl-C."),
    ] = False,
    window: Annotated[
        str | None,
        typer.Option(
            help="Print alerts instead of matches: `count 5 in 60s by user`, `distinct ip 10 in 5m by user`, "
            "`sequence failed, ok in 60s by user` (docs/how-to/windows.md)."
        ),
    ] = None,
    lateness: Annotated[
        str | None,
        typer.Option(
            help="With --window: how much later than others an event may come, such as 30s; by default 0."
        ),
    ] = None,
    *,
    schema: SchemaFile,
    reading: Reading,
) -> None:
    """Match events with subscriptions.

    Prints a JSON line for every event that matches: its row in the file, and the ids in the order of the subscriptions;
    at once if events come one by one, as from `tail -f`. Rows that are not events and invalid subscriptions are skipped
    and reported on standard error; --strict and --max-rejects say when they are an error. docs/reference/files.md tells
    how CSV columns, missing values, encodings and limits are handled. Subscriptions whose `expires` has passed match nothing.

    \b
    Examples:
      $ thatch match subscriptions.csv events.jsonl
      $ thatch match subscriptions.csv events.jsonl --by subscriber
      $ thatch match subscriptions.csv events.jsonl --out matches.parquet
      $ cat events.jsonl | thatch match subscriptions.csv - --with-event
      $ thatch match subscriptions.csv events.jsonl --window "count 5 in 60s by user" --lateness 10s
      $ thatch match subscriptions.csv 'events*.jsonl' --spark --give counts --out counted
      $ thatch match loaded events.jsonl --spark --give hours --time time --out deliveries
    """
    when = moment_of(now)
    watching = check_window(WindowOptions(window, time, lateness), by=by, spark=spark, with_event=with_event)
    if spark:
        from thatch.pipeline.jobs.match import MatchOptions, match_files

        if out is None:
            raise TableError("--spark needs an output folder: add --out FOLDER")
        if with_event or follow:
            raise TableError("--with-event and --follow do not work with --spark")
        if by != "subscription":
            raise TableError("--by subscriber does not work with --spark: use --give hours")
        options = MatchOptions(
            give=give,
            time=time,
            now=when,
            nulls=nulls,
            strategy=strategy,
            schema=reading.schema,
            reading=reading,
        )
        with spark_job("match", "matching", str(out), master=master, overwrite=overwrite, schema=schema) as (
            session,
            output,
        ):
            facts = match_files(session, subscriptions, events, options, output)
        _print_facts(facts, subscriptions, events, str(out), give)
        return
    if give != "pairs" or (time and watching is None) or strategy != "auto" or master:
        raise TableError("--give, --time, --strategy and --master need --spark")
    if follow and out is not None:
        raise TableError("--follow prints its results: a file would never be complete, so leave out --out")
    check_matches(out, [subscriptions, events, schema], overwrite=overwrite)
    engine = load_engine(subscriptions, reading)
    if watching is not None:
        find_alerts(
            watching,
            engine,
            events,
            out,
            AlertReading(nulls, reading, Live(flush, follow=follow), when),
            overwrite=overwrite,
        )
        return
    rejects = FirstRows()
    try:
        with (
            progress("events", beside_results=out is None) as meter,
            matches_to(out, by, with_event=with_event, overwrite=overwrite) as sink,
        ):
            match_one, live = partial(engine.match, by=by, now=when), Live(flush, follow=follow)
            names = None if with_event else engine.attributes()
            for row, (event, found) in read_valid_events(
                events, rejects, lambda event: (event, match_one(event)), nulls, reading, live, names
            ):
                meter.step()
                if found:
                    sink.write(row, found, event)
    finally:
        note_rows(f"rows of {events} are not events and were skipped", rejects, rejects.total)
    if out is not None:
        note(f"{sink.count:,} matches written to {out}")


def _print_facts(facts: MatchFacts, subscriptions: str, events: str, out: str, give: str) -> None:
    """Print what the job on Spark found."""
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.match import MATCHES

    note_rows(f"subscriptions of {subscriptions} were refused", facts.first_rejected, facts.rejected)
    note_rows(f"rows of {events} are not events and were skipped", facts.first_refused, facts.refused)
    say(f"{facts.matches:,} matches of {facts.events:,} events; {facts.matched:,} {facts.who}s have matches")
    say_files(out, {MATCHES: f"{give}, as Parquet", REPORT: "a page with figures"})
