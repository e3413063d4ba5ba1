"""What commands that measure sections have in common: options, one table, and what is kept of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.store import keep

__all__ = ["measured", "parser_of"]

Bench = TypeVar("Bench")
Sections = Mapping[str, Callable[[Bench], list[Row]]]


def parser_of(name: str, about: str | None, sections: Sections[Any]) -> argparse.ArgumentParser:
    """The options that all of them have."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=sections, metavar="SECTION", help=", ".join(sections))
    return parser


def measured(
    name: str,
    given: argparse.Namespace,
    sections: Sections[Bench],
    bench: Bench,
    *,
    left_out: tuple[str, ...] = (),
    is_full: bool = True,
    **told: Any,
) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows.

    Parameters
    ----------
    given : the options
    left_out : sections that run only if they are asked for
    is_full : whether sizes are those that the goals are for, unless `--quick` was given
    told : what else is kept beside the rows
    """
    rows: list[Row] = []
    for each in given.only or [each for each in sections if each not in left_out]:
        for row in sections[each](bench):
            note(f"{row.what}: {row.ours:.4g} {row.unit}")
            rows.append(row)
    is_full = is_full and not given.quick
    print(machine())
    print(matching_table(rows, is_full=is_full))
    kept = keep(
        name if is_full and not given.only else f"{name}-part", [row.as_dict() for row in rows], **told
    )
    note(f"kept in {kept}")
    return rows
