"""`Engine.any` and `Engine.count` beside `Engine.match`, on the same events (W1)."""

from __future__ import annotations

from benchmarks.console import note
from benchmarks.contest import Contestant, race
from benchmarks.matching.rows import Row, at_most
from benchmarks.matching.session import Session

__all__ = ["question_rows"]

_EVENTS = 256


def question_rows(session: Session) -> list[Row]:
    """How many times as long as `match` the other questions take: neither may take longer, but for noise."""
    sizes, engine, events = session.sizes, session.w1.engine, session.w1.events[:_EVENTS]
    matches = [len(engine.match(event)) for event in events]
    assert matches == [engine.count(event) for event in events]
    assert [count > 0 for count in matches] == [engine.any(event) for event in events]
    note("comparing any and count to match")
    calls = {"match": engine.match, "any": engine.any, "count": engine.count}
    contestants = [Contestant(name=name, call=call, items=events) for name, call in calls.items()]
    taken = race(contestants, rounds=sizes.rounds, floor=sizes.floor)
    return [
        Row(
            what=f"W1, {name}",
            subscriptions=sizes.count,
            matches=sum(matches) / len(matches),
            ours=taken[name],
            unit="µs",
            peer="match",
            theirs=taken["match"],
            ratio=taken[name] / taken["match"],
            goal=at_most(1.1, 1.0),
        )
        for name in ("any", "count")
    ]
