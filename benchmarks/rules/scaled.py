"""Many times as many rules: the same ones with other letters in their texts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

import pyarrow as pa

import thatch
from benchmarks.console import note
from benchmarks.matching.rows import Row, at_most
from benchmarks.rules.corpus import Bench, microseconds
from thatch.model.tree_printing import tree_text

__all__ = ["scaled_rows"]

# Bounds stay as they are: two of them would have to change together.
_TEXT = re.compile(r"([<>]=? |between '(?:[^']|'')*' and )?(!?~ )?'((?:[^']|'')*)'")
_ADDRESSES = "ip("  # what compares them is there once
_LETTER = re.compile(r"(?<!\\)[a-z0-9]")
_WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{4,}")  # of a regular expression: nothing but letters
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_COMMON = 0.01  # share of events; rules that match more often are there once
_KEPT = 0.5  # of the texts that events have, in each copy
_CHUNK = 20_000
_EVENTS = 1_500


def scaled_rows(bench: Bench) -> list[Row]:
    """How long an event takes, and building."""
    engine, built = thatch.Engine(background=False), 0.0
    copies = _copies(bench)
    while chunk := [*islice(copies, _CHUNK)]:
        built += _subscribe(engine, chunk)
    start = time.process_time()
    bench.settle(engine)
    settled = time.process_time() - start
    events = bench.events[:_EVENTS]
    before = engine.stats().get("candidates", 0)
    matches = sum(len(engine.match(event)) for event in events) / len(events)
    stats = engine.stats()
    tried = (stats.get("candidates", 0) - before) / len(events)  # a small set has no rules
    return [
        Row(
            what=f"{bench.times} times as many rules",
            subscriptions=len(engine),
            matches=matches,
            ours=microseconds(engine.match, events, min(bench.rounds, 3)),
            unit="µs",
            goal=at_most(80, 40) if bench.times == 100 else None,
            details={
                "candidates": tried,
                "bytes a rule": stats.get("bytes_rules", 0) / len(engine),
                "µs to load a rule": built / len(engine) * 1e6,
                "s to merge and learn": settled,
            },
        )
    ]


def _subscribe(engine: thatch.Engine, chunk: list[tuple[str, str]]) -> float:
    """Add rules; the seconds that takes."""
    names, texts = zip(*chunk, strict=True)
    table = pa.table({"subscription": list(names), "filter": list(texts)})
    start = time.process_time()
    rejects = engine.subscribe_many(table)
    taken = time.process_time() - start
    # Other letters may make conditions of a rule exclude each other.
    assert rejects.num_rows <= len(chunk) // 1_000, rejects.slice(0, 9).to_pylist()
    note(f"{len(engine):,} rules loaded")
    return taken


def _copies(bench: Bench) -> Iterator[tuple[str, str]]:
    """All rules, and copies of those that match seldom."""
    rng = Random(bench.seed)
    some = bench.events[::4]
    counts: dict[str, int] = {}
    for event in some:
        for identity in bench.engine.match(event):
            counts[identity] = counts.get(identity, 0) + 1
    seen = "\n".join({value.lower() for event in some for value in event.values() if type(value) is str})
    forms: dict[str, _Form] = {}
    texts = {identity: tree_text(filter.tree, filter.schema) for identity, filter in bench.filters.items()}
    yield from texts.items()
    seldom = [
        identity
        for identity, text in texts.items()
        if counts.get(identity, 0) <= _COMMON * len(some) and _ADDRESSES not in text
    ]
    for turn in range(1, bench.times):
        copy = _Copy(seen, forms, rng)
        for identity in seldom:
            changed = copy.of(texts[identity])
            if changed != texts[identity]:
                yield f"{identity}/{turn}", changed


class _Form(NamedTuple):
    """Where a text has letters to replace, and whether events have it."""

    places: list[int]
    is_known: bool


class _Copy:
    """Replaces two letters in each text, in the same one the same way in all rules."""

    def __init__(self, seen: str, forms: dict[str, _Form], rng: Random) -> None:
        self._seen, self._forms, self._rng = seen, forms, rng
        self._changed: dict[str, str] = {}

    def of(self, rule: str) -> str:
        """The copy of a rule."""
        return _TEXT.sub(self._replace, rule)

    def _replace(self, found: re.Match[str]) -> str:
        bound, is_regex, text = found.groups()
        if bound:
            return found[0]
        if text not in self._changed:
            form = self._forms.get(text)
            if form is None:
                form = self._forms[text] = _form(text, self._seen, is_regex=bool(is_regex))
            letters, rng = list(text), self._rng
            if not form.is_known or rng.random() > _KEPT:
                for place in rng.sample(form.places, min(2, len(form.places))):
                    letters[place] = rng.choice(_LETTERS)
            self._changed[text] = "".join(letters)
        return f"{is_regex or ''}'{self._changed[text]}'"


def _form(text: str, seen: str, *, is_regex: bool) -> _Form:
    if is_regex:
        return _Form([at for word in _WORD.finditer(text) for at in range(*word.span())], is_known=False)
    places = [found.start() for found in _LETTER.finditer(text)]
    return _Form(places, is_known=text.strip("%").replace("\\\\", "\\") in seen)
