"""An event with a list of 1,000 elements beside the same event with one value in its place (W1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.console import note
from benchmarks.contest import Contestant, race
from benchmarks.matching.rows import Row, at_most
from benchmarks.matching.session import Session

__all__ = ["list_rows"]

_ELEMENTS = 1_000
_ATTRIBUTE = "a01"  # the most popular one on which conditions are ranges
_EVENTS = 32


def list_rows(session: Session) -> list[Row]:
    """How many times as long the list takes."""
    sizes, engine = session.sizes, session.w1.engine
    plain = [event for event in session.w1.events if _ATTRIBUTE in event][:_EVENTS]
    rng = np.random.default_rng(sizes.seed)
    listed: list[dict[str, Any]] = [
        {**event, _ATTRIBUTE: rng.uniform(0, 999, _ELEMENTS).tolist()} for event in plain
    ]
    note("comparing an event with a list to one event an element")
    first = listed[0]
    expected = {name for value in first[_ATTRIBUTE] for name in engine.match({**first, _ATTRIBUTE: value})}
    assert set(engine.match(first)) == expected, "a list matches otherwise than its elements"
    taken = race(
        [
            Contestant(name="value", call=engine.match, items=plain),
            Contestant(name="list", call=engine.match, items=listed),
        ],
        rounds=sizes.rounds,
        floor=sizes.floor,
    )
    return [
        Row(
            what="W1, a list of 1,000",
            subscriptions=sizes.count,
            matches=sum(len(engine.match(event)) for event in listed) / len(listed),
            ours=taken["list"],
            unit="µs",
            peer="one value",
            theirs=taken["value"],
            ratio=taken["list"] / taken["value"],
            goal=at_most(50, 20),
        )
    ]
