"""A delta says when it is full, and what it has taken by then stays as it is."""

from __future__ import annotations

from thatch import parse
from thatch.matching.segments.delta import Delta

NUMBERS = {"x": 0, "y": 1, "z": 2, "t": 3}


def test_a_delta_takes_as_many_filters_as_it_holds_and_no_more() -> None:
    delta = Delta(3)
    taken = [delta.add(slot, parse("x = 1"), NUMBERS) for slot in range(4)]
    assert taken == [True, True, True, False]
    assert [delta.slot_of(owner) for owner in range(len(delta))] == [0, 1, 2]


def test_a_delta_takes_as_many_boxes_as_it_holds_and_no_more() -> None:
    delta = Delta(3)
    assert delta.box_room == 6
    assert delta.add(7, parse("x < 1 or y < 2 or z < 3 or t < 4"), NUMBERS)
    assert not delta.add(8, parse("x < 1 or y < 2 or z < 3"), NUMBERS)
    assert delta.add(9, parse("x < 1 or y < 2"), NUMBERS)
    assert not delta.add(10, parse("x < 1"), NUMBERS)
    assert [delta.slot_of(owner) for owner in range(len(delta))] == [7, 9]
