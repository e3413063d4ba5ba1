"""Covering: one walk beside two, and beside two phases without diagrams; and which predicates cover which."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.console import note
from benchmarks.diagrams.bench import MICRO, Bench, timed_in_turn
from benchmarks.diagrams.dependencies import DependencyTable, Side, SortedChains, holds_side
from benchmarks.diagrams.kernels import two_phases
from benchmarks.diagrams.workload import SETS, Subscriptions
from benchmarks.matching.rows import Row, at_least, at_most
from benchmarks.reduction.streams import zipf_stream
from thatch.reduction.diagrams import find_covers
from thatch.reduction.index import BoxIndex

__all__ = ["covering_rows", "dependency_rows", "pair_rows"]

_SCAN = "two phases, groups by axes, no diagrams"
_SHARES = {
    "A": (24, 26),
    "B": (55, 56),
}  # kept, in percent: of the paper, and of the measurements it is judged by


def covering_rows(bench: Bench) -> list[Row]:
    """Microseconds for a subscription that is given as arrays: find who covers it and whom it covers, put in, take out."""
    rows = []
    for name in SETS:
        some = bench.drawn(name, bench.size(200_000))
        note(f"covering, {len(some):,} subscriptions, set {name}")
        taken, is_active = _covered(some, bench.rounds)
        is_goal = name in _SHARES
        ours = taken["one"] / len(some) * MICRO
        common: dict[str, Any] = {"subscriptions": len(some), "unit": "µs", "ours": ours}
        rows += [
            Row(
                what=f"covering in one walk, set {name}",
                peer=_SCAN,
                theirs=taken["scan"] / len(some) * MICRO,
                ratio=taken["scan"] / taken["one"],
                goal=at_least(1.5) if is_goal else None,
                **common,
            ),
            Row(
                what=f"covering in one walk, set {name}",
                peer="the same diagrams, two walks",
                theirs=taken["two"] / len(some) * MICRO,
                ratio=taken["two"] / taken["one"],
                **common,
            ),
            Row(what=f"covering insert, set {name}", goal=at_most(5) if is_goal else None, **common),
        ]
        if is_goal:
            rows.append(_share_row(name, is_active))
    some = bench.drawn("A", bench.size(1_000_000))
    note(f"covering, {len(some):,} subscriptions, set A")
    taken, _ = _covered(some, 1)
    ours = taken["one"] / len(some) * MICRO
    rows.append(
        Row(what="covering insert, set A", subscriptions=len(some), ours=ours, unit="µs", goal=at_most(60))
    )
    return rows


def _covered(some: Subscriptions, rounds: int) -> tuple[dict[str, float], Any]:
    """Seconds by way, and who is left."""
    boxes = some.boxes
    columns = (boxes.offsets, boxes.axes, boxes.lows, boxes.highs)

    def scan() -> Any:
        is_active = np.zeros(len(boxes), np.bool_)
        two_phases(*columns, is_active)
        return is_active

    ways = {
        "one": lambda: find_covers(boxes) < 0,
        "two": lambda: find_covers(boxes, phases=2) < 0,
        "scan": scan,
    }
    taken, answers = timed_in_turn(ways, rounds)
    for name, answer in answers.items():
        assert np.array_equal(answer, answers["one"]), f"{name} keeps others"
    return taken, answers["one"]


def _share_row(name: str, is_active: Any) -> Row:
    least, most = _SHARES[name]
    share = 100 * float(is_active.mean())
    return Row(
        what=f"points from {least}-{most} % kept under covering, set {name}",
        subscriptions=len(is_active),
        ours=max(least - share, share - most, 0.0),
        unit="",
        goal=at_most(3),
        details={"kept, %": share},
    )


def pair_rows(bench: Bench) -> list[Row]:
    """The same microseconds beside the index of boxes behind `Pairwise`, which withdraws nothing: where diagrams suit."""
    count = bench.size(20_000)
    streams = {f"set {name}": bench.drawn(name, count).boxes for name in _SHARES}
    for axes, form, exponent in ((3, "scattered", 0.5), (6, "power law", 1.5)):
        stream = zipf_stream(count, axes, form, exponent, bench.seed)
        streams[f"jafarpour2008, {stream.name}"] = stream.boxes
    rows = []
    for name, boxes in streams.items():
        note(f"diagrams beside the index of boxes, {name}")
        ways = {
            "diagrams": lambda b=boxes: find_covers(b),
            "index": lambda b=boxes: BoxIndex().stream(b, pairwise_only=True),
        }
        taken, answers = timed_in_turn(ways, bench.rounds)
        rows.append(
            Row(
                what=f"covering in one walk, {name}",
                subscriptions=count,
                ours=taken["diagrams"] / count * MICRO,
                unit="µs",
                peer="index of boxes",
                theirs=taken["index"] / count * MICRO,
                ratio=taken["index"] / taken["diagrams"],
                details={"kept": int((answers["diagrams"] < 0).sum())},
            )
        )
    return rows


def dependency_rows(bench: Bench) -> list[Row]:
    """Microseconds for a predicate: all that cover it and all that it covers, on its attribute, in plain Python."""
    rows = []
    for name in ("A", "B"):
        sides = _predicates(bench.drawn(name, bench.size(200_000)))
        count = sum(map(len, sides.values()))
        note(f"dependencies, {count:,} predicates of set {name}")
        table, chains = ([way() for _ in sides] for way in (DependencyTable, SortedChains))
        building, _ = timed_in_turn(
            {
                "table": lambda s=sides: _added([DependencyTable() for _ in s], s),
                "chains": lambda s=sides: _added([SortedChains() for _ in s], s),
            },
            bench.rounds,
        )
        _added(table, sides)
        _added(chains, sides)
        asking, answers = timed_in_turn(
            {
                "table": lambda s=sides, t=table: _asked(t, s),
                "chains": lambda s=sides, c=chains: _asked(c, s),
                "scan": lambda s=sides: _scanned(s),
            },
            bench.rounds,
        )
        assert answers["table"] == answers["chains"] == answers["scan"], "the ways differ"
        for way, title in (("table", "table of dependencies"), ("chains", "sorted chains")):
            rows.append(
                Row(
                    what=f"which predicates cover which, {title}, set {name}",
                    subscriptions=count,
                    ours=asking[way] / count * MICRO,
                    unit="µs",
                    peer="all of the attribute compared",
                    theirs=asking["scan"] / count * MICRO,
                    ratio=asking["scan"] / asking[way],
                    details={
                        "to add one, µs": building[way] / count * MICRO,
                        "related, each": answers[way] / count,
                        **(
                            {"dependencies": sum(len(each.dependencies) for each in table)}
                            if way == "table"
                            else {}
                        ),
                    },
                )
            )
    return rows


_Way = DependencyTable | SortedChains
_Sides = dict[int, dict[int, Side]]  # by axis, then by variable


def _predicates(some: Subscriptions) -> _Sides:
    boxes = some.boxes
    rows = np.unique(np.column_stack((boxes.axes, boxes.lows, boxes.highs)), axis=0)
    sides: _Sides = {}
    order = np.random.default_rng(0).permutation(len(rows))
    for variable, (axis, low, high) in enumerate(rows[order].tolist()):
        sides.setdefault(axis, {})[variable] = (low, high)
    return sides


def _added(ways: list[Any], sides: _Sides) -> None:
    for way, some in zip(ways, sides.values(), strict=True):
        for variable, side in some.items():
            way.add(variable, side)


def _asked(ways: list[Any], sides: _Sides) -> int:
    return sum(
        len(way.covering(variable)) + len(way.covered(variable))
        for way, some in zip(ways, sides.values(), strict=True)
        for variable in some
    )


def _scanned(sides: _Sides) -> int:
    return sum(
        len({each for each, other in some.items() if holds_side(other, side)})
        + len({each for each, other in some.items() if holds_side(side, other)})
        for some in sides.values()
        for side in some.values()
    )
