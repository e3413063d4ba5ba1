"""The pieces that segments are built of do what their plain definitions say."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from math import inf, nan, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.matching.kernels import run_number_cell, run_text_cell, run_wide_code
from tests.strategies import EDGE_NUMBERS, expressions, plain_expressions, schemas
from thatch import parse
from thatch.errors import FilterError
from thatch.matching.segments.building import tables as tables_module
from thatch.matching.segments.building.layout import selectivity
from thatch.matching.segments.building.ranked import Ranked
from thatch.matching.segments.building.tables import CutTables, sorted_distinct
from thatch.matching.segments.columns import NUMBER, TEXT, Sides, Texts
from thatch.matching.segments.delta import Delta
from thatch.matching.segments.draft import ColumnBuilder
from thatch.matching.segments.kernels.building import kd_order
from thatch.matching.segments.kernels.search import find_owner
from thatch.matching.segments.records import ALIVE
from thatch.matching.segments.segment import Segment
from thatch.model.filters import Filter
from thatch.model.lines import point

PREFIX = b"begins alike"  # longer than the eight bytes that are compared at once
words = st.one_of(
    st.binary(max_size=3),
    st.binary(max_size=12).map(lambda tail: PREFIX + tail),
    st.integers(0, 20).map(lambda size: b"\0" * size),
    st.integers(0, 20).map(lambda size: b"\xff" * size),
    st.sampled_from([PREFIX[:8], PREFIX[:7], PREFIX[:8] + b"\0", PREFIX + b"\0" * 8, PREFIX * 3, b""]),
)
doubles = st.one_of(
    st.sampled_from([-0.0, 0.0, inf, -inf, 5e-324, 1e308, -1e308, 1.7e308]),
    st.floats(allow_nan=False),
    st.integers(-9, 9).map(float),
)
Held = dict[int, Filter]
Boxes = list[tuple[int, list[tuple[int, Any, Any]]]]  # slot, and attribute, lower and upper cut of each side


def held_of(drawn: list[Any], schema: Any = None) -> Held:
    held = {}
    for slot, expression in enumerate(drawn):
        try:
            held[2 * slot] = Filter.of(expression, schema)
        except FilterError:
            continue
    return held


filters = st.one_of(st.lists(expressions, max_size=8), st.lists(plain_expressions, max_size=8)).map(held_of)


def sides_of(held: Held, number: dict[str, int]) -> Sides:
    draft = ColumnBuilder()
    for slot, each in held.items():
        assert draft.add(slot, each, number)
    return draft.sides()


# --- texts -----------------------------------------------------------------------------------------------------------


@given(st.lists(words))
def test_texts_are_sorted_by_their_bytes(texts: list[bytes]) -> None:
    distinct, position = sorted_distinct(Texts.of(texts))
    wanted = sorted(set(texts))
    assert [distinct[each] for each in range(len(distinct))] == wanted
    assert position.tolist() == [wanted.index(text) for text in texts]


@given(st.lists(st.lists(words), min_size=1, max_size=4), st.data())
def test_texts_are_taken_and_joined_as_lists_are(parts: list[list[bytes]], data: st.DataObject) -> None:
    joined = Texts.join([Texts.of(part) for part in parts])
    flat = [text for part in parts for text in part]
    assert [joined[each] for each in range(len(joined))] == flat
    chosen = data.draw(st.lists(st.integers(0, len(flat) - 1))) if flat else []
    taken = joined.take(np.array(chosen, np.int64))
    assert [taken[each] for each in range(len(taken))] == [flat[each] for each in chosen]


# --- cells -------------------------------------------------------------------------------------------------------------


def table_of(numbers: list[list[float]], texts: list[list[bytes]]) -> CutTables:
    return CutTables.of(
        np.arange(len(numbers), dtype=np.int32),
        np.cumsum([0, *map(len, numbers)]),
        np.array([number for each in numbers for number in each], np.float64),
        np.cumsum([0, *map(len, texts)]),
        Texts.of([text for each in texts for text in each]),
    )


def cell(values: list[Any], value: Any) -> int:
    """Twice the number of smaller values, and one more on a value."""
    at = bisect_left(values, value)
    return 2 * at + (at < len(values) and values[at] == value)


number_lists = st.lists(
    st.one_of(st.sets(doubles, max_size=40), st.sets(st.integers(-50, 50).map(float))).map(sorted),
    min_size=1,
    max_size=3,
)


@given(number_lists, st.lists(doubles, min_size=1))
def test_a_number_is_in_the_cell_that_counting_finds(numbers: list[list[float]], values: list[float]) -> None:
    tables = table_of(numbers, [[] for _ in numbers])
    assert tables.cells().tolist() == [7 + 2 * len(each) for each in numbers]
    for local, own in enumerate(numbers):
        at, grid_at = tables.number_at[local : local + 2], tables.grid_at[local : local + 2]
        for value in [*values, *own, *(nextafter(each, inf) for each in own)]:
            found = run_number_cell(
                tables.numbers, *at, tables.grid, *grid_at, tables.grid_scale[local], float(value)
            )
            assert found == 5 + cell(own, value)


@given(st.lists(st.sets(words).map(sorted), min_size=1, max_size=3), st.lists(words, min_size=1))
def test_a_text_is_in_the_cell_that_counting_finds(texts: list[list[bytes]], values: list[bytes]) -> None:
    tables = table_of([[] for _ in texts], texts)
    for local, own in enumerate(texts):
        for value in [*values, *own, *(each + b"\0" for each in own), *(each[:-1] for each in own)]:
            blob = np.frombuffer(b"??" + value, np.uint8)
            found = run_text_cell(
                tables.text_keys, tables.text_offsets, tables.text_blob, *tables.text_at[local : local + 2], blob, 2, len(value)
            )  # fmt: skip
            assert found == cell(own, value)


@pytest.mark.parametrize("most", [8, 15, 65_535])
def test_codes_are_cells_shifted_until_they_are_few(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "_CODES", most)
    for size in range(20):
        tables = table_of([[float(each) for each in range(size)], []], [[], [b"a"]])
        for cells, shift in zip(tables.cells().tolist(), tables.shifts.tolist(), strict=True):
            assert cells >> shift < most
            assert shift == 0 or cells >> (shift - 1) >= most


LINE: list[tuple[int, float, bytes]] = [
    *((kind, 0.0, b"") for kind in range(4)), (4, nan, b""),
    *((5, number, b"") for number in sorted({*map(float, EDGE_NUMBERS), 0.0, 1.0, 1.5, 2.0, 100.0, -0.5})),
    *((6, 0.0, text) for text in sorted([b"", b"\0", b"a", b"a\0", b"aa", b"ab", "é".encode(), "\U0010ffff".encode(), b"z"])),
]  # fmt: skip


@given(
    st.lists(
        st.one_of(
            doubles.map(lambda each: (5, each, b"")), st.text().map(lambda each: (6, 0.0, each.encode()))
        )
    )
)
def test_coarse_codes_rise_along_the_line(more: list[tuple[int, float, bytes]]) -> None:
    line = sorted([*LINE, *more], key=lambda each: (each[0], each[1] if each[0] == 5 else 0.0, each[2]))
    codes = [
        int(run_wide_code(kind, number, np.frombuffer(text + b"?", np.uint8), 0, len(text)))
        for kind, number, text in line
    ]
    assert codes == sorted(codes)
    assert codes[:5] == [0, 1, 2, 3, 4]
    assert 0 <= min(codes) <= max(codes) < 65_535
    kinds = dict(zip(codes, (kind for kind, _, _ in line), strict=True))
    assert all(kinds[code] == kind for code, (kind, _, _) in zip(codes, line, strict=True))


# --- ranks ---------------------------------------------------------------------------------------------------------------


def cut_of(tables: CutTables, which: int, rank: int) -> tuple[Any, ...]:
    """The cut of a rank, by the list at the top of `tables.py`."""
    numbers = tables.numbers[tables.number_at[which] : tables.number_at[which + 1]].tolist()
    texts = [tables.texts()[each] for each in range(tables.text_at[which], tables.text_at[which + 1])]
    cuts: list[tuple[Any, ...]] = [(kind,) for kind in range(6)]
    cuts += [(NUMBER, number, side) for number in numbers for side in (0, 1)] + [(6,)]
    cuts += [(TEXT, text, side) for text in texts for side in (0, 1)] + [(7,)]
    return cuts[rank]


def boxes_of(ranked: Ranked) -> Boxes:
    """Every box as its owner's slot and its exact sides."""
    boxes = []
    for box, owner in enumerate(ranked.owner.tolist()):
        sides = []
        for side in range(ranked.offsets[box], ranked.offsets[box + 1]):
            which = int(ranked.attribute[side])
            ends = (int(ranked.low[side]), int(ranked.high[side]) + 1)
            cuts = [cut_of(ranked.tables, which, end) for end in ends]
            sides.append((int(ranked.tables.attributes[which]), cuts[0], cuts[1]))
        boxes.append((int(ranked.slot[owner]), sides))
    return boxes


def boxes_of_sides(sides: Sides) -> Boxes:
    def cut(kind: int, value: float) -> tuple[Any, ...]:
        if kind >= TEXT:
            return (TEXT, sides.texts[int(value)], kind - TEXT)
        return (NUMBER, value, kind - NUMBER) if kind >= NUMBER else (kind,)

    return [
        (int(sides.slot[owner]), [
            (int(sides.attribute[side]), cut(int(sides.lo_kind[side]), float(sides.lo_value[side])), cut(int(sides.hi_kind[side]), float(sides.hi_value[side])))
            for side in range(sides.offsets[box], sides.offsets[box + 1])
        ])
        for box, owner in enumerate(sides.owner.tolist())
    ]  # fmt: skip


def others_of(ranked: Ranked) -> dict[int, tuple[Any, ...]]:
    """By slot: whether it is verified, its source and its checks by attribute."""
    sources = {owner: ranked.sources[number] for number, owner in enumerate(ranked.sourced.tolist())}
    checks: dict[int, list[tuple[int, bytes]]] = {}
    for box, owner in enumerate(ranked.owner.tolist()) if len(ranked.check_at) else ():
        checks.setdefault(owner, []).extend(
            (int(ranked.tables.attributes[ranked.check_attribute[check]]), ranked.programs[check])
            for check in range(ranked.check_at[box], ranked.check_at[box + 1])
        )
    return {
        slot: (bool(ranked.verify[owner]), sources.get(owner), checks.get(owner, []))
        for owner, slot in enumerate(ranked.slot.tolist())
    }


@given(filters, filters, st.data())
def test_ranks_keep_exact_cuts_through_merges_and_deaths(
    first: Held, second: Held, data: st.DataObject
) -> None:
    number: dict[str, int] = {"nobody": 0}
    parts: list[Ranked] = []
    boxes: list[Any] = []
    others: dict[int, Any] = {}
    for held in (first, {slot + 1: each for slot, each in second.items()}):
        sides = sides_of(held, number)
        ranked = Ranked.of(sides)
        assert boxes_of(ranked) == boxes_of_sides(sides)
        dead = np.array(data.draw(st.lists(st.booleans(), min_size=len(held), max_size=len(held))), np.bool_)
        left = ranked.without(dead)
        gone = {slot for slot, is_dead in zip(held, dead, strict=True) if is_dead}
        assert boxes_of(left) == [box for box in boxes_of(ranked) if box[0] not in gone]
        assert others_of(left) == {slot: each for slot, each in others_of(ranked).items() if slot not in gone}
        parts.append(left)
        boxes += boxes_of(left)
        others |= others_of(left)
    merged = Ranked.merge(parts)
    assert boxes_of(merged) == boxes
    assert {slot: each[:2] for slot, each in others_of(merged).items()} == {
        slot: each[:2] for slot, each in others.items()
    }
    assert {p: e[2] for p, e in others_of(merged).items() if e[2]} == {
        p: e[2] for p, e in others.items() if e[2]
    }
    assert_has_only_used_cuts(merged, boxes)


def assert_has_only_used_cuts(ranked: Ranked, boxes: Boxes) -> None:
    tables = ranked.tables
    checked = tables.attributes[ranked.check_attribute].tolist()
    assert tables.attributes.tolist() == sorted(
        {*(each for _, sides in boxes for each, _, _ in sides), *checked}
    )
    for which, attribute in enumerate(tables.attributes.tolist()):
        cuts = {cut for _, sides in boxes for each, *pair in sides if each == attribute for cut in pair}
        numbers = tables.numbers[tables.number_at[which] : tables.number_at[which + 1]].tolist()
        texts = [tables.texts()[each] for each in range(tables.text_at[which], tables.text_at[which + 1])]
        assert numbers == sorted({cut[1] for cut in cuts if cut[0] == NUMBER})
        assert texts == sorted({cut[1] for cut in cuts if cut[0] == TEXT})


@example({0: parse(f"x = {2**53 + 1} and y > 5")})  # no double is that: its cells are none
@given(filters)
def test_a_side_lets_through_between_nothing_and_all_of_its_attribute(held: Held) -> None:
    ranked = Ranked.of(sides_of(held, {}))
    shares = selectivity(ranked.tables, ranked.attribute, ranked.low, ranked.high)
    for share, low in zip(shares.tolist(), ranked.low.tolist(), strict=True):
        assert share == 2.0 if low == 0 else 0 <= share <= 1


# --- order -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 3), st.integers(0, 700), st.integers(0, 9), st.integers(1, 1_000))
@example(2, 700, 0, 1)  # all alike
def test_boxes_are_ordered_and_none_is_lost(keys: int, count: int, seed: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, values, (keys, count)).astype(np.float32)
    order = np.arange(count, dtype=np.int32)
    kd_order(centres, np.ones((keys, count), np.float32), order)
    assert sorted(order.tolist()) == list(range(count))
    if keys == 1:  # runs of 64 do not overlap
        runs = [centres[0, order[at : at + 64]] for at in range(0, count, 64)]
        assert all(before.max() <= after.min() for before, after in pairwise(runs))


# --- segments and deltas -------------------------------------------------------------------------------------------


@given(st.data())
def test_a_segment_gives_its_filters_back(data: st.DataObject) -> None:
    schema = data.draw(schemas)
    held = held_of(data.draw(st.lists(expressions, min_size=1, max_size=8)), schema)
    if not held:
        return
    number: dict[str, int] = {}
    segment = Segment.build(Ranked.of(sides_of(held, number)))
    again = Segment.from_arrays({name: array.copy() for name, array in segment.arrays().items()})
    dead = data.draw(st.sampled_from(sorted(held)))
    segment.remove(segment.find(dead), 5)
    reopened = Segment.from_arrays(segment.arrays())
    assert (segment.dead, reopened.dead, again.dead) == (1, 1, 0)
    for each in (segment, again, reopened):
        for slot, filter in held.items():
            owner = each.find(slot)
            if slot == dead and each is not again:
                assert owner == -1
                continue
            assert each.slot_of(owner) == slot
            assert each.filter(owner, list(number), schema) == filter
        assert each.find(1) == each.find(10**9) == -1
    for name, array in again.arrays().items():
        np.testing.assert_array_equal(
            array, getattr(again, name, getattr(again.tables, name, None)), err_msg=name
        )


@given(filters, st.data())
def test_a_delta_ranks_what_lives_as_a_draft_does(held: Held, data: st.DataObject) -> None:
    number: dict[str, int] = {}
    delta = Delta(20)
    for slot, each in held.items():
        assert delta.add(slot, each, number)
    gone = data.draw(st.sets(st.sampled_from(sorted(held)))) if held else set()
    for slot in gone:
        delta.remove(delta.find(slot), 3)
        assert delta.find(slot) == -1
    ranked = delta.to_ranked()
    left = {slot: each for slot, each in held.items() if slot not in gone}
    wanted = Ranked.of(sides_of(left, number))
    assert boxes_of(ranked) == boxes_of(wanted)
    assert others_of(ranked) == others_of(wanted)


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.booleans())), st.integers(-1, 8))
def test_the_living_owner_of_a_slot_is_found(drawn: list[tuple[int, bool, bool]], slot: int) -> None:
    alive: dict[int, int] = {}
    claims: npt.NDArray[np.uint32] = np.zeros(len(drawn), np.uint32)
    died: npt.NDArray[np.int64] = np.full(len(drawn), 7, np.int64)
    for owner, (own, verify, is_alive) in enumerate(drawn):
        is_first = is_alive and own not in alive
        if is_first:
            alive[own] = owner
            died[owner] = ALIVE
        claims[owner] = 2 * own + verify
    by_slot = np.argsort(claims, kind="stable").astype(np.int32)
    assert find_owner(claims, died, by_slot, slot) == alive.get(slot, -1)


def test_the_line_of_coarse_codes_is_the_line_of_the_model() -> None:
    points: list[Any] = [
        point(value) for value in (None, False, True, nan, -inf, -1, 0, 2.5, inf, "", "a", "b")
    ]
    assert points == sorted(points)
    assert [each[0] for each in points] == [1, 2, 3, 4, 5, 5, 5, 5, 5, 6, 6, 6]
