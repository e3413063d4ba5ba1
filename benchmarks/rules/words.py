"""A hundred thousand filters `like '%word%'` on one attribute."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
import pyarrow as pa

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most, times_faster
from benchmarks.rules.corpus import Bench, microseconds

__all__ = ["word_rows"]

_LETTERS = np.array(list(ascii_lowercase))
_TEXT = 40  # letters of an event
_SHORTEST, _LONGEST = 3, 6
_EVENTS = 512
_FILTERS = 100_000


def word_rows(bench: Bench) -> list[Row]:
    """Beside Python's own search for every word."""
    rng = np.random.default_rng(bench.seed)
    words = _words(rng, 1_000 if bench.is_quick else _FILTERS)
    note(f"loading {len(words):,} filters like '%word%'")
    engine = thatch.Engine(background=False)
    names = [f"s{row}" for row in range(len(words))]
    rejects = engine.subscribe_many(
        pa.table({"subscription": names, "filter": [f"text like '%{word}%'" for word in words]})
    )
    assert rejects.num_rows == 0
    texts = ["".join(rng.choice(_LETTERS, _TEXT)) for _ in range(_EVENTS)]
    events = [{"text": text} for text in texts]
    for text, event in zip(texts[:8], events, strict=False):
        assert engine.match(event) == [name for name, word in zip(names, words, strict=True) if word in text]
    matches = sum(len(engine.match(event)) for event in events) / len(events)
    engine.compact()  # lays out by what was counted
    ours = microseconds(engine.match, events, bench.rounds)
    theirs = microseconds(lambda text: [row for row, word in enumerate(words) if word in text], texts[:8], 2)
    row = Row(
        what="like '%word%'",
        subscriptions=len(words),
        matches=matches,
        ours=ours,
        unit="µs",
        goal=at_most(50, 15),
    )
    return [row, times_faster(row, "Python, word in text", theirs)]


def _words(rng: np.random.Generator, count: int) -> list[str]:
    """Different words, in the order they were drawn."""
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(rng.choice(_LETTERS, rng.integers(_SHORTEST, _LONGEST + 1)))] = None
    return list(words)
