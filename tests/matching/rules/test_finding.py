"""The literals that one pass over a text finds are those that hold, as trying each one says."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.matching.rules.drawn import FLAT_EVENTS, KEYS, TEXTS, conditions
from thatch.errors import FilterError
from thatch.matching.segments.rules import literals
from thatch.matching.segments.rules.draft import RuleDraft
from thatch.matching.segments.rules.lists import is_listed
from thatch.matching.segments.rules.records import TextRecord
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.rules.workspace import RuleWorkspace
from thatch.model.derived import fold
from thatch.model.events import read_event
from thatch.model.expressions import Compare, Expression, In, Matches
from thatch.model.filters import Filter
from thatch.model.wildcards import wildcard

NUMBERS = {key: number for number, key in enumerate(KEYS)}


def segment_of(expressions: list[Expression]) -> RuleSegment:
    """A segment that looks for all literals of these conditions in every event."""
    draft = RuleDraft(lambda key: NUMBERS.setdefault(key, len(NUMBERS)))
    for slot, each in enumerate(expressions):
        try:
            draft.add(slot, Filter.of(each))
        except FilterError:
            continue
    segment = RuleSegment.build(draft.table())
    segment.finding["texts"][TextRecord.eager :: TextRecord.width] = segment.finding["texts"][
        TextRecord.parts :: TextRecord.width
    ]
    return segment


def holds(kind: int, packed: bytes, number: float, place: Any) -> bool:
    """Whether a literal holds for a value: the definition."""
    if kind & 7 == literals.NUMBER:
        return place[0] == 5 and place[1] == number
    if place[0] != 6:
        return False
    text = fold(place[1]) if kind & 8 else place[1]
    if kind & 7 == literals.TEXT_LIST:
        return is_listed(packed, text)
    value = packed.decode()
    if kind & 7 == literals.PATTERN:
        return wildcard(value).matches(text)
    ways = {literals.EQUAL: text.__eq__, literals.PREFIX: text.startswith, literals.SUFFIX: text.endswith}
    return bool(ways.get(kind & 7, text.__contains__)(value))


def check(segment: RuleSegment, event: dict[str, Any]) -> int:
    """How many literals hold for an event, which the search counts as the definition does."""
    workspace, record, table = RuleWorkspace(), read_event(event), segment.table
    workspace.attach((segment,))
    segment.atom_hits[:] = 0
    workspace.search_record(record, NUMBERS, 1)
    keys = {number: key for key, number in NUMBERS.items()}
    expected = []
    for atom, kind in enumerate(table.atom_kind.tolist()):
        key = keys[int(table.attributes[table.atom_attribute[atom]])]
        value, number = table.atom_text[atom], float(table.atom_number[atom])
        expected.append(int(holds(kind, value, number, record.point(key))))
    assert segment.atom_hits[:-1].tolist() == expected
    return sum(expected)


@given(
    expressions=st.lists(conditions(), min_size=1, max_size=12),
    events=st.lists(FLAT_EVENTS, min_size=1, max_size=4),
)
@example(
    [Matches("x", wildcard("%a")), Matches("x", wildcard("a%")), Compare("x", "=", "a")],
    [{"x": "a"}, {"x": ""}],
)
@example(
    [In("x", ("", "a", "ab", "abc", "abd")), Matches("x", wildcard("ab%"))],
    [{"x": "abd"}, {"x": "ab"}],
)
@example([Matches("x", wildcard("%ab%")), Matches("x", wildcard("%b%"))], [{"x": "a", "y": "b"}, {"x": "b"}])
@example([Matches("x", wildcard("%ab%ba%")), Matches("x", wildcard("%ab%"))], [{"x": "ba ab"}, {"x": "abba"}])
@example(
    [Compare("x", "=", 0), Compare("y", "=", 0), Compare("x", "=", -0.0)],
    [{"x": -0.0}, {"y": 0}, {"x": 5e-324}],
)
def test_the_literals_found_are_those_that_hold(
    expressions: list[Expression], events: list[dict[str, Any]]
) -> None:
    segment = segment_of(expressions)
    for event in events:
        check(segment, event)


@given(
    needles=st.lists(TEXTS.filter(bool), min_size=1, max_size=30),
    texts=st.lists(TEXTS, min_size=1, max_size=4),
)
def test_needles_of_every_length_are_found_wherever_they_stand(needles: list[str], texts: list[str]) -> None:
    segment = segment_of([Matches("x", wildcard(f"%{needle}%")) for needle in needles])
    for text in [*texts, "".join(texts), "-".join(needles)]:
        check(segment, {"x": text, "y": "".join(needles)})


@pytest.mark.slow
@pytest.mark.parametrize("form", ["{}", "{}%", "%{}", "%{}%", "%{}%{}%"])
def test_thousands_of_literals_that_share_much_are_told_apart(form: str) -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("abcd", k=rng.choice([1, 2, 3, 4, 6, 9, 20]))) for _ in range(1_500)]
    words += ["é" * 63 + word for word in words[:20]] + ["long" * 40 + word for word in words[:20]]
    segment = segment_of([Matches("x", wildcard(form.format(word, word[::-1]))) for word in words])
    texts = [*words[::300], "".join(words[:20]), "".join(words[-30:]), "", "é" * 70]
    assert sum(check(segment, {"x": text}) for text in texts) > 5


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 127, 128, 129, 300])
@pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
def test_a_needle_is_found_at_both_ends_of_a_text_and_not_behind_it(size: int, letter: str) -> None:
    needle = letter * (size - 1) + "b"
    segment = segment_of([Matches("x", wildcard(f"%{needle}%"))])
    for text, count in ((needle, 1), (f"{needle}c", 1), (f"c{needle}", 1), (needle[:-1], 0), (needle[1:], 0)):
        # What stands behind the text in memory, its folded form and another text, would complete it.
        assert check(segment, {"x": text, "y": needle[-1] * 9}) == count


def test_a_trie_of_long_texts_is_not_as_deep_as_they_are_long() -> None:
    texts = ["a" * size for size in range(1, 3_000, 7)]
    segment = segment_of([In("x", tuple(texts))])
    assert len(segment.finding["nodes"]) < 20 * len(texts)
    for text in (texts[0], texts[-1], texts[5] + "a", "a" * 5_000):
        assert check(segment, {"x": text}) == (text in texts)


def test_numbers_of_many_attributes_share_one_table() -> None:
    values = [float(value) for value in range(-40, 40)] + [0.1, 1e300, 5e-324, 2.0**53, np.inf]
    segment = segment_of([In(key, tuple(values[:: at + 1])) for at, key in enumerate(KEYS[:2])])
    for value in (*values, 0.2, -0.0, np.nan, 2**53 + 1, -np.inf):
        for key in KEYS[:2]:
            check(segment, {key: value})
