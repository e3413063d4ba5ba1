"""`thatch plan`: in which order are predicates evaluated, and at what cost?"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch.app.cli.options import Nulls, SubscriptionsFile, reads_files
from thatch.app.cli.output import note, note_rows, progress, say
from thatch.app.cli.sources import load_engine, read_valid_events
from thatch.errors import TableError
from thatch.formats.profile import read_profile
from thatch.formats.reading import Reading
from thatch.model.events import Record, read_event

if TYPE_CHECKING:
    from thatch.planning import FilterSet, MatchingPlan

__all__ = ["plan"]

plan = typer.Typer(
    name="plan",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Explain the order in which predicates are evaluated.",
)


@plan.callback()
def _group() -> None:
    """A group even with one command."""


@plan.command("explain")
@reads_files
def explain(  # noqa: PLR0913 - an option each
    subscriptions: SubscriptionsFile,
    profile: Annotated[
        Path | None,
        typer.Option(
            help="Folder of `thatch profile`, for selectivities; without it, values are assumed uniform."
        ),
    ] = None,
    events: Annotated[
        str | None, typer.Option(help="File of events, to count the predicates evaluated on them.")
    ] = None,
    answer: Annotated[
        Literal["list", "any"],
        typer.Option(
            help="List all matches, or only decide whether there is any, as on a link between brokers."
        ),
    ] = "list",
    budget: Annotated[
        int | None,
        typer.Option(
            help="Most states of the dynamic programme; for larger ones a heuristic is used.", min=0
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="Use at most this many events, the first ones.", min=1)] = 1_000,
    lines: Annotated[
        int, typer.Option(help="Print at most this many lines of the plan and of commonalities.", min=1)
    ] = 20,
    nulls: Nulls = "missing",
    *,
    reading: Reading,
) -> None:
    """Explain the matching plan of a set of subscriptions.

    Prints what the subscriptions have in common (topology and commonality expressions), the order in which their
    predicates are evaluated, each with its selectivity in brackets, and the expected number of evaluations per event,
    compared with evaluating subscriptions and predicates in file order. With events, evaluations are also counted.

    \b
    Examples:
      $ thatch plan explain subscriptions.csv
      $ thatch plan explain subscriptions.csv --events events.jsonl --answer any
      $ thatch plan explain subscriptions.csv --lines 5 --budget 0
    """
    from thatch.planning import BUDGET, FilterSet
    from thatch.planning import plan as planned
    from thatch.planning.explanation import algorithm_line, commonality_lines, plan_lines, topology_line

    known = None if profile is None else read_profile(profile)
    engine = load_engine(subscriptions, reading)
    filters = {each: engine.filter(each) for each in engine}
    if not filters:
        raise TableError(f"{subscriptions} has no valid subscriptions")
    with progress("planning"):
        wanted = FilterSet(filters, known, answer=answer)
        found = planned(wanted.problem, budget=BUDGET if budget is None else budget)
    say(f"topology       {topology_line(found)}")
    say(f"planned by     {algorithm_line(found)}")
    source = "uniform over domains" if profile is None else f"from the profile {profile}"
    say(f"selectivities  {source}")
    say("in common")
    for line in commonality_lines(found, wanted.member_names, lines):
        say(f"  {line}")
    say("plan")
    for line in plan_lines(found, wanted.member_names, lines):
        say(f"  {line}")
    _print_predicted(wanted, found)
    if events is not None:
        names = engine.attributes()
        _print_counted(wanted, found, events, _first_events(events, limit, wanted, nulls, reading, names))
        if profile is None:
            note(
                "Selectivities are guesses; for better predictions add --profile with a folder of `thatch profile`."
            )


def _print_predicted(wanted: FilterSet, found: MatchingPlan) -> None:
    from thatch.planning import plan_as_given

    say("cost of an event")
    say(f"  {'':10}{'planned':>12}{'in file order':>14}{'ratio':>8}")
    _print_row("predicted", found.cost, plan_as_given(wanted.problem).cost)


def _first_events(
    events: str, limit: int, wanted: FilterSet, nulls: str, reading: Reading, names: Collection[str]
) -> list[Record]:
    """The first valid events of a file."""
    records: list[Record] = []
    rejects: list[tuple[int, str]] = []
    with progress("events") as meter:
        valid = read_valid_events(
            events, rejects, lambda event: read_event(event, wanted.schema), nulls, reading, names=names
        )
        for _, record in islice(valid, limit):
            records.append(record)
            meter.step()
    note_rows(f"rows of {events} are not events and were skipped", rejects)
    if not records:
        raise TableError(f"{events} has no events ({len(rejects):,} rows were skipped)")
    return records


def _print_counted(wanted: FilterSet, found: MatchingPlan, events: str, records: list[Record]) -> None:
    from thatch.planning import plan_as_given

    arrived = plan_as_given(wanted.problem)
    _print_row("counted", *(wanted.cost(each, records) / len(records) for each in (found, arrived)))
    say(f"  on {len(records):,} events of {events}")


def _print_row(name: str, planned: float, arrived: float) -> None:
    ratio = f"{arrived / planned:,.2f}" if planned else "–"
    say(f"  {name:10}{planned:>12,.2f}{arrived:>14,.2f}{ratio:>8}")
