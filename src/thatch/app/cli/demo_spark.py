"""The last part of `thatch demo`: profile and match a log of quotes on Spark."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from thatch.app.cli.ending import end_java_first
from thatch.app.cli.output import note, progress, say, tasks, this_moment
from thatch.outputs import check_file, check_folder, new_file

__all__ = ["check_demo", "log_on_spark"]

_FIRST = datetime(2026, 1, 5, 8, tzinfo=UTC)
_DAYS = 3
_FILES = ("quotes.jsonl", "alerts.csv")
_FOLDERS = ("profile", "matches")


def check_demo(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder in which the demo would replace something."""
    for name in _FILES:
        check_file(folder / name, overwrite=overwrite)
    for name in _FOLDERS:
        check_folder(folder / name, overwrite=overwrite)


def log_on_spark(
    alerts: Iterator[str],
    quotes: Iterator[dict[str, Any]],
    folder: Path,
    *,
    events: int,
    subscriptions: int,
    overwrite: bool = False,
) -> None:
    """Write alerts and a log of quotes to a folder, then profile and match them on Spark.

    Parameters
    ----------
    folder : gets all files
    events, subscriptions : the number of quotes and of alerts
    overwrite : whether to replace what an earlier demo wrote
    """
    from thatch.pipeline import session
    from thatch.pipeline.folders import REPORT
    from thatch.pipeline.jobs.job import JobOutput
    from thatch.pipeline.jobs.match import MatchOptions, match_files
    from thatch.pipeline.jobs.profile import profile_files

    log, table = (folder / name for name in _FILES)
    note(f"\nWriting {events:,} quotes of {_DAYS} days to {log}, and {subscriptions:,} alerts to {table}.")
    _write_alerts(table, islice(alerts, subscriptions), overwrite=overwrite)
    _write_quotes(log, islice(quotes, events), events, overwrite=overwrite)
    with end_java_first(str(folder)), progress("starting Spark"):
        spark = session("thatch demo")
    with tasks("profiling", grows=True) as report:
        command = f"thatch profile {log} {table} --out {folder / 'profile'}"
        output = JobOutput(
            str(folder / "profile"), overwrite=overwrite, command=command, made=this_moment(), progress=report
        )
        profile = profile_files(spark, str(log), output, subscriptions=str(table))
    with tasks("matching", grows=True) as report:
        command = f"thatch match {table} {log} --spark --give hours --time at --out {folder / 'matches'}"
        output = JobOutput(
            str(folder / "matches"), overwrite=overwrite, command=command, made=this_moment(), progress=report
        )
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


def _write_alerts(path: Path, alerts: Iterator[str], *, overwrite: bool) -> None:
    with new_file(path, overwrite=overwrite) as stream, _as_text(stream) as file:
        writer = csv.writer(file)
        writer.writerow(("subscription", "subscriber", "filter"))
        for number, text in enumerate(alerts):
            writer.writerow((f"alert-{number}", f"desk-{number % 100}", text))


@contextmanager
def _as_text(stream: BinaryIO) -> Iterator[TextIO]:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    yield text
    text.detach()


def _write_quotes(path: Path, quotes: Iterator[dict[str, Any]], count: int, *, overwrite: bool) -> None:
    step = timedelta(days=_DAYS) / max(count, 1)
    with progress("quotes", count) as meter, new_file(path, overwrite=overwrite) as file:
        for number, quote in enumerate(quotes):
            at = (_FIRST + number * step).strftime("%Y-%m-%dT%H:%M:%SZ")
            file.write((json.dumps({**quote, "at": at}) + "\n").encode())
            meter.step()
