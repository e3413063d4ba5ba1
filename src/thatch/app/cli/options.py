"""Arguments and options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from thatch.errors import SchemaError, SubscriptionError, shown
from thatch.formats.reading import Reading, RejectLimit, bytes_of_size
from thatch.model.schema import Schema
from thatch.model.values import reason_of

__all__ = [
    "POLICIES",
    "EventsFile",
    "Master",
    "Now",
    "Nulls",
    "OutFolder",
    "Overwrite",
    "SchemaFile",
    "SparkChoice",
    "SubscriptionsFile",
    "TopologyArgument",
    "Way",
    "load_schema",
    "moment_of",
    "reads_files",
]

POLICIES = "exact, pairwise, flooding, negative-space, approximate:K, probabilistic:DELTA, merging, merging:THRESHOLD"

SubscriptionsFile = Annotated[
    str,
    typer.Argument(
        help="File of subscriptions: .csv, .jsonl or .parquet; .txt with a filter a line; a folder or .yml file of Sigma rules."
    ),
]
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
Language = Annotated[
    str | None,
    typer.Option(
        help="Language of the filters in files of subscriptions: jms, kql, labels, ... (docs/reference/languages.md). By default "
        "that of the ending, or Thatch's own."
    ),
]
Pipeline = Annotated[
    list[str] | None,
    typer.Option(
        help="YAML file of a pySigma processing pipeline that Sigma rules pass through; repeat it for others."
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


def _read_options(  # noqa: PLR0913, PLR0917 - an option each
    schema: SchemaFile = None,
    missing: Missing = None,
    encoding: Encoding = None,
    strict: Strict = False,
    max_rejects: MaxRejects = None,
    max_line: MaxLine = "16M",
    max_unpacked: MaxUnpacked = None,
    language: Language = None,
    pipeline: Pipeline = None,
) -> Reading:
    return Reading(
        missing=tuple(missing) if missing else None,
        encoding=encoding,
        schema=load_schema(schema),
        max_line=bytes_of_size(max_line, "--max-line"),
        max_unpacked=None if max_unpacked is None else bytes_of_size(max_unpacked, "--max-unpacked"),
        rejects=RejectLimit.of(max_rejects, strict=strict),
        language=language,
        pipelines=tuple(pipeline or ()),
    )


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options for reading files; it gets them together as `reading`.

    A command with a parameter `schema` also gets the file of declared types, to say that it is read.
    """
    own = dict(signature(command, eval_str=True).parameters)
    shared = dict(signature(_read_options, eval_str=True).parameters)

    @wraps(command)
    def run(**given: Any) -> None:
        options = {name: given.pop(name) for name in shared}
        more = {"schema": options["schema"]} if "schema" in own else {}
        command(**given, **more, reading=_read_options(**options))

    kept = [each for name, each in own.items() if name not in {"schema", "reading"}]
    added = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in shared.values()]
    vars(run)["__signature__"] = Signature([*kept, *added])  # what Typer reads
    return run


def load_schema(path: Path | None) -> Schema | None:
    """A schema from a JSON file such as `{"qty": {"type": "Integer", "minimum": 0}}`."""
    if path is None:
        return None
    try:
        return Schema.from_description(json.loads(path.read_text(encoding="utf-8")))
    except SchemaError as error:
        where = f"{path}, {error.where}" if error.where else str(path)
        raise SchemaError(error.expected, error.got, where) from error
    except (OSError, ValueError, RecursionError) as error:
        expected = 'a schema such as {"qty": {"type": "Integer", "minimum": 0}}'
        raise SchemaError(expected, reason_of(error), str(path)) from error
