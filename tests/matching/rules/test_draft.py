"""Rules as columns: each literal and each test once, and the same rules when a table goes into another draft."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.rules.drawn import EVENTS, FILTERS
from tests.matching.rules.segments import Numbers, answer, draft_of, filters_of, wanted
from tests.matching.rules.test_agreement import is_event
from thatch import parse
from thatch.matching.segments.rules.draft import RuleDraft, RuleTable
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.model.expressions import Expression
from thatch.model.schema import Integer, Schema


def columns(table: RuleTable) -> dict[str, Any]:
    """A table as lists, to compare."""
    return {
        name: (value.offsets.tolist(), value.blob.tobytes()) if hasattr(value, "blob") else value.tolist()
        for name, value in table._asdict().items()
    }


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


@given(
    first=st.lists(FILTERS, min_size=1, max_size=5), more=st.lists(FILTERS, max_size=5),
    gone=st.sets(st.integers(0, 4)), events=st.lists(EVENTS, min_size=1, max_size=3),
)  # fmt: skip
def test_tables_that_are_put_together_have_the_rules_of_both(
    first: list[Expression], more: list[Expression], gone: set[int], events: list[dict[str, Any]]
) -> None:
    numbers = Numbers()
    filters = filters_of([*first, *more])
    split = len(first)
    tables = [
        draft_of(
            {slot: each for slot, each in filters.items() if (slot < split) == is_first}, numbers
        ).table()
        for is_first in (False, True)
    ]
    draft = RuleDraft(numbers.of)
    for table in tables:
        draft.add_table(table, list(numbers), ~np.isin(table.slots, [*gone]))
    kept = {slot: each for slot, each in filters.items() if slot not in gone}
    assert len(draft) == len(kept)
    segment = RuleSegment.build(draft.table())
    for event in filter(is_event, events):
        assert answer([segment], event, numbers) == wanted(kept, event)
    for slot, each in kept.items():
        assert segment.filter(segment.find(slot), None) == each


@given(expressions=st.lists(FILTERS, min_size=1, max_size=6))
def test_a_table_that_goes_through_a_draft_is_the_same(expressions: list[Expression]) -> None:
    numbers = Numbers()
    once = RuleDraft(numbers.of)
    table = draft_of(filters_of(expressions), numbers).table()
    once.add_table(table, list(numbers), np.ones(len(table.slots), np.bool_))
    assert columns(once.table()) == columns(table)


def test_the_text_at_hand_is_kept_and_declared_types_are_asked_for_it() -> None:
    schema = Schema({"n": Integer(0, 9)})
    numbers, text = Numbers(), "a like '%x%' and n > 3"
    draft = RuleDraft(numbers.of)
    draft.add(0, parse(text, schema), text)
    segment = RuleSegment.build(draft.table())
    assert segment.table.sources[0].decode() == text
    assert segment.filter(0, schema) == parse(text, schema)
