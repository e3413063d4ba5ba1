"""An index that grows from plain Python to segments holds the same filters before and after."""

from __future__ import annotations

import pytest

from thatch import parse
from thatch.matching import growing
from thatch.matching.growing import GrowingIndex
from thatch.model.events import read_event


@pytest.mark.parametrize("few", [100, 4])
def test_what_is_removed_by_an_addition_is_gone_even_if_segments_begin_with_it(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "FEW", few)
    index = GrowingIndex()
    for slot in range(3):
        index.add(slot, parse("x = 1"))
    index.extend({slot: parse("x = 1") for slot in range(2, 8)}, removed=[0, 2])  # 0 has been disabled
    assert index.match(read_event({"x": 1})) == list(range(1, 8))
    assert ("segments" in index.stats()) == (few == 4)
