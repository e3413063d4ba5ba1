"""Every filter `like '%word%'` on one attribute: what no order helps with. Reported only."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
import pyarrow as pa

import thatch
from benchmarks.console import note
from benchmarks.contest import Contestant, agree, race
from benchmarks.matching.rows import Row
from benchmarks.matching.session import Session

__all__ = ["wildcard_rows"]

_LETTERS = np.array(list(ascii_lowercase))
_TEXT = 40  # letters of an event
_SHORTEST, _LONGEST = 3, 6
_EVENTS = 32


def wildcard_rows(session: Session) -> list[Row]:
    """Beside Python's own search for every word."""
    sizes = session.sizes
    rng = np.random.default_rng(sizes.seed)
    words = _words(rng, sizes.tenth)
    note(f"loading {len(words):,} filters like '%word%'")
    engine = thatch.Engine()
    rejects = engine.subscribe_many(
        pa.table(
            {
                "subscription": [f"s{row}" for row in range(len(words))],
                "filter": [f"text like '%{word}%'" for word in words],
            }
        )
    )
    assert rejects.num_rows == 0
    texts = ["".join(rng.choice(_LETTERS, _TEXT)) for _ in range(_EVENTS)]
    ours = Contestant(
        name="thatch",
        call=engine.match,
        items=[{"text": text} for text in texts],
        rows=lambda names: np.sort([int(name[1:]) for name in names]),
    )
    plain = Contestant(
        name="Python, word in text",
        call=lambda text: [row for row, word in enumerate(words) if word in text],
        items=texts[:8],
    )
    matches = agree([ours, plain])
    taken = race([ours, plain], rounds=sizes.rounds, floor=sizes.floor)
    return [
        Row(
            what="like '%word%'",
            subscriptions=len(words),
            matches=matches,
            ours=taken[ours.name],
            unit="µs",
            peer=plain.name,
            theirs=taken[plain.name],
            ratio=taken[plain.name] / taken[ours.name],
        )
    ]


def _words(rng: np.random.Generator, count: int) -> list[str]:
    """Different words, in the order they were drawn."""
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(rng.choice(_LETTERS, rng.integers(_SHORTEST, _LONGEST + 1)))] = None
    return list(words)
