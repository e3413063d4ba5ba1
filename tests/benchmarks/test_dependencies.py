"""Which predicates imply which: the minimal table and the sorted chains say what the definition says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.diagrams.dependencies import DependencyTable, Side, SortedChains, holds_side

WAYS = [DependencyTable, SortedChains]

_sides = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda ends: (min(ends), max(ends)))


@st.composite
def _histories(draw: st.DrawFn) -> list[tuple[int, Side]]:
    """Variables with their sides; one that comes a second time goes."""
    sides = draw(st.lists(_sides, unique=True, max_size=12))
    return [*enumerate(sides), *((number, sides[number]) for number in draw(_some_of(len(sides))))]


def _some_of(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, count - 1), unique=True) if count else st.just([])


@pytest.mark.parametrize("way", WAYS)
@given(history=_histories())
def test_every_pair_of_predicates_is_related_as_the_definition_says(
    way: type[DependencyTable | SortedChains], history: list[tuple[int, Side]]
) -> None:
    known, live = way(), {}
    for variable, side in history:
        if live.pop(variable, None) is None:
            known.add(variable, side)
            live[variable] = side
        else:
            known.remove(variable)
        for each, its in live.items():
            assert known.covering(each) == {other for other in live if holds_side(live[other], its)}
            assert known.covered(each) == {other for other in live if holds_side(its, live[other])}


@given(_histories())
def test_no_dependency_of_the_table_follows_from_others(history: list[tuple[int, Side]]) -> None:
    table, live = DependencyTable(), {}
    for variable, side in history:
        if live.pop(variable, None) is None:
            table.add(variable, side)
            live[variable] = side
        else:
            table.remove(variable)
    for narrow, wide in table.dependencies:
        between = set(live) - {narrow, wide}
        assert not any(
            holds_side(live[wide], live[each]) and holds_side(live[each], live[narrow]) for each in between
        )


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2), (2, 3, 1)])
def test_the_paper_s_three_prices_have_two_dependencies(order: tuple[int, ...]) -> None:
    """li2005, section 4.4: price >= 10, >= 8 and >= 5."""
    table = DependencyTable()
    for variable in order:
        table.add(variable, ({1: 10, 2: 8, 3: 5}[variable], 1_000))
    assert table.dependencies == [(1, 2), (2, 3)]
    table.remove(2)
    assert table.dependencies == [(1, 3)]
