"""Rules as columns: each literal and each test once."""

from __future__ import annotations

from tests.matching.rules.segments import Numbers, draft_of
from thatch import parse
from thatch.matching.segments.rules.draft import RuleDraft
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.model.schema import Integer, Schema


def test_literals_and_tests_are_kept_once() -> None:
    numbers = Numbers()
    texts = [
        "a like '%x%'",
        "a like '%x%' and b like '%x%'",
        "not a like '%x%' or b like '%x%' and c = 1",
        "c = 1",
    ]
    table = draft_of({slot: parse(text) for slot, text in enumerate(texts)}, numbers).table()
    assert len(table.atom_kind) == 3
    assert len(table.test_attribute) == 4  # one of them negated
    assert numbers == {"a": 0, "b": 1, "c": 2}
    assert [table.sources[rule].decode() for rule in range(4)] == [str(parse(text)) for text in texts]


def test_the_text_at_hand_is_kept_and_declared_types_are_asked_for_it() -> None:
    schema = Schema({"n": Integer(0, 9)})
    numbers, text = Numbers(), "a like '%x%' and n > 3"
    draft = RuleDraft(numbers.of)
    draft.add(0, parse(text, schema), text)
    segment = RuleSegment.build(draft.table())
    assert segment.table.sources[0].decode() == text
    assert segment.filter(0, schema) == parse(text, schema)
