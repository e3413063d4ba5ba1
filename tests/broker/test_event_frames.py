from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st
import pytest
from hypothesis import given

from thatch.broker.event_frames import EventFrame, encode_frame, event_id, why_malformed


def test_events_that_cannot_be_encoded_are_left_out_and_named() -> None:
    frame, refused = encode_frame("feed", 5, [{"x": 1}, {"x": object()}, {"x": 2}, 7])
    assert (frame.numbers, frame.events()) == ((5, 7), [{"x": 1}, {"x": 2}])
    assert [each.number for each in refused] == [6, 8]
    assert frame.ids() == ["feed#5", "feed#7"] == [event_id("feed", each) for each in frame.numbers]


@given(st.lists(st.integers(1, 40), min_size=1, unique=True).map(sorted), st.integers(0, 41), st.data())
def test_a_selection_keeps_numbers_and_rows(numbers: Sequence[int], last: int, data: st.DataObject) -> None:
    frame = EventFrame("feed", tuple(numbers), tuple(b"%d" % each for each in numbers))
    places = data.draw(st.lists(st.sampled_from(range(len(numbers))), unique=True).map(sorted))
    chosen = frame.select(places)
    assert chosen.publisher == "feed"
    assert list(zip(chosen.numbers, chosen.rows, strict=True)) == [
        (numbers[place], b"%d" % numbers[place]) for place in places
    ]
    assert list(frame.after(last).numbers) == [each for each in numbers if each > last]
    assert frame.size == sum(len(str(each)) for each in numbers)


def test_all_of_a_frame_is_the_frame_itself() -> None:
    frame, _ = encode_frame("feed", 1, [{}, {}])
    assert frame.select([0, 1]) is frame
    assert frame.after(0) is frame


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        ((1, 2), ""),
        ((1, 2**63 - 1), ""),
        ((1, 1), "a frame whose numbers do not grow"),
        ((2, 1), "a frame whose numbers are none"),
        ((0, 1), "a frame whose numbers are none"),
        ((1, 2**63), "a frame whose numbers are none"),
        ((1, 2.0), "a frame whose numbers are none"),
        ((True, 2), "a frame whose numbers are none"),
        ((1,), "a frame that cannot be read"),
        ((), "a frame that cannot be read"),
        ([1, 2], "a frame that cannot be read"),
    ],
)
def test_a_frame_that_makes_no_sense_is_told(numbers: tuple[int, ...], reason: str) -> None:
    assert why_malformed(EventFrame("feed", numbers, (b"\x80", b"\x80"))) == reason
