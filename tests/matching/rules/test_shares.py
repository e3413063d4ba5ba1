"""What searches count is how often literals hold, and it is carried to the segments that come after."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.matching.rules.segments import Numbers, answer, draft_of
from thatch import parse
from thatch.matching.segments.rules import segment as segments
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.rules.shares import LiteralShares

TEXTS = [
    "a = 'x' and b like '%q%'",
    "a like '%xy%'",
    "lower(b) = 'q'",
    "c in (1, 2) and a like 'x%y'",
    "b like '%q'",
]


@pytest.fixture
def counted() -> tuple[Numbers, RuleSegment, list[dict[str, object]]]:
    """A segment after some events, and these."""
    rng, numbers = random.Random(3), Numbers()
    segment = RuleSegment.build(draft_of(dict(enumerate(map(parse, TEXTS))), numbers).table())
    values: dict[str, list[object]] = {
        "a": ["x", "xy", "xxyy", 5, None],
        "b": ["q", "Q", "qq", ""],
        "c": [1, 2, 3, True],
    }
    events = [
        {name: rng.choice(some) for name, some in values.items() if rng.random() < 0.8} for _ in range(300)
    ]
    for event in events:
        answer([segment], event, numbers)
    return numbers, segment, events


def test_classes_texts_and_literals_are_counted(
    counted: tuple[Numbers, RuleSegment, list[dict[str, object]]],
) -> None:
    numbers, segment, events = counted
    shares, table = segment.counted_shares(), segment.table
    assert segment.events == len(events) == 300
    for own, number in enumerate(table.attributes.tolist()):
        (name,) = (key for key, each in numbers.items() if each == number)
        values = [event[name] for event in events if name in event]
        kinds = [type(each) for each in values]
        found = (shares.classes[8 * own : 8 * own + 8] * 300).round().astype(int).tolist()
        assert found[1:7] == [
            kinds.count(type(None)), values.count(False) if bool in kinds else 0, kinds.count(bool), 0,
            kinds.count(int), kinds.count(str),
        ]  # fmt: skip
        assert shares.text_bytes[own] * 300 == pytest.approx(
            sum(len(each) for each in values if isinstance(each, str))
        )
    atoms = {table.atom_text[atom]: shares.atoms[atom] * 300 for atom in range(len(shares.atoms))}
    assert atoms[b"xy"] == pytest.approx(sum("xy" in str(event.get("a")) for event in events) + 0.5)
    assert atoms[b"x"] == pytest.approx(sum(event.get("a") == "x" for event in events) + 0.5)


def test_counts_are_carried_to_a_table_with_more_literals_and_other_numbers(
    counted: tuple[Numbers, RuleSegment, list[dict[str, object]]],
) -> None:
    numbers, segment, _ = counted
    assert segment.counted is not None
    filters = {9: parse("new like '%n%'")} | {slot: parse(text) for slot, text in enumerate(reversed(TEXTS))}
    table = draft_of(filters, numbers).table()
    carried, assumed = LiteralShares.carried(table, [segment.counted]), LiteralShares.assumed(table)
    known = segment.counted_shares()
    literal = {key(segment.table, atom): atom for atom in range(len(known.atoms))}
    for atom in range(len(carried.atoms)):
        source = literal.get(key(table, atom))
        assert carried.atoms[atom] == pytest.approx(
            assumed.atoms[atom] if source is None else known.atoms[source]
        )
    for own, number in enumerate(table.attributes.tolist()):
        places = np.flatnonzero(segment.table.attributes == number)
        expected = (
            known.classes.reshape(-1, 8)[places[0]] if len(places) else assumed.classes.reshape(-1, 8)[own]
        )
        assert carried.classes.reshape(-1, 8)[own] == pytest.approx(expected)


def key(table: object, atom: int) -> tuple[object, ...]:
    """A literal, alike in all tables of an index."""
    attribute = table.attributes[table.atom_attribute[atom]]  # type: ignore[attr-defined]  # a table
    return int(attribute), int(table.atom_kind[atom]), table.atom_text[atom], float(table.atom_number[atom])  # type: ignore[attr-defined]


def test_two_sources_count_by_how_many_events_they_saw() -> None:
    numbers = Numbers()
    table = draft_of({0: parse("a like '%xy%'")}, numbers).table()
    low, high = LiteralShares.assumed(table), LiteralShares.assumed(table)
    for shares, value in ((low, 0.1), (high, 0.9)):
        shares.atoms[:], shares.classes[:], shares.text_bytes[:] = value, value, 100 * value
    carried = LiteralShares.carried(table, [(table, low, 300), (table, high, 100)])
    assert carried.atoms == pytest.approx(0.3)
    assert carried.classes == pytest.approx(0.3)
    assert carried.text_bytes == pytest.approx(30.0)


def test_a_segment_says_what_it_counted_once_it_counted_enough(
    counted: tuple[Numbers, RuleSegment, list[dict[str, object]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, segment, _ = counted
    assert segment.wants_layout
    again = segment.lay_out_again()
    assert not again.wants_layout
    assert again.next_layout == 300 * segments._MORE
    assert again.counted is None
    monkeypatch.setattr(segments, "_ENOUGH", 301)
    assert segment.counted is None


def test_needles_that_only_tests_ask_for_keep_what_was_known_of_them() -> None:
    numbers = Numbers()
    filters = {slot: parse(f"lower(a) = 'v{slot}' and b like '%word%'") for slot in range(20)}
    table = draft_of(filters, numbers).table()
    shares = LiteralShares.assumed(table)
    shares.text_bytes[:] = 1e6
    is_needle = table.atom_kind & 7 == 3
    shares.atoms[is_needle] = 0.123
    segment = RuleSegment.build(table, shares)
    for _ in range(10):
        answer([segment], {"a": "v1", "b": "no"}, numbers)
    assert segment.counted_shares().atoms[is_needle] == pytest.approx(0.123)
    assert segment.counted_shares().atoms[~is_needle].sum() == pytest.approx((10 + 20 * 0.5) / 10)


@pytest.mark.parametrize("text", ["lower(a) = -1", "lower(a) is null", "lower(a) ~ '[ab]'"])
def test_a_segment_without_any_text_to_look_for_counts_too(text: str) -> None:
    numbers = Numbers()
    segment = RuleSegment.build(draft_of({7: parse(text)}, numbers).table())
    event = {"a": None if "null" in text else "ab" if "~" in text else -1}
    for _ in range(3):
        assert answer([segment], event, numbers) == [7]
        segment = segment.lay_out_again()
