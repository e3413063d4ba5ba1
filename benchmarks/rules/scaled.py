"""Many times as many rules: the same ones with other letters in their texts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from random import Random

import pyarrow as pa

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most
from benchmarks.rules.corpus import Bench, microseconds

__all__ = ["scaled_rows"]

_TEXT = re.compile(r"'((?:[^'\\]|\\.|'')*)'")
_LETTER = re.compile(r"(?<!\\)[a-z0-9]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_COMMON = 0.01  # share of events; rules that match more often are there once
_KEPT = 0.5  # of the texts that events have, in each copy
_CHUNK = 20_000
_EVENTS = 1_500


def scaled_rows(bench: Bench) -> list[Row]:
    """How long an event takes, and building."""
    engine = thatch.Engine(background=False)
    start = time.process_time()
    chunk: list[tuple[str, str]] = []
    for each in _copies(bench):
        chunk.append(each)
        if len(chunk) == _CHUNK:
            _subscribe(engine, chunk)
            chunk = []
    _subscribe(engine, chunk)
    bench.settle(engine)
    built = time.process_time() - start
    events = bench.events[:_EVENTS]
    matches = sum(len(engine.match(event)) for event in events) / len(events)
    taken = microseconds(engine.match, events, min(bench.rounds, 3))
    stats = engine.stats()
    return [
        Row(
            what=f"{bench.times} times as many rules",
            subscriptions=len(engine),
            matches=matches,
            ours=taken,
            unit="µs",
            goal=at_most(80, 40) if bench.times == 100 else None,
            details={"MB": stats.get("bytes_rules", 0) / 1e6, "µs to load a rule": built / len(engine) * 1e6},
        )
    ]


def _subscribe(engine: thatch.Engine, chunk: list[tuple[str, str]]) -> None:
    if chunk:
        names, texts = zip(*chunk, strict=True)
        rejects = engine.subscribe_many(pa.table({"subscription": list(names), "filter": list(texts)}))
        assert rejects.num_rows == 0, rejects.slice(0, 1).to_pylist()
        note(f"{len(engine):,} rules loaded")


def _copies(bench: Bench) -> Iterator[tuple[str, str]]:
    """All rules, and copies of those that match seldom."""
    rng = Random(bench.seed)
    some = bench.events[::4]
    counts: dict[str, int] = {}
    for event in some:
        for identity in bench.engine.match(event):
            counts[identity] = counts.get(identity, 0) + 1
    seen = "\n".join({value.lower() for event in some for value in event.values() if type(value) is str})
    known: dict[str, bool] = {}
    texts = {identity: str(filter) for identity, filter in bench.filters.items()}
    yield from texts.items()
    seldom = [identity for identity in texts if counts.get(identity, 0) <= _COMMON * len(some)]
    for turn in range(1, bench.times):
        memo: dict[str, str] = {}
        for identity in seldom:
            changed = _TEXT.sub(
                lambda found, memo=memo: _changed(found[1], seen, known, memo, rng), texts[identity]
            )  # type: ignore[misc]
            yield f"{identity}/{turn}", changed


def _changed(text: str, seen: str, known: dict[str, bool], memo: dict[str, str], rng: Random) -> str:
    """A quoted text with two letters replaced, the same one the same way in all rules of a copy."""
    if text not in memo:
        if text not in known:
            known[text] = text.strip("%").replace("\\\\", "\\") in seen
        memo[text] = text
        if not known[text] or rng.random() > _KEPT:
            places = [found.start() for found in _LETTER.finditer(text)]
            letters = list(text)
            for place in rng.sample(places, min(2, len(places))):
                letters[place] = rng.choice(_LETTERS)
            memo[text] = "".join(letters)
    return f"'{memo[text]}'"
