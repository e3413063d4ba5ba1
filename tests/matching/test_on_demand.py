"""Parts of a search that are compiled apart: without the closer look at a box, what is not sure is verified."""

from __future__ import annotations

import numpy as np
import pytest

from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.records import PARTS, VERDICTS
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text

FILTERS = [
    *(f"x >= {number} and x <= {number + 3}" for number in range(40)),
    "x = 5 and y = 'a'",
    "y like '%b%'",
    "o.p = 1 and o.q = 2",
]
EVENTS = [
    {"x": 5},
    {"x": [5, 20], "y": ["a", "b"]},
    {"x": list(range(12)), "y": "abc"},
    {"o": [{"p": 1, "q": 3}, {"p": 2, "q": 2}]},
    {"o": [{"p": 1, "q": 2}]},
]


def _index() -> SegmentIndex:
    index = SegmentIndex()
    index.extend({slot: Filter.of(expression_of_text(text)) for slot, text in enumerate(FILTERS)})
    return index


def test_without_the_closer_look_matches_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [read_event(event) for event in EVENTS]
    closer = _index()
    expected = [closer.match(event) for event in events]
    assert PARTS.addresses[VERDICTS] != 0
    monkeypatch.setattr(PARTS, "load", lambda *parts: None)
    without = np.where(np.arange(len(PARTS.addresses)) == VERDICTS, 0, PARTS.addresses)
    monkeypatch.setattr(PARTS, "addresses", without)
    coarse = _index()
    assert [coarse.match(event) for event in events] == expected
    assert coarse.stats()["verified"] > closer.stats()["verified"]
    assert sum(map(len, expected)) > 10
