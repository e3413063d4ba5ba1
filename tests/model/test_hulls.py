"""A hull holds all that its conjunctions hold, and can be said as text."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests import strategies as make
from thatch import parse
from thatch.errors import FilterError
from thatch.model.events import read_event
from thatch.model.expressions import And, Compare, Constant, Distinct, Or
from thatch.model.filters import Filter
from thatch.model.hulls import Hull, coarsen
from thatch.model.lines import TOP, above, around, below, contains, covers, intervals, point, union
from thatch.model.matching import holds


def filters_of(expressions, schema):
    made = []
    for each in expressions:
        try:
            made.append(Filter.of(each, schema))
        except FilterError:
            continue
    return made


def hull_of(*texts, most=8):
    conjunctions = [each for text in texts for each in parse(text).conjunctions]
    hull = Hull(conjunctions[0], most)
    for each in conjunctions[1:]:
        hull.add(each)
    return str(Filter((hull.conjunction(),), None, ()))


@example([Compare("x", "=", True), Compare("x", "<", 0), Compare("x", ">", 5)], None, 1, [{"x": 2}])
@example([Distinct("x", 5), Or((Compare("x", "=", 5), Compare("x", "=", "a")))], None, 1, [{"x": 5}])
@given(
    st.lists(make.expressions, min_size=1, max_size=5),
    make.schemas,
    st.integers(1, 4),
    st.lists(make.events, min_size=1, max_size=5),
)
def test_every_event_that_a_conjunction_holds_on_the_hull_and_its_text_hold_on(
    expressions, schema, most, events
):
    made = filters_of(expressions, schema)
    conjunctions = [each for filter in made for each in filter.conjunctions]
    assume(conjunctions)
    hull = Hull(conjunctions[0], most)
    for each in conjunctions:
        hull.add(each)
    found = hull.conjunction(schema)
    again = parse(str(Filter((found,), schema, ())), schema)
    for event in events:
        try:
            record = read_event(event, schema)
            wanted = any(holds(each, record) for each in conjunctions)
        except ValueError:
            continue
        if wanted:
            assert holds(found, record)
            assert again.matches(event)


def test_only_attributes_that_all_constrain_are_constrained():
    assert hull_of("a = 1 and b = 2", "a = 3 and c = 4") == "a in (1, 3)"


def test_a_hull_of_conjunctions_with_nothing_in_common_holds_everything():
    assert hull_of("a = 1", "b = 2") == "true"


def test_residual_checks_are_left_out():
    assert hull_of("a like 'x%y%'", "a like 'x%z%'") == "a like 'x%'"


def test_values_are_kept_one_by_one_until_there_are_too_many():
    assert hull_of("a = 1", "a = 2", "a = 10", most=3) == "a in (1, 2, 10)"
    assert hull_of("a = 1", "a = 2", "a = 10", most=2) == "(a = 10 or a between 1 and 2)"


def test_texts_that_share_most_are_joined_first():
    assert (
        hull_of("a = 'IBM'", "a = 'IBN'", "a = 'SAP'", most=2) == "(a = 'SAP' or a between 'IBM' and 'IBN')"
    )


def test_a_hull_knows_what_it_would_lose():
    hull = Hull(parse("a = 1 and b = 2").conjunctions[0], 8)
    assert (len(hull), hull.count_lost(parse("a = 5").conjunctions[0])) == (2, 1)


def test_intervals_are_united_on_the_way_when_there_are_many():
    texts = [f"a = {number}" for number in range(0, 200, 2)]
    hull = Hull(parse(texts[0]).conjunctions[0], 4)
    for text in texts:
        hull.add(parse(text).conjunctions[0])
    ((_, constraint),) = hull.conjunction().constraints
    assert len(constraint) <= 8
    assert all(contains(constraint, point(number)) for number in range(0, 200, 2))


@given(st.lists(make.values.filter(lambda value: value == value), min_size=1, max_size=12), st.integers(1, 4))
def test_coarsening_holds_what_was_held_and_never_more_of_the_other_types(values, most):
    constraint = union(around(point(value)) for value in values)
    coarse = coarsen(constraint, most)
    assert covers(coarse, constraint)
    assert set(coarse) <= set(constraint)
    assert contains(coarse, (4,)) == contains(constraint, (4,))  # NaN
    for rank in (5, 6):
        assert sum(1 for low, _ in intervals(coarse) if low[0] == rank) <= most


@pytest.mark.parametrize("most", [1, 2])
def test_a_gap_between_numbers_and_texts_stays(most):
    constraint = union([(below(1), above(1)), (below("a"), TOP), (below(True), above(True))])
    assert coarsen(constraint, most) == constraint


def test_a_constraint_that_holds_everything_is_none():
    everything = Filter.of(And((Constant(True),))).conjunctions[0]
    assert Hull(everything, 4).conjunction().constraints == ()
    assert hull_of("a is missing", "exists(a)") == "true"
