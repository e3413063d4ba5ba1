"""`thatch check`: which filters of a file are invalid, and which are redundant?"""

from __future__ import annotations

from collections.abc import Iterator

import typer

from thatch import Filter, Schema, ThatchError, parse
from thatch.app.cli.options import Encoding, Missing, SchemaFile, SubscriptionsFile
from thatch.app.cli.output import note, progress, say
from thatch.app.cli.sources import load_schema
from thatch.engine.tables import text_column
from thatch.formats.reading import Reading
from thatch.formats.subscriptions import SubscriptionFile, read_subscriptions

__all__ = ["check"]

_MOST_COVERING = 5_000  # filters that are compared pair by pair

Row = tuple[int, str, Filter]


def check(
    subscriptions: SubscriptionsFile,
    schema: SchemaFile = None,
    missing: Missing = None,
    encoding: Encoding = None,
) -> None:
    """Check the filters of a file.

    Errors are filters that do not parse or can never match, and duplicate ids. Warnings are alternatives inside a
    filter that can never hold or add nothing, and filters that are equal to, or covered by, another one of the file.
    Exits with status 1 if there are errors.

    \b
    Examples:
      $ thatch check subscriptions.csv
    """
    reading = Reading(missing=tuple(missing) if missing else None, encoding=encoding)
    with progress(f"reading {subscriptions}"):
        loaded = read_subscriptions(subscriptions, reading)
    accepted, errors = _parse_all(loaded, load_schema(schema))
    warnings = [*_inside(accepted), *_between(accepted)]
    for row, text in sorted(errors):
        say(f"row {row}: error: {text}")
    for row, text in sorted(warnings):
        say(f"row {row}: warning: {text}")
    say(f"{len(accepted):,} filters accepted, {len(errors):,} refused, {len(warnings):,} warnings")
    if errors:
        raise typer.Exit(1)


def _parse_all(loaded: SubscriptionFile, schema: Schema | None) -> tuple[list[Row], list[tuple[int, str]]]:
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
                errors.append((row, f"{identity}: Duplicate id, also in row {seen[identity]}"))
                continue
            seen[identity] = row
            try:
                accepted.append((row, identity, parse(text, schema)))
            except ThatchError as error:
                errors.append((row, f"{identity}: {error}"))
    return accepted, errors


def _inside(accepted: list[Row]) -> Iterator[tuple[int, str]]:
    """Warnings about redundant alternatives inside a filter."""
    for row, identity, parsed in accepted:
        for remark in parsed.remarks:
            what = "an alternative can never hold" if remark.kind == "dead" else "an alternative adds nothing"
            yield row, f"{identity}: {what}: {remark.reason}"


def _between(accepted: list[Row]) -> Iterator[tuple[int, str]]:
    """Warnings about filters that are equal to, or covered by, another one."""
    first: dict[Filter, str] = {}
    distinct: list[Row] = []
    for row, identity, parsed in accepted:
        if parsed in first:
            yield row, f"{identity}: equal to {first[parsed]}"
        else:
            first[parsed] = identity
            distinct.append((row, identity, parsed))
    if len(distinct) > _MOST_COVERING:
        note(f"Did not search for covered filters: there are more than {_MOST_COVERING:,} distinct ones.")
        return
    with progress("covered filters", len(distinct)) as meter:
        for row, identity, parsed in distinct:
            meter.step()
            outer = next(
                (other for _, other, wide in distinct if wide is not parsed and wide.covers(parsed)), None
            )
            if outer is not None:
                yield row, f"{identity}: covered by {outer}"
