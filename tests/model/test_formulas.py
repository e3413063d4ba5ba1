from __future__ import annotations

import re
from fractions import Fraction
from math import inf, nan, trunc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.model.formulas import Formula, Numeral, Operation, Variable, keys_of, number_at, text_of, value_of
from thatch.model.lines import point

NUMERALS = st.sampled_from(["0", "1", "2", "-3", "0.5", "0.1", "-0.25", "1e22", "1e-7"]).map(
    lambda text: Numeral(Fraction(text))
)
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    NUMERALS | st.sampled_from(["a", "b", '"c d"']).map(Variable),
    lambda inner: st.builds(Operation, st.sampled_from("+-*/%"), inner, inner),
    max_leaves=8,
)
NUMBERS = st.sampled_from([0, 1, -7, 5, 0.5, 0.1, 2**53 + 1, None])


class NoValueError(Exception):
    """Some part of a formula has no value."""


class Exact:
    """A number that Python can calculate with as formulas do."""

    def __init__(self, value):
        self.value = value

    def of(self, other, found):
        return Exact(found(self.value, other.value))

    def __add__(self, other):
        return self.of(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self.of(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self.of(other, lambda a, b: a * b)

    def __truediv__(self, other):
        if not other.value:
            raise NoValueError
        return self.of(other, lambda a, b: a / b)

    def __mod__(self, other):
        if not other.value or self.value.denominator != 1 or other.value.denominator != 1:
            raise NoValueError
        return self.of(other, lambda a, b: a - b * trunc(a / b))


def calculated_by_python(text, values):
    """The value of the text of a formula, as Python reads it: its signs bind alike."""
    for value in values.values():
        if value is None:
            raise NoValueError
    names = {f"v{number}": Exact(Fraction(repr(value))) for number, value in enumerate(values.values())}
    for number, key in enumerate(values):
        text = re.sub(rf"(?<![\w.]){re.escape(key)}(?!\w)", f"v{number}", text)
    text = re.sub(r"(?<![\w.])-?\d+(?:\.\d+)?", lambda found: f"E('{found.group()}')", text)
    return eval(text, {"E": lambda each: Exact(Fraction(each)), **names}).value


@given(FORMULAS, st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_a_formula_has_the_value_that_its_text_has(formula, numbers):
    values = {
        key: each for key, each in zip(("a", "b", '"c d"'), numbers, strict=True) if key in keys_of(formula)
    }
    read = {key: None if each is None else number_at(point(each)) for key, each in values.items()}
    try:
        wanted = calculated_by_python(text_of(formula), values)
    except NoValueError:
        wanted = None
    assert value_of(formula, read) == wanted


@given(FORMULAS, FORMULAS, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
def test_a_formula_is_read_as_it_is_written(left, right, sign):
    if keys_of(left, right):
        text = f"formula({text_of(left)} {sign} {text_of(right)})"
        found = thatch.parse(text)
        assert thatch.parse(str(found)) == found
        if sign not in (">", ">="):
            assert str(found) == text


@pytest.mark.parametrize("value", [inf, -inf, nan, True, None, "5", ""])
def test_only_finite_numbers_count(value):
    assert number_at(point(value)) is None
    assert number_at(point(0.1)) == Fraction(1, 10)
    assert number_at(point(2**53 + 1)) == 2**53 + 1


def test_values_of_thousands_of_digits_are_none():
    huge = Numeral(Fraction(10**300))
    formula: Formula = Variable("a")
    for _ in range(40):
        formula = Operation("*", formula, huge)
    assert value_of(formula, {"a": Fraction(1)}) is None
    assert thatch.parse(f"formula({text_of(formula)} > 0)").matches({"a": 1}) is False
