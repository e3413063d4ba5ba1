"""`thatch plan`: in which order are predicates evaluated, and what does that cost?"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch import EventError
from thatch.app.cli.output import note, progress, say
from thatch.app.cli.sources import load_engine, load_schema
from thatch.errors import TableError
from thatch.formats.events import read_events
from thatch.formats.profile import read_profile
from thatch.model.events import Record, read_event

if TYPE_CHECKING:
    from thatch.planning import FilterSet, Plan

__all__ = ["plan"]

plan = typer.Typer(
    name="plan",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Tell in which order predicates are evaluated.",
)


@plan.callback()
def _group() -> None:
    """A group even with one command."""


@plan.command("explain")
def explain(
    subscriptions: Annotated[str, typer.Argument(help="File of subscriptions: .csv, .jsonl or .parquet.")],
    profile: Annotated[
        Path | None,
        typer.Option(
            help="Folder of `thatch profile`, for selectivities. Without it, values are spread evenly."
        ),
    ] = None,
    events: Annotated[
        str | None, typer.Option(help="File of events, to count what the plan evaluates on them.")
    ] = None,
    answer: Annotated[
        Literal["list", "any"],
        typer.Option(help="Who wants an event, or only whether anybody does, as on a link between brokers."),
    ] = "list",
    budget: Annotated[
        int | None, typer.Option(help="Most states of the dynamic programme; beyond it, a heuristic.", min=0)
    ] = None,
    limit: Annotated[int, typer.Option(help="At most this many events, the first ones.", min=1)] = 1_000,
    lines: Annotated[int, typer.Option(help="Most lines of the plan, and of what is common.", min=1)] = 20,
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
) -> None:
    """Explain the matching plan of a set of subscriptions.

    Tells what the subscriptions have in common (topology and commonality expressions), the order in which their
    predicates are evaluated, each with its selectivity in brackets, and the expected number of evaluations an event,
    beside that of the order in which subscriptions and their predicates came. With events, the same is counted.

    \b
    Examples:
      $ thatch plan explain subscriptions.csv
      $ thatch plan explain subscriptions.csv --events events.jsonl --answer any
      $ thatch plan explain subscriptions.csv --lines 5 --budget 0
    """
    from thatch.planning import BUDGET, FilterSet
    from thatch.planning import plan as planned
    from thatch.planning.explanation import algorithm_line, commonality_lines, plan_lines, topology_line

    declared = load_schema(schema)
    known = None if profile is None else read_profile(profile)
    engine = load_engine(subscriptions, declared)
    filters = {each: engine.filter(each) for each in engine}
    if not filters:
        raise TableError("a file with at least one subscription", "none", subscriptions)
    wanted = FilterSet(filters, known, answer=answer)
    found = planned(wanted.problem, budget=BUDGET if budget is None else budget)
    say(f"topology       {topology_line(found)}")
    say(f"planned by     {algorithm_line(found)}")
    told = "even over domains" if profile is None else f"of the profile {profile}"
    say(f"selectivities  {told}")
    say("in common")
    for line in commonality_lines(found, wanted.member_names, lines):
        say(f"  {line}")
    say("plan")
    for line in plan_lines(found, wanted.member_names, lines):
        say(f"  {line}")
    _tell_costs(wanted, found, events, limit, is_guessed=profile is None)


def _tell_costs(wanted: FilterSet, found: Plan, events: str | None, limit: int, *, is_guessed: bool) -> None:
    from thatch.planning import unplanned

    arrived = unplanned(wanted.problem)
    say("cost of an event")
    say(f"  {'':10}{'planned':>12}{'as they came':>14}{'ratio':>8}")
    _tell_row("predicted", found.cost, arrived.cost)
    if events is None:
        return
    records: list[Record] = []
    rejects: list[tuple[int, str]] = []
    with progress("events") as meter:
        for row, event in islice(read_events(events, lambda *each: rejects.append(each)), limit):
            try:
                records.append(read_event(event, wanted.schema))
            except EventError as error:
                rejects.append((row, str(error)))
                continue
            meter.step()
    for row, reason in rejects[:5]:
        note(f"row {row} of {events} left out: {reason}")
    if not records:
        raise TableError("a file with at least one event", f"none ({len(rejects):,} rows left out)", events)
    _tell_row("counted", *(wanted.cost(each, records) / len(records) for each in (found, arrived)))
    say(f"  on {len(records):,} events of {events}")
    if is_guessed:
        note("Selectivities are guesses; --profile with a folder of `thatch profile` predicts from events.")


def _tell_row(name: str, planned: float, arrived: float) -> None:
    ratio = f"{arrived / planned:,.2f}" if planned else "–"
    say(f"  {name:10}{planned:>12,.2f}{arrived:>14,.2f}{ratio:>8}")
