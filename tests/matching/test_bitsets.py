"""Bitsets answer as the reference does, are made where statistics tell that they pay, and keep to their memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch import Engine
from thatch.matching import reference
from thatch.matching.problem import AccessHints, Spread
from thatch.matching.segments import SegmentIndex, bitsets
from thatch.matching.segments.bitsets import Bitsets
from thatch.matching.segments.segment import Segment
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.model.lines import point
from thatch.workloads import generate

NAMES = ("a", "b", "c", "d")
WIDE = [f"a{number:02}" for number in range(10)]  # the attributes of W3
bounds = st.one_of(st.integers(-2, 6), st.sampled_from([0.5, 2.5, 1e300, -1e300]))
words = st.sampled_from(["", "a", "ab", "b", "é"])
conditions = st.one_of(
    st.builds("{{0}} >= {}".format, bounds),
    st.builds("{{0}} < {}".format, bounds),
    st.builds("{{0}} between {} and 1e301".format, bounds),
    st.builds("{{0}} >= '{}'".format, words),
    st.sampled_from(["{0} is missing", "{0} is null", "{0} = 2"]),
)
boxes = st.lists(
    st.dictionaries(st.sampled_from(NAMES), conditions, min_size=1).map(
        lambda sides: " and ".join(condition.format(name) for name, condition in sides.items())
    ),
    min_size=1,
    max_size=90,
)
values = st.one_of(
    bounds, words, st.none(), st.booleans(), st.just(float("nan")), st.lists(bounds, max_size=3)
)
drawn_events = st.lists(
    st.dictionaries(st.sampled_from([*NAMES, "nobody"]), values, max_size=5), min_size=1, max_size=6
)


@pytest.fixture(scope="module", autouse=True)
def _are_made_whenever_they_can_be() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "_FEWEST": 1,
            "_GAIN": 0.0,
            "_LEAST": 0.0,
            "_FEWEST_KEPT": 1,
            "MOST_BYTES": 10**6,
        }.items():
            patch.setattr(bitsets, name, value)
        yield


@pytest.fixture
def _as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "_FEWEST": 8_192,
        "_GAIN": 1.5,
        "_LEAST": 2_000.0,
        "_FEWEST_KEPT": 8,
        "MOST_BYTES": 256,
    }.items():
        monkeypatch.setattr(bitsets, name, value)


@cache
def wide() -> dict[int, Filter]:
    """Ten thousand boxes that let most events through."""
    return dict(enumerate(generate("W3", 10_000, 1, 3).filters()))


as_they_are = pytest.mark.usefixtures("_as_they_are")


@given(texts=boxes, events=drawn_events, data=st.data())
def test_bitsets_match_what_the_reference_matches(
    texts: list[str], events: list[dict[str, Any]], data: st.DataObject
) -> None:
    held = dict(enumerate(map(expression_of_text, texts)))
    index = SegmentIndex()
    index.extend({slot: Filter.of(each) for slot, each in held.items()})
    for slot in data.draw(st.sets(st.sampled_from(sorted(held)), max_size=5)):
        index.remove(slot)
        del held[slot]
    for event in events:
        wanted = [slot for slot, expression in held.items() if reference.matches(expression, event)]
        record = read_event(event)
        assert index.match(record) == wanted
        assert index.any(record) == bool(wanted)
        assert index.view.match_plain(event, np.ndarray.tolist) in (None, wanted)


@pytest.mark.slow
def test_many_boxes_are_swept_and_no_block_is_read() -> None:
    workload = generate("W3", 3_000, 40, 3)
    held = dict(enumerate(map(expression_of_text, workload.filter_texts())))
    index = SegmentIndex()
    index.extend({slot: Filter.of(each) for slot, each in held.items()})
    found = [index.match(read_event(event)) for event in workload.events()]
    assert index.stats()["bitset_segments"] == 1
    assert index.stats()["blocks"] == 0
    assert index.stats()["candidates"] == index.stats()["matches"] == sum(map(len, found)) > 1_000
    for event, slots in zip(workload.events()[:4], found, strict=False):
        assert slots == [slot for slot, each in held.items() if reference.matches(each, event)]


@pytest.mark.slow
@as_they_are
@pytest.mark.parametrize(("name", "segments"), [("W3", 1), ("W1", 0), ("W2-3D", 0)])
def test_statistics_tell_where_they_pay(name: str, segments: int) -> None:
    index = SegmentIndex()
    index.extend(wide() if name == "W3" else dict(enumerate(generate(name, 10_000, 1, 3).filters())))
    stats = index.stats()
    assert stats["bitset_segments"] == segments
    assert bool(stats["bytes_bitsets"]) == bool(segments)
    assert stats["bytes_bitsets"] <= bitsets.MOST_BYTES * 10_000


@as_they_are
def test_where_events_lie_decides_if_it_is_known() -> None:
    nowhere = Spread({point(-5): 1.0})  # below every side: no block is ever read
    index = SegmentIndex(hints=AccessHints(dict.fromkeys(WIDE, nowhere)))
    index.extend(wide())
    assert index.stats()["bitset_segments"] == 0


@pytest.mark.slow
@as_they_are
def test_with_too_many_attributes_for_the_memory_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bitsets, "MOST_BYTES", 80)
    index = SegmentIndex()
    index.extend(wide())
    assert index.stats()["bitset_segments"] == 0
    assert index.stats()["bytes_bitsets"] == 0


@pytest.mark.slow
def test_expected_blocks_are_those_that_searches_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = bitsets.blocks_of_an_event
    monkeypatch.setattr(
        bitsets, "blocks_of_an_event", lambda *given: seen.append(real(*given).sum()) or np.zeros(1)
    )
    index = SegmentIndex(hints=AccessHints(dict.fromkeys(WIDE, _uniform())))
    index.extend(wide())
    for event in generate("W3", 1, 200, 3).events():
        index.match(read_event(event))
    assert index.stats()["blocks"] / 200 == pytest.approx(seen[0], rel=0.1)


def _uniform() -> Spread:
    """Every integer from 0 to 999 as often as any other."""
    return Spread({point(number): 0.001 for number in range(1_000)})


def test_a_saved_engine_has_its_bitsets_when_it_is_opened(tmp_path: Path) -> None:
    workload = generate("W3", 2_000, 20, 4)
    texts = workload.filter_texts()
    engine = Engine()
    engine.subscribe_many(
        pa.table({"subscription": [str(number) for number in range(len(texts))], "filter": texts})
    )
    answers = [engine.match(event) for event in workload.events()]
    engine.save(tmp_path / "wide.thatch")
    opened = Engine.open(tmp_path / "wide.thatch")
    assert opened.stats()["bitset_segments"] == 1
    assert [opened.match(event) for event in workload.events()] == answers
    assert opened.stats()["blocks"] == 0


def test_columns_of_a_time_before_bitsets_are_a_segment_without() -> None:
    index = SegmentIndex()
    index.extend(dict(enumerate(generate("W3", 200, 1, 4).filters())))
    (columns,) = index.arrays()[1]
    assert len(Segment.from_arrays(columns).bitsets) == 10
    older = {name: array for name, array in columns.items() if not name.startswith("bitset_")}
    assert len(Segment.from_arrays(older).bitsets) == 0
    assert Bitsets.none().nbytes == 0
