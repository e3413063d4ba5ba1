"""`thatch check`: which filters of a file are refused, and which do nothing?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from thatch import Filter, Schema, ThatchError, parse
from thatch.app.cli.output import note, progress, say
from thatch.app.cli.sources import load_schema
from thatch.engine.tables import text_column
from thatch.formats.subscriptions import Subscriptions, read_subscriptions

__all__ = ["check"]

_MOST_COVERING = 5_000  # filters among which covered ones are looked for, pair by pair

Row = tuple[int, str, Filter]


def check(
    subscriptions: Annotated[str, typer.Argument(help="File of subscriptions: .csv, .jsonl or .parquet.")],
    schema: Annotated[Path | None, typer.Option(help="JSON file with declared types.")] = None,
) -> None:
    """Check the filters of a file.

    Refused filters are errors: text that does not parse, filters that can never match, ids given twice. Warnings
    tell of alternatives inside a filter that can never hold or lie inside another, and of filters that are equal
    to, or covered by, another one of the file. Ends with status 1 if a filter is refused.

    \b
    Examples:
      $ thatch check subscriptions.csv
    """
    loaded = read_subscriptions(subscriptions)
    accepted, errors = _parsed(loaded, load_schema(schema))
    warnings = [*_inside(accepted), *_between(accepted)]
    for row, text in sorted(errors):
        say(f"row {row}: error: {text}")
    for row, text in sorted(warnings):
        say(f"row {row}: warning: {text}")
    say(f"{len(accepted):,} filters accepted, {len(errors):,} refused, {len(warnings):,} warnings")
    if errors:
        raise typer.Exit(1)


def _parsed(loaded: Subscriptions, schema: Schema | None) -> tuple[list[Row], list[tuple[int, str]]]:
    accepted: list[Row] = []
    errors = list(loaded.rejects)
    ids = text_column(loaded.table, "subscription", "subscriptions")
    filters = text_column(loaded.table, "filter", "subscriptions")
    seen: dict[str, int] = {}
    with progress("filters", len(ids)) as meter:
        for row, identity, text in zip(loaded.rows, ids, filters, strict=True):
            meter.step()
            if identity is None or text is None:
                errors.append(
                    (row, f"Expected text as `{'subscription' if identity is None else 'filter'}`, got null")
                )
                continue
            if identity in seen:
                errors.append((row, f"{identity}: Expected each id once, got it in row {seen[identity]} too"))
                continue
            seen[identity] = row
            try:
                accepted.append((row, identity, parse(text, schema)))
            except ThatchError as error:
                errors.append((row, f"{identity}: {error}"))
    return accepted, errors


def _inside(accepted: list[Row]) -> Iterator[tuple[int, str]]:
    """Alternatives of one filter that do nothing."""
    for row, identity, parsed in accepted:
        for remark in parsed.remarks:
            what = "an alternative can never hold" if remark.kind == "dead" else "an alternative adds nothing"
            yield row, f"{identity}: {what}: {remark.reason}"


def _between(accepted: list[Row]) -> Iterator[tuple[int, str]]:
    """Filters equal to, or covered by, another one."""
    first: dict[Filter, str] = {}
    distinct: list[Row] = []
    for row, identity, parsed in accepted:
        if parsed in first:
            yield row, f"{identity}: equal to {first[parsed]}"
        else:
            first[parsed] = identity
            distinct.append((row, identity, parsed))
    if len(distinct) > _MOST_COVERING:
        note(f"covered filters were not looked for: more than {_MOST_COVERING:,} different filters")
        return
    with progress("covered filters", len(distinct)) as meter:
        for row, identity, parsed in distinct:
            meter.step()
            outer = next(
                (other for _, other, wide in distinct if wide is not parsed and wide.covers(parsed)), None
            )
            if outer is not None:
                yield row, f"{identity}: covered by {outer}"
