"""The last part of `thatch demo`: profile and match a log of quotes on Spark."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from thatch.app.cli.output import note, progress, say, tasks

__all__ = ["log_on_spark"]

_FIRST = datetime(2026, 1, 5, 8, tzinfo=UTC)
_DAYS = 3


def log_on_spark(
    alerts: Iterator[str], quotes: Iterator[dict[str, Any]], folder: Path, *, events: int, subscriptions: int
) -> None:
    """Write alerts and a log of quotes to a folder, then profile and match them on Spark.

    Parameters
    ----------
    folder : gets all files; results of an earlier demo are replaced
    events, subscriptions : the number of quotes and of alerts
    """
    from thatch.pipeline import session
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.job import JobOutput
    from thatch.pipeline.jobs.match import MatchOptions, match_files
    from thatch.pipeline.jobs.profile import profile_files

    folder.mkdir(parents=True, exist_ok=True)
    log, table = folder / "quotes.jsonl", folder / "alerts.csv"
    note(f"\nWriting {events:,} quotes of {_DAYS} days to {log}, and {subscriptions:,} alerts to {table}.")
    _write_alerts(table, islice(alerts, subscriptions))
    _write_quotes(log, islice(quotes, events), events)
    note("Starting Spark (about ten seconds).")
    spark = session("thatch demo")
    with tasks("profiling") as report:
        command = f"thatch profile {log} {table} --out {folder / 'profile'}"
        output = JobOutput(str(folder / "profile"), overwrite=True, command=command, progress=report)
        profile = profile_files(spark, str(log), output, subscriptions=str(table))
    with tasks("matching") as report:
        command = f"thatch match {table} {log} --spark --give hours --time at --out {folder / 'matches'}"
        output = JobOutput(str(folder / "matches"), overwrite=True, command=command, progress=report)
        facts = match_files(spark, str(table), str(log), MatchOptions(give="hours", time="at"), output)
    matches = profile.matches
    assert matches is not None
    say(
        f"\n{facts.events:,} logged quotes against {matches.subscriptions:,} alerts on Spark: {matches.total:,} matches, "
        f"{matches.never:,} alerts never matched; {facts.matched:,} desks got {facts.matches:,} deliveries"
    )
    say("Open these in a browser:")
    say(f"  {(folder / 'profile' / REPORT).resolve().as_uri()}  (the quotes, and how alerts match them)")
    say(f"  {(folder / 'matches' / REPORT).resolve().as_uri()}  (deliveries by desk and hour)")


def _write_alerts(path: Path, alerts: Iterator[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("subscription", "subscriber", "filter"))
        for number, text in enumerate(alerts):
            writer.writerow((f"alert-{number}", f"desk-{number % 100}", text))


def _write_quotes(path: Path, quotes: Iterator[dict[str, Any]], count: int) -> None:
    step = timedelta(days=_DAYS) / max(count, 1)
    with progress("quotes", count) as meter, path.open("w", encoding="utf-8") as file:
        for number, quote in enumerate(quotes):
            at = (_FIRST + number * step).strftime("%Y-%m-%dT%H:%M:%SZ")
            file.write(json.dumps({**quote, "at": at}) + "\n")
            meter.step()
