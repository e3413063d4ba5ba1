"""`thatch simulate`: what do subscriptions and events cost a network of brokers?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thatch.app.cli.options import POLICIES, Nulls, Overwrite, SchemaFile, TopologyArgument, Way, reads_files
from thatch.app.cli.output import command_line, note, note_rows, progress, say, this_moment
from thatch.app.cli.sources import load_engine, load_policy, load_topology, read_valid_events
from thatch.errors import ParameterError, shown
from thatch.formats.reading import Reading
from thatch.outputs import check_file

if TYPE_CHECKING:
    from thatch.runtime.simulated.scenario import Interest, Played

__all__ = ["simulate"]

_MOST = 10_000_000  # subscriptions or events to generate


@reads_files
def simulate(  # noqa: PLR0913, PLR0917 - an option each
    topology: TopologyArgument,
    policy: Annotated[
        list[str] | None,
        typer.Option(help=f"Reduction on links: {POLICIES}; exact by default. Several are compared."),
    ] = None,
    subscriptions: Annotated[
        str, typer.Option(help="File of subscriptions (.csv, .jsonl, .parquet), or how many to generate.")
    ] = "1000",
    events: Annotated[
        str, typer.Option(help="File of events (.jsonl, .csv, .parquet), or how many to generate.")
    ] = "1000",
    workload: Annotated[
        str, typer.Option(help="What to generate: W1 to W6, W2-<d>D for boxes in d dimensions.")
    ] = "W2-2D",
    way: Way = "advertisements",
    publishers: Annotated[int, typer.Option(help="Number of publishing clients.", min=1)] = 1,
    rate: Annotated[float, typer.Option(help="Events per second of virtual time.", min=0.001)] = 100.0,
    loss: Annotated[float, typer.Option(help="Probability that a packet is lost.", min=0, max=0.99)] = 0.0,
    duplication: Annotated[
        float, typer.Option(help="Probability that a packet arrives twice.", min=0, max=0.99)
    ] = 0.0,
    nulls: Nulls = "missing",
    seed: Annotated[
        int, typer.Option(help="Seed of random numbers: the same seed gives the same run.", min=0)
    ] = 0,
    out: Annotated[Path | None, typer.Option(help="Write a page with figures to this .html file.")] = None,
    overwrite: Overwrite = False,
    *,
    schema: SchemaFile,
    reading: Reading,
) -> None:
    """Simulate a network of brokers and print the traffic, table sizes and delays.

    Subscribers and publishers are at random brokers. All subscribe first, then events are published. Time is virtual:
    slow links do not slow the simulation.

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
        raise ParameterError("a file ending in .html", str(out), "--out")
    if out is not None:
        read = [topology, subscriptions, events, schema]
        check_file(out, inputs=[each for each in read if each and Path(each).exists()], overwrite=overwrite)
    policies = {name: load_policy(name) for name in policy or ["exact"]}
    scenario = Scenario(
        topology=load_topology(topology, seed),
        interests=_interests(subscriptions, workload, seed, reading),
        events=_events(events, workload, seed, nulls, reading),
        schema=reading.schema,
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
        _print_summary(name, found[name], time.monotonic() - start)
    if out is not None:
        from thatch.app.cli.simulate_page import make_page

        make_page(found, command_line()).write(out, overwrite=overwrite, made=this_moment())
        note(f"Wrote the page {out}.")


def _interests(source: str, workload: str, seed: int, reading: Reading) -> Sequence[Interest]:
    from thatch.runtime.simulated.scenario import Interest

    count = _count(source)
    if count is None:
        engine = load_engine(source, reading)
        table = engine.subscriptions()
        ids, subscribers = (table.column(name).to_pylist() for name in ("subscription", "subscriber"))
        pairs = zip(ids, subscribers, strict=True)
        return [Interest(each, subscriber or each, engine.filter(each)) for each, subscriber in pairs]
    from thatch import parse
    from thatch.workloads import generate

    with progress("generating subscriptions"):
        texts = generate(workload, subscriptions=count, events=0, seed=seed).filter_texts()
        return [
            Interest(f"s{number}", f"c{number}", parse(text, schema=reading.schema))
            for number, text in enumerate(texts, start=1)
        ]


def _events(
    source: str, workload: str, seed: int, nulls: str, reading: Reading
) -> Sequence[Mapping[str, Any]]:
    count = _count(source)
    if count is not None:
        from thatch.workloads import generate

        with progress("generating events"):
            return generate(workload, subscriptions=0, events=count, seed=seed).events()
    from thatch.model.events import read_event

    def check(event: dict[str, Any]) -> dict[str, Any]:
        read_event(event, reading.schema)
        return event

    rejects: list[tuple[int, str]] = []
    with progress(f"reading {source}"):
        read = [event for _, event in read_valid_events(source, rejects, check, nulls, reading)]
    note_rows(f"rows of {source} are not events and were skipped", rejects)
    return read


def _count(source: str) -> int | None:
    """How many to generate; None for a file."""
    if not source.isdecimal():
        return None
    if int(source) > _MOST:
        raise ParameterError(f"at most {_MOST:,}", shown(source))
    return int(source)


def _print_summary(name: str, played: Played, seconds: float) -> None:
    from thatch.app.cli.simulate_page import summarize

    say(f"{name}:")
    for what, value in summarize(played).items():
        say(f"  {what}: {value:,}" if isinstance(value, int) else f"  {what}: {value:,.4g}")
    note(f"{name}: simulated in {seconds:,.1f} s")
