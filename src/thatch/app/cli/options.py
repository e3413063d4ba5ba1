"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "POLICIES",
    "EventsFile",
    "Master",
    "Nulls",
    "OutFolder",
    "Overwrite",
    "SchemaFile",
    "SubscriptionsFile",
    "TopologyArgument",
    "Way",
]

POLICIES = "exact, pairwise, flooding, negative-space, approximate:K, probabilistic:DELTA, merging, merging:THRESHOLD"

SubscriptionsFile = Annotated[str, typer.Argument(help="File of subscriptions: .csv, .jsonl or .parquet.")]
EventsFile = Annotated[
    str, typer.Argument(help="File of events: .jsonl, .csv or .parquet; - reads JSON lines from stdin.")
]
TopologyArgument = Annotated[
    str,
    typer.Argument(
        help="File .yaml, .yml or .json, or a shape: line:5, star:5, tree:7, random:20, regions:4x5."
    ),
]
Way = Annotated[
    Literal["advertisements", "subscriptions", "events"],
    typer.Option(help="How brokers route; `events` sends every event to every broker."),
]
SchemaFile = Annotated[Path | None, typer.Option(help="JSON file that declares types of attributes.")]
Nulls = Annotated[
    Literal["missing", "null"], typer.Option(help="How to read empty fields of .csv and .parquet.")
]
OutFolder = Annotated[str, typer.Option(help="Folder to write; it appears when it is complete.")]
Overwrite = Annotated[bool, typer.Option(help="Replace an output folder that an earlier command wrote.")]
Master = Annotated[
    str | None,
    typer.Option(
        help="Spark master: local[4], spark://host:7077, yarn; by default all cores of this machine."
    ),
]
