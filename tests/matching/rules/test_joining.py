"""Tables that are put together are what a draft of all their rules would be: nothing twice, nothing that no rule uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.rules.drawn import EVENTS, FILTERS
from tests.matching.rules.segments import Numbers, answer, draft_of, filters_of, wanted
from tests.matching.rules.test_agreement import is_event
from thatch import parse
from thatch.matching.segments.rules.draft import RuleTable
from thatch.matching.segments.rules.joining import join_tables, same_literals
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.model.expressions import Expression

MANY = ", ".join(map(str, range(1_500)))


def columns(table: RuleTable) -> dict[str, Any]:
    """A table as lists, to compare."""
    return {
        name: (value.offsets.tolist(), value.blob.tobytes()) if hasattr(value, "blob") else value.tolist()
        for name, value in table._asdict().items()
    }


@given(
    parts=st.lists(st.lists(FILTERS, max_size=4), min_size=1, max_size=4),
    gone=st.sets(st.integers(0, 15), max_size=5),
    events=st.lists(EVENTS, min_size=1, max_size=2),
)
def test_tables_put_together_are_the_table_of_a_draft_of_all_their_rules(
    parts: list[list[Expression]], gone: set[int], events: list[dict[str, Any]]
) -> None:
    numbers = Numbers()
    filters = filters_of(each for part in parts for each in part)
    tables, first = [], 0
    for part in parts:
        slots = range(first, first + len(part))
        tables.append(draft_of({slot: filters[slot] for slot in slots if slot in filters}, numbers).table())
        first += len(part)
    kept = {slot: each for slot, each in filters.items() if slot not in gone}
    table = join_tables(tables, [~np.isin(each.slots, [*gone]) for each in tables])
    assert columns(table) == columns(draft_of(kept, numbers).table())
    segment = RuleSegment.build(table)
    for event in filter(is_event, events):
        assert answer([segment], event, numbers) == wanted(kept, event)
    for slot, each in kept.items():
        assert segment.filter(segment.find(slot), None).tree == each.tree  # which is what a rule keeps


@given(parts=st.lists(st.lists(FILTERS, max_size=4), min_size=2, max_size=3))
def test_a_literal_is_known_again_in_another_table(parts: list[list[Expression]]) -> None:
    numbers = Numbers()
    table, *others = (draft_of(filters_of(part), numbers).table() for part in parts)
    place = {key: atom for atom, key in enumerate(literals(table))}
    for found, other in zip(same_literals(table, others), others, strict=True):
        assert found.tolist() == [place.get(each, -1) for each in literals(other)]


def literals(table: RuleTable) -> list[tuple[int, int, bytes, float]]:
    """Each literal of a table, alike in all tables of an index."""
    attributes = table.attributes[table.atom_attribute].tolist()
    texts = (table.atom_text[atom] for atom in range(len(attributes)))
    return list(zip(attributes, table.atom_kind.tolist(), texts, table.atom_number.tolist(), strict=True))


def test_long_lists_ranges_needles_and_keywords_are_carried() -> None:
    texts = [
        f"n in ({MANY}) and a like '%x%'",
        "n > 5 and n <= 7.5 or n between -1 and 2 or a like '%y'",
        "a ~ 'ab+c' and lower(b) ~ '(?i)xyz'",
        "lower(anywhere()) like '%word%' and b is unlike '%w%'",
    ]
    numbers, filters = Numbers(), dict(enumerate(map(parse, texts)))
    tables = [draft_of({slot: each}, numbers).table() for slot, each in filters.items()]
    table = join_tables(tables[::-1] + tables, [np.ones(1, np.bool_)] * 4 + [np.zeros(1, np.bool_)] * 4)
    assert table.slots.tolist() == [3, 2, 1, 0]
    backwards = dict(reversed(filters.items()))
    assert columns(table) == columns(draft_of(backwards, numbers).table())
    segment = RuleSegment.build(table)
    for event in ({"n": 7, "a": "xy", "b": "A Word"}, {"n": 1_499, "a": "x abbc", "b": "XYZ"}, {"n": 2}):
        assert answer([segment], event, numbers) == wanted(filters, event)
