"""Arithmetic in filter text means what it says, and is refused where it cannot be folded."""

from __future__ import annotations

import operator
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch

OPERATORS = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
numbers = st.sampled_from(["0.5", "1", "2", "4", "0.25", "8", "3", "10", "1e1", ".5"])


@st.composite
def sums(draw: st.DrawFn, depth: int = 2) -> str:
    """Arithmetic whose divisors are powers of two, so that every bound is a double."""
    if not depth or draw(st.booleans()):
        return draw(st.one_of(st.just("x"), numbers))
    left, right = draw(sums(depth=depth - 1)), draw(sums(depth=depth - 1))
    sign = draw(st.sampled_from(["+", "-", "*", "/"]))
    text = (
        f"{left}{sign}{draw(st.sampled_from(['0.5', '2', '4']))}" if sign == "/" else f"{left} {sign} {right}"
    )
    return draw(st.sampled_from([f"({text})", text, f"-({text})"]))


@given(
    sums(),
    st.sampled_from(sorted(OPERATORS)),
    sums(),
    st.one_of(st.integers(-50, 50), st.integers(-99, 99).map(lambda n: n / 4)),
)
def test_arithmetic_means_what_exact_arithmetic_on_its_numbers_does(left, sign, right, value):
    try:
        found = thatch.parse(f"{left} {sign} {right}")
    except thatch.FilterError:
        return
    exact = {"x": Fraction(value)}
    sides = [
        eval(re.sub(r"([\d.]+(?:e\d+)?)", r"Fraction('\1')", side), {"Fraction": Fraction}, exact)
        for side in (left, right)
    ]
    bound = re.search(r"^x \S+ (\S+)$", str(found))  # else it is a formula, which is exact
    if bound is None or Fraction(float(bound[1])).denominator <= 2**40:  # else it was rounded
        assert found.matches({"x": value}) is OPERATORS[sign](*sides)
    assert not found.matches({"x": "5"})
    assert not found.matches({})
    assert thatch.parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("price * 2 > 10", "price > 5"), ("-(x + 1) < 3", "x > -4"), ("x -1 > 2", "x > 3"), ("x-1>2", "x > 3"),
        ("x > 2 * 3 and y = 1", "x > 6 and y = 1"), ("x * 3 > 1", "x > 0.3333333333333333"), ("x + 0.1 > 0.3", "x > 0.2"),
        ("x * 2 = x + 10", "x = 10"), ("10 - x > 3", "x < 7"), ("not (x / 4 <= 2)", "x > 8"), ('"a-b" * 2 = 4', '"a-b" = 2'),
        ("price * quantity > 500", "formula(price * quantity > 500)"), ("x > y + 1", "formula(x > y + 1)"), ("x % 2 = 1", "formula(x % 2 = 1)"),
        ("((x) + 1) * 2 >= 5 or (y = 1)", "x >= 1.5 or y = 1"), ("x * 1 > 9007199254740993", "x > 9007199254740993"),
    ],
)  # fmt: skip
def test_arithmetic_is_moved_to_the_other_side(text, folded):
    assert thatch.parse(text) == thatch.parse(folded)


@pytest.mark.parametrize(
    ("text", "words"),
    [

        ("x / 0 > 1", "a divisor other than 0"), ("detail-type = 5", "An attribute called detail-type"), ("x - x > 1", "leaves no attribute"), ("1 + 1 > 2", "an attribute"),
        ("x + 'a' > 1", "an attribute"), ("x + lower(x) > 1", "no functions"),
        ("x * 1e-300 * 1e-300 > 1e300", "in the range of a double"), ("x * 2 between 1 and 2", "after arithmetic"),
        ("x * 1e-99999999 > 2", "range of a double"), ("(" * 300 + "x * 2" + ")" * 300 + " > 5", "levels of nesting"),
        ("-" * 300 + "x > 1", "levels of nesting"),
    ],
)  # fmt: skip
def test_what_cannot_be_folded_is_refused_in_a_sentence(text, words):
    with pytest.raises(thatch.FilterError, match=re.escape(words)) as caught:
        thatch.parse(text)
    assert len(str(caught.value)) < 500


def test_numbers_that_grow_without_end_are_refused():
    with pytest.raises(thatch.FilterError, match="at most 100 attributes and numbers"):
        thatch.parse("x" + " * 2" * 40_000 + " > 1")
