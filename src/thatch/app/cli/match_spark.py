"""`thatch match --spark`: the same question of logs of any size."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from thatch.app.cli.output import note, say, tasks

if TYPE_CHECKING:
    from thatch.pipeline.jobs.match import Asked

__all__ = ["match_on_spark"]


def match_on_spark(
    subscriptions: str,
    events: str,
    out: str,
    asked: Asked,
    *,
    master: str | None,
    overwrite: bool,
) -> None:
    """Run the job and tell what it found."""
    from thatch.pipeline import session
    from thatch.pipeline.jobs.match import MATCHES, match_files
    from thatch.pipeline.sinks import REPORT

    spark = session("thatch match", master=master)
    command = shlex.join(["thatch", *sys.argv[1:]])
    with tasks("matching") as report:
        facts = match_files(
            spark,
            subscriptions,
            events,
            out,
            asked,
            overwrite=overwrite,
            command=command,
            report=report,
        )
    for rows, count, what in (
        (facts.first_rejected, facts.rejected, f"subscriptions of {subscriptions} were refused"),
        (facts.first_refused, facts.refused, f"rows of {events} are no events and were left out"),
    ):
        if count:
            note(f"{count:,} {what}:")
            for row, reason in rows:
                note(f"  row {row}: {reason}")
    say(f"{facts.matches:,} matches of {facts.events:,} events; {facts.matched:,} {facts.who}s got some")
    say(f"  {out.rstrip('/')}/{MATCHES}: {asked.give}, as Parquet")
    say(f"  {out.rstrip('/')}/{REPORT}: what it looks like")
