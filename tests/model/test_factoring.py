"""Factored trees: they mean what the expression means, print so that they come back, and stay as small as what was written."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import thatch
from tests.strategies import events, expressions, schemas
from thatch.errors import EventError, FilterError, NeverMatchesError
from thatch.matching import reference
from thatch.model.events import read_event
from thatch.model.expressions import And, Compare, In, Matches, Not, Or
from thatch.model.factoring import factor, tree_of
from thatch.model.filters import Filter
from thatch.model.language import parse
from thatch.model.normalise import normalise
from thatch.model.tree_covering import tree_covers
from thatch.model.tree_matching import holds_on_tree
from thatch.model.tree_printing import tree_text
from thatch.model.trees import ALWAYS, NEVER, AllOf, AnyOf, ValueTest, count_alternatives, leaves_of
from thatch.model.wildcards import wildcard

optional_schemas = st.none() | schemas


def made(make, *arguments):
    """What a function gives, if it does not refuse: a `not in` with values of several types, or what never matches."""
    try:
        return make(*arguments)
    except (EventError, FilterError):
        assume(False)


@given(expressions, optional_schemas, events)
def test_a_tree_means_what_its_expression_means(expression, schema, event):
    tree, record = made(factor, expression, schema), made(read_event, event, schema)
    assert holds_on_tree(tree, record) == reference.matches(expression, event, schema)


@given(expressions, optional_schemas)
def test_the_tree_of_a_printed_tree_is_the_same_tree(expression, schema):
    tree = made(factor, expression, schema)
    assume(tree not in (NEVER, ALWAYS))
    assert made(parse, tree_text(tree, schema), schema).tree == tree


@given(expressions, optional_schemas, events)
def test_the_tree_of_a_normal_form_means_the_same(expression, schema, event):
    form, record = made(normalise, expression, schema), made(read_event, event, schema)
    tree = tree_of(form.conjunctions, schema)
    assert holds_on_tree(tree, record) == reference.matches(expression, event, schema)


@given(expressions, expressions, optional_schemas, events)
def test_what_one_tree_is_seen_to_contain_of_another_it_matches(outer, inner, schema, event):
    record = made(read_event, event, schema)
    outside, inside = made(factor, Or((outer, inner)), schema), made(factor, And((inner, outer)), schema)
    assert tree_covers(inside, inside, schema)
    assert tree_covers(outside, NEVER, schema)
    for one, other in ((outside, inside), (factor(outer, schema), factor(inner, schema))):
        if tree_covers(one, other, schema):
            assert holds_on_tree(one, record) or not holds_on_tree(other, record)


@given(expressions, optional_schemas)
def test_a_tree_is_never_larger_than_what_was_written(expression, schema):
    assert sum(1 for _ in leaves_of(made(factor, expression, schema))) <= 4 * _size(expression)


def _size(expression):
    if isinstance(expression, (And, Or)):
        return sum(map(_size, expression.children))
    return _size(expression.child) if isinstance(expression, Not) else 1


def test_what_is_listed_of_one_attribute_is_one_test():
    listed = parse("x like '%a%' or x = 5 or x like '%b' or x in ('c', 'd') or x is missing")
    (leaf,) = leaves_of(listed.tree)
    assert {each.text for each in leaf.patterns} == {"%a%", "%b"}
    assert (
        leaf.constraint == parse("x is missing or x = 5 or x in ('c', 'd')").conjunctions[0].constraints[0][1]
    )


def test_what_is_excluded_of_one_attribute_is_one_test():
    excluding = parse("x is missing or not (x like '%a%' or x like '%b') and x is distinct from 'c'")
    (leaf,) = leaves_of(parse("x is missing or x is unlike '%a%' and x is unlike '%b'").tree)
    assert leaf.negated
    assert leaf == ValueTest("x", leaf.constraint, frozenset(map(wildcard, ("%a%", "%b"))), negated=True)
    assert excluding.matches({"x": "d"})
    assert not excluding.matches({"x": "eat"})


def test_an_alternative_that_the_conditions_beside_it_exclude_is_dropped():
    narrowed = parse("x > 5 and (x < 3 and y = 1 or z = 2)")
    assert narrowed.tree == parse("x > 5 and z = 2").tree


def test_an_alternative_that_holds_anyway_makes_its_group_superfluous():
    assert parse("x > 5 and (x > 5 or y = 1)").tree == parse("x > 5").tree
    assert parse("x = 1 or x = 1 and y = 2").tree == parse("x = 1").tree


@pytest.mark.parametrize(
    "text", ["lower(x) like 'A_'", "reverse(lower(x)) like 'A_a'", "reverse(lower(x)) like '_A'"]
)
def test_a_pattern_that_folded_text_never_begins_with_is_refused_as_its_normal_form_is(text):
    with pytest.raises(NeverMatchesError, match="case-folded"):
        thatch.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(a = 1 or b = 1) and (a = 2 or c = 1) and b = 2 and c = 2",
        "(lower(x) = 'a' or y = 1) and x = 'B' and y = 2",
        "x in ('a', 'b') and (x like '%c%' or x like '%d%')",
    ],
)
def test_a_filter_none_of_whose_alternatives_can_hold_is_refused(text):
    with pytest.raises(NeverMatchesError):
        parse(text)


def test_alternatives_of_many_attributes_are_not_multiplied_out():
    groups = [
        Or(tuple(Matches(f"k{group}_{n}", wildcard(f"%word{n}%")) for n in range(10))) for group in range(30)
    ]
    large = Filter.of(And(tuple(groups)))
    assert count_alternatives(large.tree) == prod([10] * 30)
    assert sum(1 for _ in leaves_of(large.tree)) == 300
    assert large.is_factored
    assert large.matches({f"k{group}_3": "a word3 b" for group in range(30)})
    assert not large.matches({f"k{group}_3": "a word3 b" for group in range(29)})
    assert parse(str(large)) == large
    assert hash(parse(str(large))) == hash(large)
    assert large.covers(Filter.of(And((*groups, Compare("z", "=", 1)))))
    assert not large.covers(Filter.of(And(tuple(groups[1:]))))


def test_equal_factored_filters_are_equal_in_whatever_order_they_are_written():
    groups = [Or(tuple(In(f"k{group}_{n}", (1, n)) for n in range(5))) for group in range(6)]
    assert Filter.of(And(tuple(groups))) == Filter.of(And(tuple(reversed(groups))))
    assert isinstance(Filter.of(And(tuple(groups))).tree, AllOf)
    assert all(isinstance(each, AnyOf) for each in Filter.of(And(tuple(groups))).tree.children)


def test_an_explanation_of_a_factored_filter_shows_each_group_as_one_condition():
    groups = [Or((Compare(f"a{n}", "=", 1), Compare(f"b{n}", ">", 7))) for n in range(9)]
    told = Filter.of(And(tuple(groups))).explain({"a0": 1, "b1": 9, "a2": [0, 1]})
    assert not told
    assert [each.holds for each in told.alternatives[0].findings].count(True) == 3
    assert "a0 = 1 or b0 > 7  saw 1, missing" in str(told)


def test_no_text_ends_an_attribute_that_is_declared_to_have_none():
    schema = thatch.Schema({"x": thatch.Decimal(maximum=0.1, places=2)})
    refused = ["x like '%a'", "not (reverse(x) like 'a%' or y = 1)", "x not like '%a' and y = 1"]
    for text in (*refused, "not (x is unlike '%a')"):
        with pytest.raises(NeverMatchesError, match=r"x: its conditions exclude each other|no value of x"):
            thatch.parse(text, schema)
    filter = thatch.parse("x is unlike '%a' and y = 1", schema)
    assert [filter.matches(each) for each in ({"x": 0.05, "y": 1}, {"y": 1})] == [True, False]
