"""The quick way for patterns agrees with the pattern reader and the normaliser wherever it answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from thatch.errors import ThatchError
from thatch.model.filters import Filter
from thatch.model.language.patterns import expression_of_pattern
from thatch.model.language.quick_patterns import quick_pattern
from thatch.workloads import NAMES, generate

NUMBERS = st.sampled_from(
    [0, 1, 2, 5, -3, 2.0, 2.5, -0.0, 2**53, 2**53 - 1, 1e300, float("inf"), float("nan"), True, None]
)
OPERATORS = st.sampled_from(["=", "<", "<=", ">", ">=", "!=", "==", 5, None])
TEXTS = st.sampled_from(["", "a", "ab", "A", "ä", "\ud800", "10.0.0.1"])
ENTRIES = st.one_of(
    TEXTS,
    NUMBERS,
    st.builds(lambda operator, number: {"numeric": [operator, number]}, OPERATORS, NUMBERS),
    st.builds(lambda a, b, c, d: {"numeric": [a, b, c, d]}, OPERATORS, NUMBERS, OPERATORS, NUMBERS),
    st.builds(lambda text: {"prefix": text}, st.one_of(TEXTS, NUMBERS)),
    st.sampled_from(
        [{}, [], {"suffix": "a"}, {"exists": True}, {"prefix": "a", "numeric": ["=", 1]}, {"numeric": 5}]
    ),
)
LEAVES = st.one_of(st.lists(ENTRIES, min_size=0, max_size=2), ENTRIES)
PATTERNS = st.recursive(
    st.dictionaries(st.sampled_from(["a", "b", "a.b", "in", "d-t", "$or", "", "ä"]), LEAVES, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(["a", "b", "c", "$or"]), st.one_of(inner, LEAVES), max_size=3
    ),
    max_leaves=4,
)


def assert_same(pattern: object) -> bool:
    quick = quick_pattern(pattern)  # type: ignore[arg-type]  # anything may come
    try:
        wanted = Filter.of(expression_of_pattern(pattern))  # type: ignore[arg-type]  # anything may come
    except ThatchError:
        assert quick is None, pattern
        return False
    assert quick is None or (quick,) == wanted.conjunctions, pattern
    return quick is not None


@given(PATTERNS)
def test_the_quick_way_is_the_long_way(pattern: dict[str, object]) -> None:
    assert_same(pattern)


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_way_knows_most_patterns_of_workloads(name: str) -> None:
    answered = patterns = 0
    for text in generate(name, 150, 1, 3).filter_texts():
        try:
            pattern = thatch.parse(text).to_pattern()
        except thatch.errors.PatternError:
            continue
        patterns += 1
        answered += assert_same(pattern)
    assert patterns
    assert answered > patterns / (20 if name == "W5" else 2)
