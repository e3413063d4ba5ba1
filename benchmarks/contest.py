"""Several ways to answer the same events: first they must agree, then they are timed in turn.

Rounds go round: every contestant once, then every contestant again, so that a busy minute of the machine hits them
all. The figure of each is its best pass over its events, wall clock. Slow contestants get fewer of the events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Contestant", "Rows", "agree", "latencies", "race"]

Rows: TypeAlias = npt.NDArray[np.integer[Any]]
_SETS_COMPARED = 4  # events whose rows are compared; counts are compared for all


def _alone(answer: Any) -> list[Any]:
    return [answer]


def _as_rows(found: Any) -> Rows:
    return np.sort(np.asarray(found, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A way to answer events.

    Parameters
    ----------
    name : who it is
    call : what is timed: an item in, an answer out
    items : an event each, or a batch of events each; events in the same order for all contestants
    events : how many events an item has
    split : what an answer found for each of its events, as something that has a length
    rows : the subscriptions in what was found for one event, by row, in order
    """

    name: str
    call: Callable[[Any], Any]
    items: Sequence[Any]
    events: int = 1
    split: Callable[[Any], Sequence[Any]] = _alone
    rows: Callable[[Any], Rows] = _as_rows


def agree(contestants: Sequence[Contestant]) -> float:
    """Check that all find the same; matches an event, as the first contestant found them.

    Raises
    ------
    AssertionError
        With the name of the contestant that found something else than the first.
    """
    first, *others = contestants
    counts, sets = _found(first)
    for other in others:
        other_counts, other_sets = _found(other)
        shared = min(len(counts), len(other_counts))
        assert counts[:shared] == other_counts[:shared], f"{other.name} counts otherwise than {first.name}"
        for mine, theirs in zip(sets, other_sets, strict=False):
            assert np.array_equal(mine, theirs), f"{other.name} finds others than {first.name}"
    return float(np.mean(counts))


def _found(contestant: Contestant) -> tuple[list[int], list[Rows]]:
    counts: list[int] = []
    sets: list[Rows] = []
    for item in contestant.items:
        parts = contestant.split(contestant.call(item))
        assert len(parts) == contestant.events, f"{contestant.name} answers for {len(parts)} events"
        counts += map(len, parts)
        sets += map(contestant.rows, parts[: max(0, _SETS_COMPARED - len(sets))])
    return counts, sets


def race(contestants: Sequence[Contestant], *, rounds: int, floor: float = 0.1) -> dict[str, float]:
    """Microseconds an event of every contestant, by name, the best of all passes.

    Parameters
    ----------
    rounds : how often each has its turn
    floor : seconds that a turn lasts at least; a quick contestant makes several passes in them
    """
    best = {each.name: inf for each in contestants}
    for _ in range(rounds):
        for each in contestants:
            best[each.name] = min(best[each.name], _best_pass(each, floor))
    return best


def _best_pass(contestant: Contestant, floor: float) -> float:
    call, items = contestant.call, contestant.items
    best = inf
    ends = time.perf_counter() + floor
    while True:
        started = time.perf_counter()
        for item in items:
            call(item)
        ended = time.perf_counter()
        best = min(best, ended - started)
        if ended >= ends:
            return best / (len(items) * contestant.events) * 1e6


def latencies(call: Callable[[Any], Any], items: Sequence[Any], rounds: int) -> npt.NDArray[np.float64]:
    """Microseconds of every single call, all rounds."""
    clock = time.perf_counter_ns
    taken = np.empty(rounds * len(items))
    at = 0
    for _ in range(rounds):
        for item in items:
            started = clock()
            call(item)
            taken[at] = clock() - started
            at += 1
    return taken / 1e3
