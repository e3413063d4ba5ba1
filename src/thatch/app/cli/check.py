"""`thatch check`: which filters of a file are invalid, and which are redundant?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from thatch import Filter, Schema
from thatch.app.cli.options import SubscriptionsFile, reads_files
from thatch.app.cli.output import note_rows, progress, say
from thatch.app.cli.sources import check_rows
from thatch.formats.reading import Reading
from thatch.formats.rules import read_rules
from thatch.pipeline.embedded.covering import find_covered

__all__ = ["check"]

_SHOWN = 5  # filters that together cover one

Row = tuple[int, str, Filter]


@reads_files
def check(
    subscriptions: SubscriptionsFile,
    budget: Annotated[
        int,
        typer.Option(
            help="Most steps of the search for covered filters, one for each box of a filter; the rest is not checked.",
            min=0,
        ),
    ] = 10_000_000,
    *,
    reading: Reading,
) -> None:
    """Check the filters of a file.

    Errors are filters that do not parse or can never match, and duplicate ids. Warnings are alternatives inside a
    filter that can never hold or add nothing, and filters that are equal to, or covered by, others of the file.

    Exits with 0 if there are no errors, or no more than --max-rejects allows; with 1 if there are; and with 2 if the
    file cannot be read. Warnings do not count. docs/reference/command-line.md has the exit codes of all commands.

    \b
    Examples:
      $ thatch check subscriptions.csv
      $ thatch check subscriptions.csv --budget 100000
    """
    with progress(f"reading {subscriptions}"):
        loaded = read_rules(subscriptions, reading)
    accepted: list[Row] = []
    errors = list(loaded.rejects)
    for row, identity, found in check_rows(loaded, reading.schema):
        if isinstance(found, str):
            errors.append((row, f"{identity}: {found}" if identity else found))
        else:
            accepted.append((row, found.identity, found.filter))
    warnings = [*_inside(accepted), *_between(accepted, reading.schema, budget)]
    for row, text in sorted(errors):
        say(f"{loaded.place(row)}: error: {text}")
    for row, text in sorted(warnings):
        say(f"{loaded.place(row)}: warning: {text}")
    say(f"{len(accepted):,} filters accepted, {len(errors):,} refused, {len(warnings):,} warnings")
    limit = reading.rejects
    if errors and (limit.most is None or not limit.allows(len(errors), len(accepted) + len(errors))):
        raise typer.Exit(1)


def _inside(accepted: list[Row]) -> Iterator[tuple[int, str]]:
    """Warnings about redundant alternatives inside a filter."""
    for row, identity, parsed in accepted:
        for remark in parsed.remarks:
            what = "an alternative can never hold" if remark.kind == "dead" else "an alternative adds nothing"
            yield row, f"{identity}: {what}: {remark.reason}"


def _between(accepted: list[Row], schema: Schema | None, budget: int) -> Iterator[tuple[int, str]]:
    """Warnings about filters that are equal to, or covered by, another one."""
    first: dict[Filter, str] = {}
    distinct: list[Row] = []
    for row, identity, parsed in accepted:
        if parsed in first:
            yield row, f"{identity}: equal to {first[parsed]}"
        else:
            first[parsed] = identity
            distinct.append((row, identity, parsed))
    with progress("looking for covered filters", 2 * len(distinct)) as meter:
        filters = [parsed for _, _, parsed in distinct]
        found = find_covered(filters, schema, budget=budget, step=meter.step)
    for number, others in found.by.items():
        row, identity, _ = distinct[number]
        names = [distinct[other][1] for other in others]
        together = " together" if len(names) > 1 else ""
        more = f" and {len(names) - _SHOWN:,} others" if len(names) > _SHOWN else ""
        yield row, f"{identity}: covered by {', '.join(names[:_SHOWN])}{more}{together}"
    if found.unchecked:
        unchecked = [(distinct[number][0], distinct[number][1]) for number in found.unchecked]
        note_rows("filters were not checked for being covered (see --budget)", unchecked)
