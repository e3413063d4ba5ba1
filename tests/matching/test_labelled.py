"""An event reaches the labels of the filters that the reference matches, and the slots of those that are answered themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import events, expressions
from thatch import parse
from thatch.errors import EventError, FilterError
from thatch.matching import growing, reference
from thatch.matching.labelled import OWN, LabelledIndex, Reached
from thatch.model.events import read_event
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
        assert index.reached_plain(event) in (None, expected(held, event))
        assert index.match(record) == [
            slot for slot, (expression, _) in held.items() if reference.matches(expression, event)
        ]


def test_a_label_is_answered_once_however_many_of_its_filters_match() -> None:
    index = LabelledIndex()
    index.extend(
        {slot: parse(f"x >= {slot}") for slot in range(1_000)}, {slot: slot % 300 for slot in range(1_000)}
    )
    index.add(1_000, parse("x > 7"), OWN)
    assert index.reached(read_event({"x": 9})) == (list(range(10)), [1_000])
    assert index.reached_plain({"x": 5_000}) == (list(range(300)), [1_000])
    assert index.reached_plain({"x": 7}) == (list(range(8)), [])
    assert index.label(301) == 1
