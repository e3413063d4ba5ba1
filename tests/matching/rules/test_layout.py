"""How rules are laid out changes how quickly they are found, never which ones: whatever is known or taken of events."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matching.rules.drawn import EVENTS, FILTERS, FLAT_EVENTS
from tests.matching.rules.segments import Numbers, answer, draft_of, filters_of, wanted
from tests.matching.rules.test_agreement import is_event
from thatch import parse
from thatch.matching.segments.records import ALIVE
from thatch.matching.segments.rules import groups
from thatch.matching.segments.rules.draft import RuleTable
from thatch.matching.segments.rules.finding import find_literals
from thatch.matching.segments.rules.layout import lay_out
from thatch.matching.segments.rules.records import TextRecord
from thatch.matching.segments.rules.segment import RuleSegment
from thatch.matching.segments.rules.shares import LiteralShares
from thatch.model.expressions import Expression


def laid_out(table: RuleTable, shares: LiteralShares) -> RuleSegment:
    finding = find_literals(table)
    died = np.full(len(table.slots), ALIVE, np.int64)
    return RuleSegment(table, finding, lay_out(table, shares, finding), died, shares)


def drawn_shares(table: RuleTable, seed: int) -> LiteralShares:
    """Any shares at all, and texts from short to so long that no scan pays."""
    rng = np.random.default_rng(seed)
    attributes = len(table.attributes)
    lengths = rng.choice([0.0, 1.0, 50.0, 1e4, 1e9], attributes)
    return LiteralShares(rng.random(len(table.atom_kind)) ** 4, rng.random(8 * attributes), lengths)


@given(
    expressions=st.lists(FILTERS, min_size=1, max_size=8),
    seeds=st.lists(st.integers(0, 1_000), min_size=1, max_size=3),
    marks=st.sampled_from([0.0, 0.1, 5.0]),
    events=st.lists(EVENTS, min_size=1, max_size=4),
)
def test_no_layout_changes_an_answer(
    expressions: list[Expression], seeds: list[int], marks: float, events: list[dict[str, Any]]
) -> None:
    numbers, filters = Numbers(), filters_of(expressions)
    table = draft_of(filters, numbers).table()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(groups, "_MOST_MARKS", marks)
        segments = [laid_out(table, drawn_shares(table, seed)) for seed in seeds]
    for event in filter(is_event, events):
        for segment in (RuleSegment.build(table), *segments):
            assert answer([segment], event, numbers) == wanted(filters, event)


@pytest.mark.slow
@given(
    expressions=st.lists(FILTERS, min_size=1, max_size=8),
    events=st.lists(FLAT_EVENTS, min_size=1, max_size=6),
)
def test_laying_out_by_what_was_counted_changes_no_answer(
    expressions: list[Expression], events: list[dict[str, Any]]
) -> None:
    numbers, filters = Numbers(), filters_of(expressions)
    segment = RuleSegment.build(draft_of(filters, numbers).table())
    for _ in range(3):
        for event in events:
            assert answer([segment], event, numbers) == wanted(filters, event)
        segment = segment.lay_out_again()


def test_what_is_rare_is_waited_for() -> None:
    numbers, filters = Numbers(), {0: parse("a like '%often%' and b like '%seldom%'")}
    table = draft_of(filters, numbers).table()
    texts = [table.atom_text[atom] for atom in range(2)]
    for rare in range(2):
        shares = LiteralShares.assumed(table)
        shares.atoms[:], shares.atoms[rare] = 0.9, 0.001
        segment = laid_out(table, shares)
        (group,) = np.flatnonzero(np.diff(segment.layout["rule_at"])).tolist()
        waited = [
            atom
            for atom in range(2)
            if group in segment.layout["atom_groups"][slice(*segment.layout["group_at"][atom : atom + 2])]
        ]
        assert waited == [rare], texts


def test_long_texts_are_not_scanned_where_something_else_tells_rules_apart() -> None:
    numbers = Numbers()
    filters = {slot: parse(f"lower(a) = 'v{slot}' and b like '%word%'") for slot in range(20)}
    table = draft_of(filters, numbers).table()
    for length, is_scanned in ((0.0, True), (1e6, False)):
        shares = LiteralShares.assumed(table)
        shares.atoms[:] = np.where(table.atom_kind & 7 == 3, 1e-6, 0.01)
        shares.text_bytes[:] = length
        segment = laid_out(table, shares)
        eager = segment.finding["texts"].reshape(-1, TextRecord.width)
        scanned = [bool(each[TextRecord.eager]) for each in eager if each[TextRecord.parts]]
        assert scanned == [is_scanned]
        assert answer([segment], {"a": "V7", "b": "a word"}, numbers) == [7]
        assert answer([segment], {"a": "V7", "b": "a war"}, numbers) == []
