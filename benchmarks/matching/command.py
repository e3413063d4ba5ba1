"""`python -m benchmarks.matching`: which sections, in which sizes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.console import note
from benchmarks.machine import machine
from benchmarks.matching.boxes import boxes_rows
from benchmarks.matching.building import building_rows
from benchmarks.matching.churn import churn_rows
from benchmarks.matching.first_match import first_match_rows
from benchmarks.matching.kin import kin_rows
from benchmarks.matching.lists import list_rows
from benchmarks.matching.memory import memory_rows
from benchmarks.matching.native import native_rows, read_native
from benchmarks.matching.opening import opening_rows
from benchmarks.matching.questions import question_rows
from benchmarks.matching.rows import Row
from benchmarks.matching.rules import rule_rows
from benchmarks.matching.selective import selective_rows
from benchmarks.matching.session import FULL, Session, Sizes
from benchmarks.matching.table import matching_table
from benchmarks.matching.wide import pooled_rows, wide_rows
from benchmarks.store import keep

__all__ = ["SECTIONS", "main"]

SECTIONS: dict[str, Callable[[Session], list[Row]]] = {
    "w1": selective_rows,
    "kin": kin_rows,
    "lists": list_rows,
    "questions": question_rows,
    "opening": opening_rows,
    "memory": memory_rows,
    "building": building_rows,
    "churn": churn_rows,
    "boxes": boxes_rows,
    "w3": wide_rows,
    "w4": pooled_rows,
    "first": first_match_rows,
    "rules": rule_rows,
}


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, keep it as JSON; the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.matching", description=__doc__)
    parser.add_argument("--count", type=int, help=f"subscriptions of the largest rows, {FULL:,} by default")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes and few rounds, to see that all runs"
    )
    parser.add_argument("--rounds", type=int, help="of each contestant")
    parser.add_argument("--events", type=int, help="different events, 512 by default")
    parser.add_argument("--seed", type=int, default=1, help="of the workloads")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--native", type=Path, help="JSON file with results of native peers")
    given = parser.parse_args(arguments)
    for name in ("count", "rounds", "events"):
        if getattr(given, name) is not None and getattr(given, name) < 1:
            parser.error(f"--{name}: expected 1 or more, got {getattr(given, name)}")
    try:
        results = read_native(given.native, given.seed) if given.native else []
    except ValueError as error:
        parser.error(str(error))
    session = Session(_sizes(given))
    rows = _measured(session, given.only or list(SECTIONS))
    rows += native_rows(rows, results)
    print(machine())
    print(matching_table(rows, is_full=session.sizes.is_full))
    is_whole = session.sizes.is_full and not given.only  # or it would hide the table of a full run
    path = keep(
        "matching" if is_whole else "matching-part",
        [row.as_dict() for row in rows],
        sizes=asdict(session.sizes),
    )
    note(f"kept in {path}")
    return rows


def _sizes(given: argparse.Namespace) -> Sizes:
    base = Sizes.quick(seed=given.seed) if given.quick else Sizes(seed=given.seed)
    changed = {
        name: getattr(given, name)
        for name in ("count", "rounds", "events")
        if getattr(given, name) is not None
    }
    return Sizes(**{**asdict(base), **changed})


def _measured(session: Session, names: Sequence[str]) -> list[Row]:
    rows = []
    for number, name in enumerate(names, start=1):
        note(f"[{number}/{len(names)}] {name}")
        rows += SECTIONS[name](session)
    return rows
