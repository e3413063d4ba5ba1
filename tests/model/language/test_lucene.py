from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thatch.model.language.lucene import re2_of_lucene
from thatch.model.regexes import regex


def finds(expression, text, *, has_options=True, ignores_case=False):
    return regex(re2_of_lucene(expression, has_options=has_options, ignores_case=ignores_case)).matches(text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ab.", "abc"), ("ab.", "ab\n"), ("abc?", "ab"), ("a|bc", "bc"), ("(ab)+c", "ababc"), ("a{2,3}", "aaa"), ("a{2}", "aa"), ("", ""),
        ("^a$", "^a$"), ("a-b_c/d=é", "a-b_c/d=é"), ("[a-c^]+", "b^a"), ("[^a-c]", "d"), ("[[x]", "["), (r"[\]a]", "]"), (r"[\n]", "n"),
        (r"\d+\s\w", "12 x"), (r"[\d-]+", "1-2"), (r"\D", "x"), (r"\.\*\n", ".*n"), ('"a.b|"', "a.b|"), ('"ab"+', "abab"), (r"\~\&\<\>\@\#", "~&<>@#"), ('""a', "a"),
    ],
)  # fmt: skip
def test_an_expression_describes_a_text(expression, text):
    assert finds(expression, text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [("ab.", "ab"), ("ab", "abc"), ("ab", "cab"), ("a|bc", "ac"), ("^a$", "a"), ("[^a]", "a"), (r"\.", "x"), ('"a.b"', "axb"), (r"[\n]", "\n"), ("a", "A")],
)  # fmt: skip
def test_an_expression_does_not_describe_a_text(expression, text):
    assert not finds(expression, text)


def test_options_are_characters_where_they_are_switched_off_and_case_may_be_ignored():
    assert finds("a~<1>@#&", "a~<1>@#&", has_options=False)
    assert finds("straSSE[a-c]", "STRAsseB", ignores_case=True)


@pytest.mark.parametrize(
    "expression",
    ["a~b", "<1-5>", "@", "#", "a&b", "a{", "a{b}", "[a", 'a"b', "\\", "(?:a)", "(a", "a)", "*a"],
)
def test_what_cannot_be_read_is_refused(expression):
    with pytest.raises(ValueError, match="expression"):
        finds(expression, "a")


atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\.", r"\w", '"a."', "^"])
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}"])).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=5,
)


@given(expressions, st.text("ab.^\n", max_size=5))
def test_an_expression_without_what_is_special_in_lucene_is_one_of_python(expression, text):
    python = re.sub(r'"a\."', r"(?:a\\.)", re.sub(r"(?<!\[)\^", r"\\^", expression))
    assert finds(expression, text) == (re.fullmatch(python, text, re.DOTALL) is not None)
