"""`thatch place`: which broker should serve which subscriber?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch.app.cli.options import Master, Nulls, OutFolder, Overwrite, SchemaFile, reads_files
from thatch.app.cli.output import (
    command_line,
    note,
    note_rows,
    progress,
    require,
    require_spark,
    say,
    say_files,
    spark_job,
    this_moment,
)
from thatch.app.cli.sources import load_filters
from thatch.formats.reading import Reading

if TYPE_CHECKING:
    from thatch.pipeline.jobs.place import Inputs
    from thatch.placement.plan import PlacementPlan

__all__ = ["place"]


@reads_files
def place(  # noqa: PLR0913 - an option each
    subscriptions: Annotated[
        str,
        typer.Argument(help="File of subscriptions, .csv, .jsonl or .parquet, or a folder of `thatch load`."),
    ],
    *,
    tree: Annotated[
        Path, typer.Option(help="Broker tree, .yaml or .json: a root, brokers with locations, links.")
    ],
    locations: Annotated[
        str, typer.Option(help="File with a location for each `subscriber`: coordinates, or a `broker`.")
    ],
    out: OutFolder,
    profile: Annotated[
        Path | None, typer.Option(help="Folder of `thatch profile`: how frequent events are.")
    ] = None,
    events: Annotated[
        str | None, typer.Option(help="Log of events, to count how many of them each broker would get.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            help="gr_star, gr_star_search, slp1_search, balance …; best tries several and takes the best."
        ),
    ] = "gr_star_search",
    max_delay: Annotated[
        float, typer.Option(help="Largest delay: how much longer than the shortest path, as a factor.", min=0)
    ] = 0.3,
    latency: Annotated[
        Literal["path", "last_hop"],
        typer.Option(help="Measure delays from the root, or only from the broker to its subscribers."),
    ] = "path",
    beta: Annotated[float, typer.Option(help="Desired load of a broker relative to its share.")] = 1.5,
    beta_max: Annotated[float, typer.Option(help="Largest load of a broker relative to its share.")] = 1.8,
    limit: Annotated[
        float | None,
        typer.Option(help="Seconds after which searches end, and best tries no further algorithm.", min=0),
    ] = None,
    boxes: Annotated[int, typer.Option(help="Most boxes in a broker's filter.", min=1)] = 3,
    axes: Annotated[int, typer.Option(help="Most attributes to consider.", min=1)] = 6,
    map: Annotated[  # noqa: A002 - the name of the option
        str, typer.Option(help="Two attributes for the map of filters in the report: price,volume.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of random numbers.", min=0)] = 0,
    nulls: Nulls = "missing",
    spark: Annotated[
        bool, typer.Option("--spark", help="Run on Spark; inputs may be folders or globs.")
    ] = False,
    master: Master = None,
    overwrite: Overwrite = False,
    schema: SchemaFile,
    reading: Reading,
) -> None:
    """Assign subscribers to brokers: little traffic, short delays, balanced loads.

    Writes a plan: a folder with `tree`, `assignment`, `filters` (what each broker requests from its parent), `boxes`,
    `statistics`, `yardsticks` and `certificate` (an independent check), all Parquet, and `report.html` and `manifest.json`.
    If no plan within the limits is found, writes the best one found, with status infeasible, and exits with status 1.

    \b
    Examples:
      $ thatch place subscriptions.csv --tree tree.json --locations locations.csv --out plan
      $ thatch place subscriptions.csv --tree tree.json --locations locations.csv --algorithm best --limit 60 --out best
      $ thatch place subscriptions.csv --tree tree.json --locations locations.csv --profile profile --out placed --spark
    """
    _require(algorithm, tree, on_spark=spark)
    declared = reading.schema
    from thatch.formats.subscriptions import is_loaded, loaded_schema
    from thatch.pipeline.jobs.job import JobOutput
    from thatch.pipeline.jobs.place import Inputs, place_files, place_here
    from thatch.placement.placing import PlacementOptions

    wanted = PlacementOptions(
        algorithm=algorithm,
        seed=seed,
        max_delay=max_delay,
        latency=latency,
        beta=beta,
        beta_max=beta_max,
        limit=limit,
        axes=axes,
    )
    inputs = Inputs(
        subscriptions=subscriptions,
        tree=str(tree),
        locations=locations,
        profile=None if profile is None else str(profile),
        events=events,
        schema=declared if spark or not is_loaded(subscriptions) else loaded_schema(subscriptions, declared),
        reading=reading,
        nulls=nulls,
        boxes=boxes,
        map=tuple(each.strip() for each in map.split(",") if each.strip()),
    )
    if spark:
        with spark_job("place", "placing", out, master=master, overwrite=overwrite, schema=schema) as (
            session,
            output,
        ):
            plan, refused = place_files(session, inputs, wanted, output, now=time.perf_counter)
        note_rows(f"rows of {subscriptions} were refused", refused)
    else:
        filters, refused = load_filters(subscriptions, inputs.schema, reading)
        output = JobOutput(
            out,
            inputs=(str(schema),) if schema else (),
            overwrite=overwrite,
            command=command_line(),
            made=this_moment(),
            tell=note,
        )
        clock = time.perf_counter
        with progress("placing") as meter:
            plan = place_here(filters, refused, inputs, wanted, output, now=clock, tell=meter.describe)
    _print_plan(plan, inputs, out.rstrip("/"))


def _require(algorithm: str, tree: Path, *, on_spark: bool) -> None:
    """Name what is not installed before work begins."""
    if on_spark:
        require_spark()
    if tree.suffix in {".yaml", ".yml"}:
        require("brokers", "topologies in YAML", "yaml")
    require("placement", "placement", "scipy")
    if algorithm == "best" or algorithm.startswith("slp"):
        require("placement", "the linear program", "ortools")


def _print_plan(plan: PlacementPlan, inputs: Inputs, out: str) -> None:
    from thatch.formats.plan import REPORT

    facts = plan.statistics
    say(
        f"{len(plan.subscribers):,} subscribers on {len(plan.loads):,} brokers, {facts['status']}: "
        f"load factor {facts['load_factor']:.3g}, largest delay {facts['largest_delay']:.3g}"
    )
    nearest = plan.yardsticks[-1]
    say(
        f"{facts['bandwidth']:.4g} events are sent to brokers for each published event; "
        f"{nearest['bandwidth']:.4g} if the nearest broker served everybody, at least {facts['rigorous_bound']:.4g} in any plan"
    )
    if plan.counted is not None:
        say(
            f"{facts['counted_bandwidth']:.4g} counted in {facts['counted_events']:,} events of {inputs.events}"
        )
    files = {
        "assignment.parquet": "the broker of each subscriber",
        "filters.parquet": "what each broker requests from its parent",
        REPORT: "a page with figures",
    }
    say_files(out, files)
    if facts["status"] == "infeasible":
        note("No plan within the limits was found; this is the best one:")
        for reason in plan.certificate.reasons:
            note(f"- {reason}")
        raise typer.Exit(1)
