from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import expressions
from thatch import parse
from thatch.broker.draw_index import DrawIndex
from thatch.broker.overlap import overlaps
from thatch.errors import FilterError
from thatch.matching import growing, labelled
from thatch.matching.segments.building import tables
from thatch.model.filters import Filter


@dataclass
class Advertisement:
    id: str
    filter: Filter
    link: str
    closed: bool = False


def drawn_filter(data: st.DataObject) -> Filter | None:
    try:
        return Filter.of(data.draw(expressions))
    except FilterError:
        return None


@pytest.mark.parametrize("few", [1, 256])
@given(data=st.data())
def test_a_subscription_is_drawn_to_the_links_of_what_it_overlaps(few: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(growing, "FEW", few)
        index: DrawIndex[str] = DrawIndex()
        held: list[Advertisement] = []
        for number in range(data.draw(st.integers(0, 8))):
            filter = drawn_filter(data)
            if filter is None:
                continue
            made = Advertisement(
                f"a{number}", filter, data.draw(st.sampled_from("abc")), data.draw(st.booleans())
            )
            index.add(made, made.link)
            held.append(made)
        for each in data.draw(st.lists(st.sampled_from(held), unique_by=id)) if held else ():
            index.remove(each)
            held.remove(each)
        for _ in range(3):
            wanted = drawn_filter(data)
            if wanted is None:
                continue
            drawing = {each.link for each in held if overlaps(each.filter, wanted, closed=each.closed)}
            assert index.links(wanted) == drawing
            assert index.links(wanted, ["a", "z"]) == drawing & {"a"}


sides = st.sampled_from(
    ["< 3", "<= 2", "> 2", ">= 3", "= 2", "between 1 and 2", "!= 2", "in (1, 3)", "> 9007199254740993", "= 'a'",
     ">= 'b'", "<= 'ab'", "is null", "is missing", "is not null"]
)  # fmt: skip
boxes = st.dictionaries(st.sampled_from(["x", "y", "lower(x)", "z"]), sides, min_size=1, max_size=4).map(
    lambda box: " and ".join(f"{name} {side}" for name, side in box.items())
)


@pytest.mark.parametrize("codes", [8, 65_535])
@given(advertised=st.lists(st.tuples(boxes, st.booleans()), max_size=8), wanted=boxes)
def test_boxes_draw_what_they_overlap_without_a_closer_look(
    codes: int, advertised: list[tuple[str, bool]], wanted: str
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(labelled, "_FEW", 0)
        patched.setattr(tables, "_CODES", codes)
        index: DrawIndex[int] = DrawIndex()
        held: list[Advertisement] = []
        try:
            asked = parse(wanted)
            for number, (text, closed) in enumerate(advertised):
                held.append(Advertisement(f"a{number}", parse(text), str(number), closed=closed))
        except FilterError:
            return
        for number, each in enumerate(held):
            index.add(each, number)
            settle(index)
        assert index.links(asked) == {
            number for number, each in enumerate(held) if overlaps(each.filter, asked, closed=each.closed)
        }


def settle(index: DrawIndex[int]) -> None:
    """Lay out what was added so far in segments."""
    assert index._index is not None
    growing_index = index._index._index
    growing_index.grow()
    index._index._index = growing_index.renumber(np.arange(100))


def test_only_advertisements_that_may_overlap_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "_FEW", 10)
    index: DrawIndex[str] = DrawIndex()
    made = [
        Advertisement(
            f"a{number}",
            parse(
                f"x between {10 * number} and {10 * number + 5} and kind = 'k{number % 3}' and text like '%a%b'"
            ),
            f"link {number % 20}",
            closed=number % 2 == 0,
        )
        for number in range(400)
    ]
    for each in made:
        index.add(each, each.link)
    looked_at = []

    def seen(advertised: Filter, wanted: Filter, *, closed: bool = False) -> bool:
        looked_at.append(advertised)
        return overlaps(advertised, wanted, closed=closed)

    monkeypatch.setattr("thatch.broker.draw_index.overlaps", seen)
    assert index.links(parse("x = 1234 and kind = 'k0'")) == {"link 3"}
    assert len(looked_at) == 1
    assert index.links(parse("x = 1234 and kind = 'k1'")) == set()
    assert index.links(parse("x = 1244 and other = 1")) == set()  # it is closed, and does not give that
    assert len(looked_at) == 1
    assert len(index.links(parse("x > 0"))) == 20
    assert len(looked_at) <= 21
