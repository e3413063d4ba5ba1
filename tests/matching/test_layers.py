"""Short lists, whose elements are tested at once, answer as the reference does, where they must agree too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thatch.errors import NeverMatchesError
from thatch.matching import reference
from thatch.matching.segments import SegmentIndex
from thatch.model.events import read_event
from thatch.model.filters import Filter
from thatch.model.language.text import expression_of_text

words = st.text("ab", min_size=1, max_size=3)
conditions = st.one_of(
    st.builds("{{0}} = '{}'".format, words),
    st.builds("{{0}} like '{}%'".format, words),
    st.builds("{{0}} like '%{}'".format, words),
    st.builds("{{0}} like '%{}%'".format, words),
    st.builds("{{0}} like '{}%{}'".format, words, words),
    st.builds("{{0}} in ('{}', '{}', '{}')".format, words, words, words),
    st.builds("{{0}} is distinct from '{}'".format, words),
    st.builds("{{0}} >= {}".format, st.integers(0, 3)),
    st.sampled_from(["{0} is null", "{0} is missing", "{0} = 2"]),
)
names = st.sampled_from(["x", "x", "y", "z", "o.p", "o.q"])
filters = st.lists(
    st.lists(st.tuples(names, conditions), min_size=1, max_size=6).map(
        lambda sides: " and ".join(condition.format(name) for name, condition in sides)
    ),
    min_size=1,
    max_size=10,
)
scalars = st.one_of(words, st.integers(0, 3), st.none())
values = st.one_of(scalars, st.lists(scalars, min_size=1, max_size=5))
elements = st.lists(
    st.dictionaries(st.sampled_from("pq"), st.one_of(scalars, st.lists(scalars, max_size=2))), max_size=4
)
drawn_events = st.builds(
    lambda flat, inner: flat if inner is None else {**flat, "o": inner},
    st.dictionaries(st.sampled_from("xyz"), values),
    st.one_of(st.none(), elements, st.fixed_dictionaries({"p": values, "q": values})),
)


@given(texts=filters, events=st.lists(drawn_events, min_size=1, max_size=4))
@example(texts=["x like 'a%' and x like '%b'"], events=[{"x": ["aa", "bb"]}, {"x": ["aa", "ab"]}])
@example(texts=["o.p = 1 and o.q = 2"], events=[{"o": [{"p": 1, "q": 3}, {"p": 2, "q": 2}]}])
@example(texts=["x in ('a', 'ba') and x like '%b%'"], events=[{"x": ["a", "bb"]}, {"x": ["a", "ba"]}])
@example(texts=["x = 'a' and y = 'a' and z like '%a'"], events=[{"x": ["a", "b"], "y": ["b", "a"], "z": "a"}])
def test_short_lists_match_what_the_reference_matches(texts: list[str], events: list[dict[str, Any]]) -> None:
    held = {}
    for slot, text in enumerate(texts):
        expression = expression_of_text(text)
        try:
            held[slot] = expression, Filter.of(expression)
        except NeverMatchesError:
            continue
    index = SegmentIndex()
    index.extend({slot: filter for slot, (_, filter) in held.items()})
    for event in events:
        wanted = [slot for slot, (expression, _) in held.items() if reference.matches(expression, event)]
        assert index.match(read_event(event)) == wanted
        assert index.any(read_event(event)) == bool(wanted)


@pytest.mark.parametrize(("word", "matches"), [("ab", True), ("ba", False)])
def test_prefix_and_suffix_must_hold_for_the_same_element(word: str, matches: bool) -> None:
    index = SegmentIndex()
    index.extend({0: Filter.of(expression_of_text("x like 'a%' and x like '%b'"))})
    assert index.any(read_event({"x": ["aa", "bb", word]})) == matches
