"""Compares several ways to match the same events: first they must agree, then they are timed in turn.

Contestants alternate, so that a busy moment of the machine affects all of them. The result of each is the wall-clock time
of its fastest pass over its events. Slow contestants get fewer events.
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
    """A way to match events.

    Parameters
    ----------
    name : for tables and messages
    call : the timed function, from an item to an answer
    items : events or batches of events; the events are in the same order for all contestants
    events : number of events of an item
    split : the matches of each event in an answer, as something with a length
    rows : the matching subscriptions of one event, as sorted rows
    """

    name: str
    call: Callable[[Any], Any]
    items: Sequence[Any]
    events: int = 1
    split: Callable[[Any], Sequence[Any]] = _alone
    rows: Callable[[Any], Rows] = _as_rows


def agree(contestants: Sequence[Contestant]) -> float:
    """Check that all contestants find the same; returns the mean number of matches per event.

    Raises
    ------
    AssertionError
        If a contestant differs from the first; the message names it.
    """
    first, *others = contestants
    counts, sets = _found(first)
    for other in others:
        other_counts, other_sets = _found(other)
        shared = min(len(counts), len(other_counts))
        assert counts[:shared] == other_counts[:shared], (
            f"{other.name} and {first.name} find different numbers of matches"
        )
        for mine, theirs in zip(sets, other_sets, strict=False):
            assert np.array_equal(mine, theirs), f"{other.name} and {first.name} find different matches"
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
    """Microseconds per event of every contestant, in its fastest pass.

    Parameters
    ----------
    rounds : number of turns of each
    floor : least seconds of a turn; a fast contestant makes several passes
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
    """The microseconds of every call, of all rounds."""
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
