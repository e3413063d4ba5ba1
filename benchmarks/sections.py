"""What benchmark commands share: options, the table, and storing it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.rows import Row
from benchmarks.matching.table import matching_table
from benchmarks.store import keep

__all__ = ["make_parser", "measure_sections"]

Bench = TypeVar("Bench")
Sections = Mapping[str, Callable[[Bench], list[Row]]]


def make_parser(name: str, about: str | None, sections: Sections[Any]) -> argparse.ArgumentParser:
    """A parser with the common options."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("--seed", type=int, default=1, help="of the workload")
    parser.add_argument("--quick", action="store_true", help="small sizes, to check that everything runs")
    parser.add_argument("--only", nargs="+", choices=sections, metavar="SECTION", help=", ".join(sections))
    return parser


def measure_sections(
    name: str,
    given: argparse.Namespace,
    sections: Sections[Bench],
    bench: Bench,
    *,
    left_out: tuple[str, ...] = (),
    is_full: bool = True,
    **more: Any,
) -> list[Row]:
    """Measure the sections, print a table, store it as JSON, and return its rows.

    Parameters
    ----------
    given : the options
    left_out : sections that run only on request
    is_full : whether sizes are those of the goals, unless `--quick` was given
    more : further facts to store with the rows
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
        name if is_full and not given.only else f"{name}-part", [row.as_dict() for row in rows], **more
    )
    note(f"stored in {kept}")
    return rows
