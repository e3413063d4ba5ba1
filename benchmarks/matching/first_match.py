"""The first match of a process: with nothing compiled yet, and with the kernels of an earlier process on disk."""

from __future__ import annotations

import tempfile

from benchmarks.child import ask
from benchmarks.console import note
from benchmarks.matching.rows import Goal, Row, at_most
from benchmarks.matching.session import Session

__all__ = ["first_match_rows"]

_COUNT = 1_000  # subscriptions
_CHILD = "benchmarks.matching.first_match_child"


def first_match_rows(session: Session) -> list[Row]:
    """Seconds from `import thatch` done to the first answer; of the second kind the best of several processes."""
    request = {"count": _COUNT, "seed": session.sizes.seed}
    with tempfile.TemporaryDirectory() as folder:
        environment = {"NUMBA_CACHE_DIR": folder}
        note("first match with an empty cache of kernels")
        empty = ask(_CHILD, request, environment)
        note("first match with a full one")
        full = [ask(_CHILD, request, environment) for _ in range(session.sizes.rounds)]
    best = min(full, key=lambda each: each["seconds"])
    return [
        _row("first match, empty cache", empty, at_most(5)),
        _row("first match, full cache", best, at_most(0.3)),
    ]


def _row(what: str, found: dict[str, float], goal: Goal) -> Row:
    return Row(
        what=what,
        subscriptions=_COUNT,
        ours=found["seconds"],
        unit="s",
        goal=goal,
        details={"second match µs": found["second"] * 1e6},
    )
