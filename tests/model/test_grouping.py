"""Plain conditions gathered by attribute give the tree that they give one by one."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.strategies import conditions, expressions
from thatch.errors import FilterError, FilterTooLargeError
from thatch.model import factoring
from thatch.model.expressions import And, Compare, Exists, Expression, In, Matches, Not, Or
from thatch.model.factoring import MAX_LEAVES, factor
from thatch.model.grouping import Alternatives, Requirements
from thatch.model.language.text import expression_of_text
from thatch.model.regexes import regex
from thatch.model.trees import NEVER
from thatch.model.wildcards import wildcard

keys = st.sampled_from(
    ["x", "x", "y", "lower(x)", "lower(y)", "reverse(x)", "reverse(lower(x))", '"a)"', 'lower("a)")']
)
values = st.one_of(
    st.sampled_from(
        ["", "a", "A", "b", "ab", "É", 0, 1, 2, -1, 0.5, float("inf"), float("-inf"), 2**53, True, False]
    ),
    st.text("ab", max_size=3),
    st.integers(-5, 5),
)
operators = st.sampled_from(["=", "=", "!=", "<", "<=", ">", ">="])
forms = st.one_of(
    st.sampled_from(["%", "", "%%", "_", "%_", "a_", "\\%", "%\\\\", "%A%", "A%", "%A", "\\\\%", "%\\_"]),
    st.text("ab%", max_size=4),
).map(wildcard)
plain = st.one_of(
    st.builds(Compare, keys, operators, values),
    st.builds(Compare, keys, operators, values),
    st.builds(Matches, keys, forms),
    st.builds(Matches, keys, st.sampled_from(["a+b", "^a", "b$"]).map(regex)),
    st.builds(
        lambda key, low, high: And((Compare(key, ">=", low), Compare(key, "<=", high))), keys, values, values
    ),
    st.builds(In, keys, st.lists(values, min_size=1, max_size=3).map(tuple)),
    conditions(),
)
joined = st.lists(st.one_of(plain, plain, plain.map(Not), expressions), min_size=1, max_size=9).map(tuple)
nested = st.lists(
    st.one_of(plain, joined.map(Or), joined.map(And), joined.map(Or).map(Not)), min_size=1, max_size=6
)


def outcome(expression: Expression):
    try:
        return factor(expression)
    except FilterError as error:
        return type(error)


def one_by_one(expression: Expression):
    with patch.object(factoring, "_MANY", MAX_LEAVES):
        return outcome(expression)


@example((Compare("x", "<", ""), Compare("x", "<", ""), Compare("y", "=", ""), Compare("y", "=", "")))
@given(joined)
def test_conditions_gathered_give_the_tree_of_conditions_one_by_one(parts):
    for expression in (Or(parts), And(parts), Not(Or(parts)), Not(And(parts))):
        assert outcome(expression) == one_by_one(expression)


@given(nested.map(tuple))
def test_so_do_groups_inside_each_other(parts):
    for expression in (Or(parts), And(parts), Not(Or(parts)), Not(And(parts))):
        assert outcome(expression) == one_by_one(expression)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x = 1 or x < 5 or x like '%a' or x between 1 and 2 or y in (1, 2)", 0),
        ("lower(x) = 'a' or lower(x) like '%a%' or lower(x) ~ 'a+'", 0),
        ("lower(x) = 'A' or lower(x) like 'A_' or reverse(x) = 'a' or x is null", 4),
    ],
)
def test_most_alternatives_are_gathered(text, left):
    assert len(Alternatives(expression_of_text(text).children).left) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x != 1 and x < 5 and not x like '%a' and x not like '%b%' and lower(y) != 'A'", 0),
        ("x like '%a%' and lower(x) = 'a' and x not like 'a%' and exists(x)", 4),
    ],
)
def test_most_requirements_are_gathered(text, left):
    assert len(Requirements(expression_of_text(text).children, negated=False).left) == left


def test_what_was_gathered_counts_among_the_conditions_of_a_filter():
    many = tuple(Compare("x", "=", number) for number in range(MAX_LEAVES // 2 + 1))
    with pytest.raises(FilterTooLargeError, match="100,002"):
        factor(And((Or(many), Or((*many[:-1], Compare("y", "=", 1))))))


def test_requirements_that_exclude_each_other_never_hold():
    parts = tuple(Compare("x", "=", number) for number in range(5))
    assert factor(And(parts)) == NEVER
    assert factor(And((*parts, Exists("y")))) == NEVER
