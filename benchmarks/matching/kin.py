"""W5 (text, wildcards, lists) and W6 (5,000 attributes) beside W1: how many times as long an event takes."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.console import note
from benchmarks.contest import Contestant, agree, race
from benchmarks.matching.measured import percentiles
from benchmarks.matching.rows import Row, at_most, slower_than
from benchmarks.matching.session import Session
from benchmarks.ours import Prepared, single
from benchmarks.peers.scans import numpy_scan
from thatch.workloads import Intervals

__all__ = ["kin_rows"]

_COMPARED = 4  # events
_SAMPLE = 1_000  # subscriptions that must not match, of each event compared
_GOALS = {"W5": at_most(3, 2), "W6": at_most(4, 2)}


def kin_rows(session: Session) -> list[Row]:
    """A row for each; W5 comes from text, which takes long to load."""
    sizes = session.sizes
    base = replace(single(session.w1), name="W1")
    rows = []
    for name, goal in _GOALS.items():
        if name == "W5":
            note("W5 is parsed from text: about 20 s a million")
        prepared = session.prepare(name, sizes.count)
        contestant = replace(single(prepared), name=name)
        matches = _checked(prepared, contestant, sizes.few(_COMPARED))
        taken = race([base, contestant], rounds=sizes.rounds, floor=sizes.floor)
        row = Row(
            what=f"{name} single",
            subscriptions=sizes.count,
            matches=matches,
            ours=taken[name],
            unit="µs",
            details=percentiles(contestant),
            workload=name,
            way="single",
        )
        rows.append(slower_than(row, "W1", taken["W1"], goal))
    return rows


def _checked(prepared: Prepared, contestant: Contestant, events: int) -> float:
    """Matches an event, after the answers were compared with a scan, or for text with the filters themselves."""
    if isinstance(prepared.workload.subscriptions, Intervals):
        return agree([contestant, numpy_scan(prepared.boxes, prepared.points[:events])])
    engine = prepared.engine
    names = list(engine)
    sample = names[:: max(1, len(names) // _SAMPLE)]
    for event in prepared.events[:events]:
        found = set(engine.match(event))
        for name in found.union(sample):
            assert engine.filter(name).matches(event) == (name in found), f"{name} on {event}"
    return agree([contestant])
