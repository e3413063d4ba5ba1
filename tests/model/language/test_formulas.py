from __future__ import annotations

import time

import pytest

import thatch
from thatch.errors import FilterSyntaxError


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("formula(a*b>500)", "formula(500 < a * b)"),
        ("FORMULA(a-2*b = -1)", "formula(a - 2 * b = -1)"),
        ("formula(a -2 = b +1)", "formula(a - 2 = b + 1)"),
        ("formula(-a % 3 <> +2)", "formula(-1 * a % 3 != 2)"),
        ("formula(((a)) / (b / c) <= 1e-3)", "formula(a / (b / c) <= 0.001)"),
        ("not formula(a + b >= c)", "formula(a + b < c)"),
        ('formula("d-t" * .5 = o.p)', 'formula("d-t" * 0.5 = o.p)'),
        ("formula = 1", '"formula" = 1'),
    ],
)
def test_a_formula_is_written_in_several_ways(text, same):
    assert thatch.parse(text) == thatch.parse(same)


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("formula(a)", "`>=` or one of `+ - * / %`, got `)`", 10),
        ("formula(a > )", "Expected an attribute, got `)`", 13),
        ("formula(a > 1", "`)` or one of `+ - * / %`, got the end of the filter", 14),
        ("formula(a > 1 > 2)", "`)` or one of", 15),
        ("formula((a + b > 1)", "Expected `)`, got `>`", 16),
        ("formula(a * 'b' > 1)", "an attribute, got `'b'`", 13),
        ("formula(lower(a) > 1)", "no functions in a formula, got `lower`", 9),
        ("formula(a + 1e999 > 1)", "a number in the range of a double", 13),
        ("x = 1 and formula(1 > 2)", "an attribute in a formula", 11),
    ],
)
def test_what_is_no_formula_is_refused_with_its_place(text, words, column):
    with pytest.raises(FilterSyntaxError) as caught:
        thatch.parse(text)
    assert words in str(caught.value)
    assert caught.value.column == column


HOSTILE = {
    "brackets": "formula(" + "(" * 50_000,
    "minus signs": "formula(" + "-" * 50_000 + "a = 1)",
    "a long sum": "formula(a" + " + a" * 50_000 + " = 1)",
    "a long product": "formula(a" + " * a" * 50_000 + " = 1)",
    "a long number": "formula(a = " + "9" * 50_000 + ")",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_formulas_are_refused_in_time(name):
    began = time.process_time()
    with pytest.raises(thatch.FilterError):
        thatch.parse(HOSTILE[name])
    assert time.process_time() - began < 5
