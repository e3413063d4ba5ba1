"""Wildcards against a matcher that tries everything."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch.matching.reference import has_form
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text
from thatch.model.wildcards import escape_wildcard, wildcard


def naive(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "%":
        return naive(text, pattern[1:]) or (text != "" and naive(text[1:], pattern))
    if pattern[0] == "\\":
        return text[:1] == pattern[1] and naive(text[1:], pattern[2:])
    return text != "" and pattern[0] in {"_", text[0]} and naive(text[1:], pattern[1:])


parts = st.sampled_from(["a", "b", "%", "_", "\\%", "\\_", "\\\\", "\\a", "\n", "\U0001f600"])
patterns = st.lists(parts, max_size=7).map("".join)
texts = st.text("aab%_\\\n\U0001f600", max_size=8)


@given(patterns, texts)
def test_matching_agrees_with_trying_everything(pattern, text):
    made = wildcard(pattern)
    assert made.matches(text) == naive(text, pattern)
    assert has_form(text, pattern) == naive(text, pattern)


@given(patterns, texts)
@example("%%_", "")
def test_canonical_text_is_the_same_pattern(pattern, text):
    made = wildcard(pattern)
    assert wildcard(made.text) == made
    assert wildcard(made.text).pieces == made.pieces
    assert naive(text, made.text) == naive(text, pattern)


@given(patterns, texts)
def test_what_a_pattern_says_of_itself_is_true(pattern, text):
    made = wildcard(pattern)
    does_match = naive(text, pattern)
    begins, ends = text.startswith(made.prefix), text.endswith(made.suffix)
    if does_match:
        assert begins
        assert ends
    if made.literal is not None:
        assert does_match == (text == made.literal)
    if made.is_prefix:
        assert does_match == begins
    if made.is_suffix:
        assert does_match == ends
    if made.is_prefix_and_suffix:
        assert does_match == (begins and ends)


@given(texts)
def test_escaped_text_matches_only_itself(text):
    assert wildcard(escape_wildcard(text)).literal == text


def test_a_backslash_needs_a_character_after_it():
    with pytest.raises(ValueError):
        wildcard("a\\")


def test_a_long_prefix_and_suffix_are_read_in_linear_time():
    size = 400_000
    Filter.of(expression_of_text("x like '" + "b" * size + "%" + "c" * size + "'"))
