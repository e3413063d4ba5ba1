"""Arguments and options that several commands share."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from thatch.errors import SubscriptionError, shown
from thatch.formats.reading import Reading, RejectLimit, bytes_of_size
from thatch.model.schema import Schema

__all__ = [
    "POLICIES",
    "Encoding",
    "EventsFile",
    "Master",
    "MaxLine",
    "MaxRejects",
    "MaxUnpacked",
    "Missing",
    "Now",
    "Nulls",
    "OutFolder",
    "Overwrite",
    "SchemaFile",
    "SparkChoice",
    "Strict",
    "SubscriptionsFile",
    "TopologyArgument",
    "Way",
    "moment_of",
    "reading_of",
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
Now = Annotated[
    str | None,
    typer.Option(
        help="Judge by this moment what has expired, to replay a log: seconds since 1970, or a time such as "
        "2026-01-31T12:00:00Z. By default, by the clock."
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="Text that stands for a missing value in .csv; repeat it for others. By default an empty cell, and in "
        "columns of numbers also n/a, null, - and the like (docs/reference/files.md)."
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of text files without a byte order mark: utf-8, utf-16, cp1252, ..."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail if any row is refused.")]
MaxRejects = Annotated[
    str | None,
    typer.Option(
        help="Fail if more rows than this are refused: a number or a share such as 5%. By default, if all are."
    ),
]
MaxLine = Annotated[str, typer.Option(help="The longest line of a text file.")]
MaxUnpacked = Annotated[
    str | None,
    typer.Option(
        help="The most that one file may unpack to. By default 1G, or 100 times the file if that is more."
    ),
]
OutFolder = Annotated[str, typer.Option(help="Folder to write; it appears when it is complete.")]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace the output, if it is a file or a folder of an earlier command."
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        help="Spark master: local[4], spark://host:7077, yarn; by default all cores of this machine."
    ),
]
SparkChoice = Annotated[
    bool | None,
    typer.Option(
        "--spark/--no-spark", help="Run on Spark, or in this process; by default by the size of the input."
    ),
]


def moment_of(text: str | None) -> float | None:
    """The seconds since 1970 of what --now gives."""
    from thatch.engine.subscriptions import seconds

    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise SubscriptionError("seconds since 1970 or an ISO 8601 time", shown(text), "--now") from None
    return seconds(when, "--now")


def reading_of(
    schema: Schema | None,
    missing: list[str] | None,
    encoding: str | None,
    max_line: str,
    max_unpacked: str | None,
    max_rejects: str | None,
    *,
    strict: bool,
) -> Reading:
    """How files are read, from the options of a command."""
    return Reading(
        missing=tuple(missing) if missing else None,
        encoding=encoding,
        schema=schema,
        max_line=bytes_of_size(max_line, "--max-line"),
        max_unpacked=None if max_unpacked is None else bytes_of_size(max_unpacked, "--max-unpacked"),
        rejects=RejectLimit.of(max_rejects, strict=strict),
    )
