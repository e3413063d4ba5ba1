"""Rule engines at 1,000 rules, beside the engine with the same ones. W1F: they need every attribute in every event."""

from __future__ import annotations

from benchmarks.matching.measured import contest, our_row
from benchmarks.matching.rows import Row, times_faster
from benchmarks.matching.session import Session
from benchmarks.ours import SINGLE, single
from benchmarks.peers.rules import RULE_ENGINE, ZEN, ZEN_TABLE, rule_engine_rules, zen_rules, zen_table

__all__ = ["rule_rows"]


def rule_rows(session: Session) -> list[Row]:
    """A row a rule engine."""
    sizes = session.sizes
    prepared = session.prepare("W1F", sizes.rules)
    boxes, names, events = prepared.boxes, prepared.workload.attributes, prepared.events
    ours = single(prepared)
    peers = [
        rule_engine_rules(boxes, names, events[:4]),
        zen_rules(boxes, names, events[:32]),
        zen_table(boxes, names, events[:32]),
    ]
    matches, taken = contest(sizes, [ours, *peers])
    row = our_row(prepared, ours, matches, taken[SINGLE])
    return [row, *(times_faster(row, name, taken[name]) for name in (RULE_ENGINE, ZEN, ZEN_TABLE))]
