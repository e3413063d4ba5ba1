"""`thatch simulate`: what subscriptions and events cost a network of brokers, in virtual time."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from thatch.app.cli.networks import POLICIES, TOPOLOGY_HELP, load_topology, policy_of
from thatch.app.cli.output import note, progress, say
from thatch.app.cli.sources import load_engine, load_schema
from thatch.errors import ParameterError, shown

if TYPE_CHECKING:
    from thatch import Schema
    from thatch.runtime.simulated.scenario import Interest, Played

__all__ = ["simulate"]

_MOST = 10_000_000


def simulate(  # noqa: PLR0913, PLR0917 - an option each
    topology: Annotated[str, typer.Argument(help=TOPOLOGY_HELP)],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What links leave out: {', '.join(POLICIES)}; exact if none is given. Several are compared."
        ),
    ] = None,
    subscriptions: Annotated[
        str, typer.Option(help="File of subscriptions (.csv, .jsonl, .parquet), or how many to make up.")
    ] = "1000",
    events: Annotated[
        str, typer.Option(help="File of events (.jsonl, .csv, .parquet), or how many to make up.")
    ] = "1000",
    workload: Annotated[
        str, typer.Option(help="How they are made up: W1 to W6, W2-<d>D for boxes in d dimensions.")
    ] = "W2-2D",
    way: Annotated[
        Literal["advertisements", "subscriptions", "events"],
        typer.Option(help="What guides messages; `events` sends every event everywhere."),
    ] = "advertisements",
    publishers: Annotated[int, typer.Option(help="How many clients publish.", min=1)] = 1,
    rate: Annotated[float, typer.Option(help="Events a second, in virtual time.", min=0.001)] = 100.0,
    loss: Annotated[float, typer.Option(help="Probability that a frame is lost.", min=0, max=0.99)] = 0.0,
    duplication: Annotated[
        float, typer.Option(help="Probability that a frame comes twice.", min=0, max=0.99)
    ] = 0.0,
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option(help="Write a page with figures to this .html file.")] = None,
) -> None:
    """Run subscriptions and events through a simulated network of brokers, and tell what that took.

    Subscribers and publishers are at random brokers. All subscribe, then events are published; time is virtual, so
    that links may be slow and long without anybody waiting.

    \b
    Examples:
      $ thatch simulate line:5 --subscriptions subscriptions.csv --events events.jsonl
      $ thatch simulate tree:15 --policy exact --policy pairwise --subscriptions 300 --events 100
      $ thatch simulate regions:2x3 --subscriptions 100 --events 50 --loss 0.05 --out page.html
    """
    from thatch.broker.settings import Routing
    from thatch.runtime.simulated.scenario import Scenario, play
    from thatch.runtime.simulated.wires import Faults

    if out is not None and out.suffix != ".html":
        raise ParameterError("--out with a file ending in .html", str(out))
    policies = {name: policy_of(name) for name in policy or ["exact"]}
    declared = load_schema(schema)
    scenario = Scenario(
        topology=load_topology(topology, seed),
        interests=_interests(subscriptions, workload, seed, declared),
        events=_events(events, workload, seed),
        schema=declared,
        faults=Faults(loss=loss, duplication=duplication),
        publishers=publishers,
        rate=rate,
        seed=seed,
    )
    found: dict[str, Played] = {}
    for name, each in policies.items():
        start = time.monotonic()
        with progress(name, len(scenario.interests) + len(scenario.events)) as meter:
            found[name] = play(replace(scenario, routing=Routing(way=way, policy=each)), meter.step)
        _tell(name, found[name], time.monotonic() - start)
    if out is not None:
        from thatch.app.cli.simulate_page import page_of

        page_of(found, shlex.join(["thatch", *sys.argv[1:]])).write(out)
        note(f"The page is {out}")


def _interests(told: str, workload: str, seed: int, schema: Schema | None) -> Sequence[Interest]:
    from thatch.runtime.simulated.scenario import Interest

    count = _count(told)
    if count is None:
        engine = load_engine(told, schema)
        rows = engine.subscriptions().select(["subscription", "subscriber"]).to_pylist()
        return [
            Interest(
                row["subscription"],
                row["subscriber"] or row["subscription"],
                engine.filter(row["subscription"]),
            )
            for row in rows
        ]
    from thatch import parse
    from thatch.workloads import generate

    texts = generate(workload, subscriptions=count, events=0, seed=seed).filter_texts()
    return [
        Interest(f"s{number}", f"c{number}", parse(text, schema=schema))
        for number, text in enumerate(texts, start=1)
    ]


def _events(told: str, workload: str, seed: int) -> Sequence[Mapping[str, Any]]:
    count = _count(told)
    if count is not None:
        from thatch.workloads import generate

        return generate(workload, subscriptions=0, events=count, seed=seed).events()
    from thatch.formats.events import read_events

    rejects: list[tuple[int, str]] = []
    read = [event for _, event in read_events(told, lambda *each: rejects.append(each))]
    for row, reason in rejects[:5]:
        note(f"row {row} of {told} left out: {reason}")
    if len(rejects) > 5:
        note(f"... and {len(rejects) - 5:,} more rows")
    return read


def _count(told: str) -> int | None:
    """A number of things to make up; None for a file."""
    if not told.isdecimal():
        return None
    if int(told) > _MOST:
        raise ParameterError(f"at most {_MOST:,}", shown(told))
    return int(told)


def _tell(name: str, played: Played, seconds: float) -> None:
    from thatch.app.cli.simulate_page import facts_of

    facts = facts_of(played)
    say(f"{name}:")
    for what, value in facts.items():
        say(f"  {what}: {value:,}" if isinstance(value, int) else f"  {what}: {value:,.4g}")
    note(f"{name}: simulated in {seconds:,.1f} s")
