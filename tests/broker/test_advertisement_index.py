from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.encoded import packed, unpacked
from tests.strategies import events, expressions
from thatch import parse
from thatch.broker.advertisement_index import AdvertisementIndex
from thatch.broker.event_codec import EncodedEvent
from thatch.broker.overlap import allows
from thatch.errors import EventError, FilterError
from thatch.matching import growing, labelled
from thatch.model.events import read_event
from thatch.model.filters import Filter


@dataclass
class Advertisement:
    id: str
    filter: Filter
    closed: bool = False


def drawn_index(data: st.DataObject) -> tuple[AdvertisementIndex, list[Advertisement]]:
    index, held = AdvertisementIndex(), []
    for number, (expression, closed) in enumerate(
        data.draw(st.lists(st.tuples(expressions, st.booleans()), max_size=6))
    ):
        try:
            made = Advertisement(f"a{number}", Filter.of(expression), closed)
        except FilterError:
            continue
        index.add(made)
        held.append(made)
    for each in data.draw(st.lists(st.sampled_from(held), unique_by=id)) if held else ():
        index.remove(each)
        held.remove(each)
    return index, held


@pytest.mark.parametrize("few", [1, 256])
@given(data=st.data())
def test_rows_are_allowed_and_expected_as_the_definitions_say(few: int, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.tuples(events, st.booleans()), min_size=1, max_size=10))
    rows = [packed(event, wide=is_wide) for event, is_wide in drawn]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(growing, "FEW", few)
        patched.setattr(labelled, "_FEW_ROWS", few)
        index, held = drawn_index(data)
        allowed = index.allowed(rows, lambda row: EncodedEvent(rows[row], None))
        expected = index.expected(rows, lambda row: EncodedEvent(rows[row], None))
    for row, content in enumerate(rows):
        try:
            record = read_event(unpacked(content))
        except EventError:
            assert row in allowed.refused or not held or row in allowed.rows
            assert row in expected.refused or not held or row in expected.rows
            continue
        assert row not in allowed.refused
        assert (row in allowed.rows) == any(allows(each.filter, record, closed=each.closed) for each in held)
        assert (row in expected.rows) == any(each.filter.holds(record) for each in held)


def test_what_allows_everything_needs_no_search() -> None:
    index = AdvertisementIndex()
    rows = [packed({"x": 1}), b"no event"]

    def never(row: int) -> EncodedEvent:
        raise AssertionError(row)

    everything = [Advertisement("a", parse("true")), Advertisement("b", parse("x = 1 or true"))]
    for each in everything:
        index.add(each)
    for each in everything:
        assert index.allowed(rows, never) == index.expected(rows, never) == ([0, 1], {})
        index.remove(each)
    assert index.allowed(rows, never) == index.expected(rows, never) == ([], {})
    index.add(Advertisement("a", parse("true"), closed=True))
    found = index.allowed(rows[:1], lambda row: EncodedEvent(rows[row], None))
    assert found == ([], {})  # it names no attribute


def test_slots_that_are_no_longer_used_are_given_up() -> None:
    index = AdvertisementIndex()
    made = [
        Advertisement(f"a{number}", parse(f"x = {number}"), closed=number % 2 == 0) for number in range(5_000)
    ]
    for number, each in enumerate(made):
        index.add(each)
        if number >= 3:
            index.remove(made[number - 3])
    assert index._next < 2_000
    rows = [packed({"x": number}) for number in range(4_990, 5_000)]
    assert index.allowed(rows, lambda row: EncodedEvent(rows[row], None)).rows == [7, 8, 9]
    others = [packed({"x": number, "y": 1}) for number in range(4_990, 5_000)]
    assert index.allowed(others, lambda row: EncodedEvent(others[row], None)).rows == [
        7,
        9,
    ]  # those that are open
