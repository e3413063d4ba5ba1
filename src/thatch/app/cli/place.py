"""`thatch place`: which broker should serve which subscriber?"""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thatch.app.cli.output import note, progress, say, tasks
from thatch.app.cli.sources import load_filters, load_schema

if TYPE_CHECKING:
    from thatch.pipeline.jobs.place import Inputs, Placed
    from thatch.placement.placing import PlacementOptions

__all__ = ["place"]

_SHOWN = 5


def place(  # noqa: PLR0913 - an option each
    subscriptions: Annotated[
        str,
        typer.Argument(
            help="File of subscriptions, .csv, .jsonl or .parquet, or a folder that `thatch load` wrote."
        ),
    ],
    *,
    tree: Annotated[
        Path, typer.Option(help="Broker tree, .yaml or .json: a root, brokers with locations, links.")
    ],
    locations: Annotated[
        str, typer.Option(help="Where subscribers are: `subscriber` and coordinates, or `broker`.")
    ],
    out: Annotated[str, typer.Option(help="Folder to write; it appears when all of it is whole.")],
    profile: Annotated[
        Path | None, typer.Option(help="Profile of the log (`thatch profile`): which events are frequent.")
    ] = None,
    events: Annotated[
        str | None, typer.Option(help="Log of events, to count what each broker would get of it.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(help="gr_star, gr_star_search, slp1_search, balance …; best takes the best of several."),
    ] = "gr_star_search",
    max_delay: Annotated[
        float, typer.Option(help="Ways may be longer than the shortest by this factor.", min=0)
    ] = 0.3,
    latency: Annotated[
        Literal["path", "last_hop"], typer.Option(help="Whether ways begin at the root or at the broker.")
    ] = "path",
    beta: Annotated[float, typer.Option(help="Load relative to a broker's share that is wanted.")] = 1.5,
    beta_max: Annotated[float, typer.Option(help="The same that is allowed if need be.")] = 1.8,
    limit: Annotated[
        float | None,
        typer.Option(help="Seconds after which best begins nothing more and searches end.", min=0),
    ] = None,
    boxes: Annotated[int, typer.Option(help="Most boxes in a broker's filter.", min=1)] = 3,
    axes: Annotated[int, typer.Option(help="Most attributes that are taken into account.", min=1)] = 6,
    map: Annotated[  # noqa: A002 - as people call it
        str, typer.Option(help="Two attributes in which the report draws filters: price,volume.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Decides all that is random.", min=0)] = 0,
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
    spark: Annotated[
        bool, typer.Option("--spark", help="Read and work on Spark; files, folders or globs.")
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark runs: local[4], spark://host:7077, yarn. All cores here by default."),
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a folder that a command has written.")] = False,
) -> None:
    """Assign subscribers to brokers so that little is sent, nobody waits long, and no broker has too many.

    Writes a plan: a folder with `tree`, `assignment`, `filters` (what each broker asks of the one above it), `boxes`,
    `statistics`, `yardsticks` and `certificate` (an independent check), all Parquet, and `report.html` and `manifest.json`.
    If the limits cannot be kept the plan is the best that was found, and its status says so; the command then ends with 1.

    \b
    Examples:
      $ thatch place subscriptions.csv --tree tree.json --locations locations.csv --out plan
      $ thatch place subscriptions.csv --tree tree.json --locations locations.csv --algorithm best --limit 60 --out best
      $ thatch place subscriptions.csv --tree tree.json --locations locations.csv --profile profile --out placed --spark
    """
    declared = load_schema(schema)
    from thatch.formats.loaded import is_loaded, loaded_schema
    from thatch.pipeline.jobs.place import Inputs, place_here
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
        boxes=boxes,
        map=tuple(each.strip() for each in map.split(",") if each.strip()),
    )
    command = shlex.join(["thatch", *sys.argv[1:]])
    if spark:
        placed = _on_spark(inputs, out, wanted, master=master, overwrite=overwrite, command=command)
    else:
        filters, refused = load_filters(subscriptions, inputs.schema)
        with progress("placing") as meter:
            placed = place_here(
                filters,
                refused,
                inputs,
                out,
                wanted,
                overwrite=overwrite,
                command=command,
                now=time.perf_counter,
                tell=meter.tell,
            )
    _tell(placed, inputs, out.rstrip("/"))


def _on_spark(
    inputs: Inputs, out: str, wanted: PlacementOptions, *, master: str | None, overwrite: bool, command: str
) -> Placed:
    from thatch.pipeline import session
    from thatch.pipeline.jobs.place import place_files

    spark = session("thatch place", master=master)
    with tasks("placing") as report:
        return place_files(
            spark,
            inputs,
            out,
            wanted,
            overwrite=overwrite,
            command=command,
            now=time.perf_counter,
            report=report,
        )


def _tell(placed: Placed, inputs: Inputs, out: str) -> None:
    from thatch.formats.plan import REPORT

    plan, told = placed.plan, placed.plan.statistics
    if placed.refused:
        note(f"{len(placed.refused):,} rows of {inputs.subscriptions} were refused and left out:")
        for row, reason in placed.refused[:_SHOWN]:
            note(f"  row {row}: {reason}")
    say(
        f"{len(plan.subscribers):,} subscribers on {len(plan.loads):,} brokers, {told['status']}: "
        f"load factor {told['load_factor']:.3g}, largest delay {told['largest_delay']:.3g}"
    )
    nearest = plan.yardsticks[-1]
    say(
        f"{told['bandwidth']:.4g} events are sent to brokers for each that is published; "
        f"{nearest['bandwidth']:.4g} if everybody were served nearby, {told['rigorous_bound']:.4g} at the very least"
    )
    if plan.counted is not None:
        say(
            f"{told['counted_bandwidth']:.4g} counted in {told['counted_events']:,} events of {inputs.events}"
        )
    parts = {
        "assignment.parquet": "who is served by which broker",
        "filters.parquet": "what each broker asks of the one above it",
        REPORT: "what it looks like",
    }
    for name, what in parts.items():
        say(f"  {out}/{name}: {what}")
    if told["status"] == "infeasible":
        note("the limits cannot be kept: this is the best that was found")
        raise typer.Exit(1)
