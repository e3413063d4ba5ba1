"""An event reaches the labels of the filters that the reference matches, and the slots of those that are answered themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.encoded import packed, unpacked
from tests.strategies import events, expressions
from thatch import parse
from thatch.errors import EventError, FilterError
from thatch.matching import growing, labelled, reference
from thatch.matching.labelled import OWN, LabelledIndex, Reached, ReachedByRow
from thatch.model.events import Record, read_event
from thatch.model.expressions import Expression
from thatch.model.filters import Filter

LABELS = st.sampled_from([OWN, 0, 1, 2, 63, 64, 200])
Held = dict[int, tuple[Expression, int]]


@pytest.fixture(params=["in Python", "in segments"])
def _where(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(growing, "FEW", 1 if request.param == "in segments" else 10_000)
        yield


def expected(held: Held, event: dict[str, Any]) -> Reached:
    """The definition."""
    matching = {
        slot: label for slot, (expression, label) in held.items() if reference.matches(expression, event)
    }
    labels = sorted({label for label in matching.values() if label != OWN})
    return Reached(labels, sorted(slot for slot, label in matching.items() if label == OWN))


def drawn_index(data: st.DataObject) -> tuple[LabelledIndex, Held]:
    """An index with filters that were added one by one or together, of which some were removed again."""
    index, held = LabelledIndex(), {}
    drawn = st.lists(st.tuples(expressions, LABELS), max_size=8)
    for is_together in (True, False):
        more: dict[int, tuple[Filter, int]] = {}
        for expression, label in data.draw(drawn):
            try:
                more[len(held)] = Filter.of(expression), label
            except FilterError:
                continue
            held[len(held)] = expression, label
        if is_together:
            index.extend(
                {slot: each for slot, (each, _) in more.items()},
                {slot: label for slot, (_, label) in more.items()},
            )
        else:
            for slot, (filter, label) in more.items():
                index.add(slot, filter, label)
    for slot in data.draw(st.sets(st.sampled_from(sorted(held)))) if held else ():
        index.remove(slot)
        del held[slot]
    return index, held


class Encoded:
    """An event from its row."""

    def __init__(self, row: bytes) -> None:
        self.plain: dict[str, Any] = unpacked(row)

    @property
    def record(self) -> Record:
        return read_event(self.plain)


@pytest.mark.usefixtures("_where")
@given(data=st.data())
def test_an_event_reaches_what_the_definition_says(data: st.DataObject) -> None:
    index, held = drawn_index(data)
    for event in data.draw(st.lists(events, min_size=1, max_size=4)):
        try:
            record = read_event(event)
        except EventError:
            continue
        assert index.reached(record) == expected(held, event)
        assert index.match(record) == [
            slot for slot, (expression, _) in held.items() if reference.matches(expression, event)
        ]


@pytest.mark.usefixtures("_where")
@pytest.mark.parametrize("few", [1, 8])
@given(data=st.data())
def test_rows_reach_what_the_definition_says_of_each(few: int, data: st.DataObject) -> None:
    index, held = drawn_index(data)
    rows = [
        packed(event, wide=is_wide)
        for event, is_wide in data.draw(st.lists(st.tuples(events, st.booleans()), max_size=12))
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(labelled, "_FEW_ROWS", few)
        found = index.reached_by_row(rows, lambda row: Encoded(rows[row]))
    labels: dict[int, list[int]] = {}
    slots: list[int] = []
    for row, content in enumerate(rows):
        try:
            event = unpacked(content)
            read_event(event)
        except EventError:
            assert row in found.refused
            continue
        assert row not in found.refused
        wanted = expected(held, event)
        for label in wanted.labels:
            labels.setdefault(label, []).append(row)
        slots += [row << 32 | slot for slot in wanted.slots]
    assert found.labels == labels
    assert found.slots.tolist() == slots


def test_a_label_is_answered_once_however_many_of_its_filters_match() -> None:
    index = LabelledIndex()
    index.extend(
        {slot: parse(f"x >= {slot}") for slot in range(1_000)}, {slot: slot % 300 for slot in range(1_000)}
    )
    index.add(1_000, parse("x > 7"), OWN)
    assert index.reached(read_event({"x": 9})) == (list(range(10)), [1_000])
    assert index.reached(read_event({"x": 5_000})) == (list(range(300)), [1_000])
    assert index.reached(read_event({"x": 7})) == (list(range(8)), [])
    assert index.labels(np.array([300, 301, 1_000])).tolist() == [0, 1, OWN]


def test_filters_are_laid_out_anew_when_there_are_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "_MANY_EVENTS", 100)
    index = LabelledIndex()
    for slot in range(50):
        index.add(slot, parse(f"x > {slot % 5} or t like '%{slot % 3}%'"), slot % 2)
    rows = [packed({"x": number % 6}) for number in range(60)]

    def reached() -> ReachedByRow:
        return index.reached_by_row(rows, lambda row: Encoded(rows[row]))

    before = reached()
    assert index._index.stats().get("segments") is None  # plain Python is enough so far
    for _ in range(3):
        assert reached().labels == before.labels
    assert index._index.stats()["segments"] + index._index.stats()["rule_segments"] == 1
    for slot in range(50):
        index.remove(slot)
        index.add(100 + slot, parse(f"x > {slot % 5} and x < 9"), slot % 2)
    for _ in range(3):
        assert reached().labels == before.labels
    stats = index._index.stats()
    assert (stats["segments"], stats["waiting"], stats["dead"], stats["rules"]) == (1, 0, 0, 0)
