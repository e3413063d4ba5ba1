"""Trees multiplied out: they mean what the tree means, and depend on nothing else."""

from __future__ import annotations

import pickle
from itertools import combinations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.strategies import conditions, events, expressions, schemas
from thatch.errors import EventError, FilterError, FilterTooLargeError, NeverMatchesError
from thatch.model.events import read_event
from thatch.model.expressions import And, Exists, Expression, In, Not, Or, Unlike
from thatch.model.factoring import factor
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.language.text import expression_of_text
from thatch.model.matching import holds
from thatch.model.multiplying import multiplied_out
from thatch.model.normalise import normalise
from thatch.model.tree_matching import holds_on_tree
from thatch.model.tree_printing import tree_text
from thatch.model.wildcards import wildcard

optional_schemas = st.none() | schemas
# Groups of alternatives that are about several attributes: many filters of them are printed as trees, some of them just.
groups = st.lists(
    st.lists(st.one_of(conditions(), expressions), min_size=2, max_size=4).map(tuple).map(Or),
    min_size=3,
    max_size=4,
).map(tuple)
_REPEATED = (Or((In("a", (1,)), In("b", (1,)), In("c", (1,)))),) * 8  # 6,561 alternatives, or three


def accepted(expression: Expression, schema=None) -> Filter:
    try:
        return Filter.of(expression, schema)
    except FilterError:
        assume(False)


def conjunctions_of(tree, schema):
    try:
        return multiplied_out(tree, schema)
    except NeverMatchesError:
        return ()
    except FilterTooLargeError:
        assume(False)


@given(expressions, optional_schemas, events)
def test_conjunctions_mean_what_their_tree_means(expression, schema, event):
    try:
        tree, record = factor(expression, schema), read_event(event, schema)
    except (EventError, FilterError):
        assume(False)
    found = conjunctions_of(tree, schema)
    assert any(holds(each, record) for each in found) == holds_on_tree(tree, record)


@given(expressions, optional_schemas)
def test_a_printed_tree_is_multiplied_out_to_the_same_conjunctions(expression, schema):
    made = accepted(expression, schema)
    again = parse(tree_text(made.tree, schema), schema)
    assert conjunctions_of(again.tree, schema) == conjunctions_of(made.tree, schema)


@example(_REPEATED, None)
@given(groups, optional_schemas)
def test_filters_of_many_alternatives_are_equal_however_they_are_written(parts, schema):
    made = accepted(And(parts), schema)
    printed = tree_text(made.tree, schema) if made.is_factored else str(made)
    same = [made, parse(printed, schema), parse(str(made), schema), pickle.loads(pickle.dumps(made))]
    same.append(accepted(And(tuple(Or(each.children[::-1]) for each in reversed(parts))), schema))
    for each in same:
        assert each == made
        assert hash(each) == hash(made)
        assert str(each) == str(made)


@given(expressions, expressions, optional_schemas)
def test_equal_filters_have_equal_hashes(first, second, schema):
    """With absorption, a filter is often equal to one that says more."""
    some = [
        accepted(each, schema) for each in (first, Or((first, And((first, second)))), Or((second, first)))
    ]
    for one, other in combinations(some, 2):
        assert (one == other) == (other == one)
        assert one != other or hash(one) == hash(other)


def test_few_alternatives_that_are_written_many_times_are_few():
    with pytest.raises(FilterTooLargeError):
        normalise(And(_REPEATED))
    made = Filter.of(And(_REPEATED))
    assert not made.is_factored
    assert made == Filter.of(_REPEATED[0])
    assert {made, Filter.of(_REPEATED[0]), parse(str(made))} == {made}


def test_what_may_be_missing_counts_twice():
    """Missing has no form: an attribute that may be missing or of no such form is two alternatives."""

    def absent(number: int) -> Expression:
        return Or((Not(Exists(f"k{number}")), Unlike(f"k{number}", wildcard("%a%"))))

    few, many = (Filter.of(And(tuple(map(absent, range(count))))) for count in (4, 8))
    assert (few.alternatives, len(few.conjunctions), few.is_factored) == (16, 16, False)
    assert (many.alternatives, many.is_factored) == (256, True)
    assert expression_of_text(str(many)) != expression_of_text(str(few))
    assert parse(str(many)) == many
