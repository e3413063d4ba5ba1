"""What is measured, as rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.child import ask
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most
from benchmarks.tiering.databases import database_rows

__all__ = ["SECTIONS", "Bench"]

_MEGABYTE = 1 << 20
# Arrow's own allocator keeps some megabytes in huge pages for the tables that are handed in, in one run and not in the next.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
_UNMEASURED = 100_000  # subscriptions of a flood that has met every kernel: merges, and moves


@dataclass(frozen=True)
class Bench:
    """Sizes."""

    rounds: int = 3
    seed: int = 1
    count: int = 1_000_000
    is_quick: bool = False


def _flood(bench: Bench, store: str, fast: str) -> list[Row]:
    count = 12_000 if bench.is_quick else bench.count
    budget = (8 if bench.is_quick else 64) * _MEGABYTE
    note(f"a flood of {count:,} on {store}, with {fast} in memory")
    request = {
        "store": store,
        "fast": fast,
        "count": count,
        "budget": budget,
        "base": 2_000 if bench.is_quick else 20_000,
        "seed": bench.seed,
    }
    # Kernels are compiled before: what compiling leaves behind is not what subscriptions take.
    ask("benchmarks.tiering.flood_child", request | {"count": min(count, _UNMEASURED)}, _ENVIRONMENT)
    found = ask("benchmarks.tiering.flood_child", request, _ENVIRONMENT)
    assert not found["wrong"], f"{found['wrong']} wrong answers"
    what = f"flood, {store}, {fast}"
    common = {"subscriptions": count}
    return [
        Row(
            what=f"{what}: most memory over budget",
            ours=found["peak"] / budget * 100,
            unit="%",
            goal=at_most(120),
            details={
                "peak, MB": found["peak"] / _MEGABYTE,
                "in memory": found["fast"],
                "moves": found["moves_out"],
            },
            **common,
        ),
        Row(
            what=f"{what}: told v. grown",
            ours=abs(found["told"] / found["grown"] - 1) * 100,
            unit="%",
            goal=at_most(10),
            details={"told, MB": found["told"] / _MEGABYTE, "grown, MB": found["grown"] / _MEGABYTE},
            **common,
        ),
        Row(
            what=f"{what}: fast tier p99 after, µs",
            ours=found["after"] * 1e6,
            unit="µs",
            peer="before the flood",
            theirs=found["before"] * 1e6,
            ratio=found["after"] / found["before"],
            goal=at_most(3),
            details={"during, µs": found["during"] * 1e6},
            **common,
        ),
        Row(
            what=f"{what}: taking it in",
            ours=found["seconds"] / count * 1e6,
            unit="µs",
            **common,
        ),
    ]


def flood_rows(bench: Bench) -> list[Row]:
    """A million subscriptions that share nothing, against 64 MB; every answer is checked."""
    return [row for store in ("sqlite", "postgres") for row in _flood(bench, store, "segments")]


def diagram_rows(bench: Bench) -> list[Row]:
    """The same with diagrams in memory."""
    return _flood(bench, "sqlite", "diagrams")


def store_rows(bench: Bench) -> list[Row]:
    """The database tier by itself."""
    sizes = (
        [2_000] if bench.is_quick else [size for size in (10_000, 100_000, 1_000_000) if size <= bench.count]
    )
    return database_rows(bench.rounds, bench.seed, sizes)


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "flood": flood_rows,
    "diagrams": diagram_rows,
    "databases": store_rows,
}
