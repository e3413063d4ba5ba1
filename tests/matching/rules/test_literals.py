"""What literals say of a value is what the test of a tree says, wherever they say anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.rules.drawn import FLAT_EVENTS, conditions
from tests.strategies import conditions as any_conditions
from tests.strategies import is_refused_not_in, regexes
from thatch import parse
from thatch.errors import FilterError
from thatch.matching.segments.rules import literals
from thatch.matching.segments.rules.lists import is_listed
from thatch.matching.segments.rules.literals import LONGEST_NEEDLE, Atom, needle_of
from thatch.model.derived import fold
from thatch.model.events import Record, read_event
from thatch.model.expressions import Expression, Matches, Not
from thatch.model.filters import Filter
from thatch.model.lines import Cut
from thatch.model.names import base_of
from thatch.model.residuals import AnywhereCheck
from thatch.model.trees import Leaf, ValueTest, leaves_of
from thatch.model.wildcards import wildcard

UNSURE = "ask the filter"


def atom_holds(atom: Atom, text: str) -> bool:
    """Whether a literal holds for a text."""
    if isinstance(atom.value, bytes):
        return is_listed(atom.value, text)
    value = str(atom.value)
    if atom.kind == literals.PATTERN:
        return wildcard(value).matches(text)
    ways = {literals.EQUAL: text.__eq__, literals.PREFIX: text.startswith, literals.SUFFIX: text.endswith}
    return bool(ways.get(atom.kind, text.__contains__)(value))


def said(test: literals.Test, place: Cut) -> Any:
    """What a test says of the value of its attribute: the definition of what the kernels do."""
    rank, holds, needed = place[0], bool(test.classes >> place[0] & 1), True
    if rank == 6:
        text = fold(place[1]) if test.folded else place[1]
        holds |= any(atom_holds(each, text) for each in test.atoms if each.kind != literals.NUMBER)
        if test.needles or test.folded_needles:
            needed = any(atom_holds(each, text) for each in test.needles)
            needed |= any(atom_holds(each, fold(text)) for each in test.folded_needles)
    if rank == 5:
        holds |= any(each.kind == literals.NUMBER and each.value == place[1] for each in test.atoms)
        holds |= any(
            (place[1] > low or (place[1] == low and not is_above))
            and (place[1] < high or (place[1] == high and not is_below))
            for low, high, is_above, is_below in test.ranges
        )
    if not holds and test.asked >> rank & 1 and needed:
        return UNSURE
    return holds != test.negated


def check(leaf: Leaf, record: Record) -> None:
    """A test says what its leaf does, or that the filter is to be asked."""
    answer = said(literals.test_of(leaf), record.point(base_of(leaf.keys[0])))
    if answer is not UNSURE:
        assert answer == leaf.holds([record.point(key) for key in leaf.keys]), (leaf, record.points)


searches = st.builds(Matches, st.sampled_from(["x", "lower(x)", "reverse(x)"]), regexes)


@given(
    expressions=st.lists(
        st.one_of(conditions(("x", "y")), any_conditions(keys=("x", "y")), searches), min_size=1, max_size=6
    ),
    events=st.lists(FLAT_EVENTS, min_size=1, max_size=4),
)
def test_a_test_says_what_its_leaf_does(expressions: list[Expression], events: list[dict[str, Any]]) -> None:
    for expression in expressions:
        for each in (expression, Not(expression)):
            if is_refused_not_in(each):
                continue
            try:
                leaves = [*leaves_of(Filter.of(each).tree)]
            except FilterError:
                continue
            for leaf in leaves:
                for event in () if isinstance(leaf, AnywhereCheck) else events:
                    check(leaf, read_event(event))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("x = 'a'", 0),
        ("x in ('a', 'b', 5)", 0),
        ("x like '%a%'", 0),
        ("x like '%a' or x like 'b%' or x like '%c%d%'", 0),
        ("x is unlike '%a_b%'", 0),
        ("lower(x) in ('a', 'b')", 0),
        ("x > 5 and x <= 9", 0),
        ("x is distinct from 'a'", 0),
        ("x is null or x is missing", 0),
        ("x ~ 'a+bc'", literals.TEXT_CLASS),
        ("x ~ '[ab]'", literals.TEXT_CLASS),
        ("x > 'a'", 0),
        ("lower(x) >= 'a' and lower(x) < 'c' or lower(x) > 'x'", 0),
        ("reverse(lower(x)) > 'ab' and reverse(lower(x)) < 'b'", 0),
    ],
)
def test_literals_decide_all_that_they_can(text: str, asked: int) -> None:
    (leaf,) = leaves_of(parse(text).tree)
    assert isinstance(leaf, ValueTest)
    assert literals.test_of(leaf).asked & literals.TEXT_CLASS == asked


@pytest.mark.parametrize(
    ("length", "kind"), [(LONGEST_NEEDLE, literals.CONTAINS), (LONGEST_NEEDLE + 1, literals.PATTERN)]
)
def test_longer_text_than_needles_may_be_is_a_pattern(length: int, kind: int) -> None:
    (leaf,) = leaves_of(parse(f"x like '%{'a' * length}%'").tree)
    (atom,) = literals.test_of(leaf).atoms
    assert atom.kind == kind


def test_a_needle_is_cut_between_letters() -> None:
    (leaf,) = leaves_of(parse(f"x ~ '{'a' * (LONGEST_NEEDLE - 1)}éb+'").tree)
    (needle,) = literals.test_of(leaf).needles
    assert needle.value == "a" * (LONGEST_NEEDLE - 1)


@pytest.mark.parametrize(
    ("pattern", "needle"), [("%ab%abc_a", "abc"), ("_", ""), ("%", ""), (r"a\%b%", "a%b"), ("abcd", "abcd")]
)
def test_the_needle_of_a_pattern_is_its_longest_text(pattern: str, needle: str) -> None:
    assert needle_of(wildcard(pattern)) == needle
