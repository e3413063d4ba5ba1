"""Rule engines, which check every rule: rule-engine (Python) and zen-engine (Rust), each used in its fastest way.

The fastest way we found to ask zen-engine for all rules that hold is one compiled expression that lists the truth of every
rule. Its decision table with hit policy `collect` took three to four times as long, one expression per rule twenty times.
rule-engine can only be asked rule by rule. Both need every attribute in every event.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import zen

from benchmarks.contest import Contestant
from thatch.workloads import Intervals

__all__ = ["RULE_ENGINE", "ZEN", "ZEN_TABLE", "rule_engine_rules", "zen_rules", "zen_table"]

RULE_ENGINE = "rule-engine"
ZEN = "zen-engine, one expression"
ZEN_TABLE = "zen-engine, decision table"

Events = Sequence[dict[str, Any]]


def rule_engine_rules(boxes: Intervals, names: Sequence[str], events: Events) -> Contestant:
    """One rule per subscription, asked one by one."""
    import rule_engine  # type: ignore[import-untyped]  # here: it takes half a second to make its parser

    rules = [rule_engine.Rule(text) for text in _expressions(boxes, names)]
    return Contestant(
        name=RULE_ENGINE,
        call=lambda event: [row for row, rule in enumerate(rules) if rule.matches(event)],
        items=events,
    )


def zen_rules(boxes: Intervals, names: Sequence[str], events: Events) -> Contestant:
    """One expression with the truth of every rule."""
    expression = zen.compile_expression(
        "[" + ", ".join(f"({text})" for text in _expressions(boxes, names)) + "]"
    )
    return Contestant(
        name=ZEN,
        call=lambda event: [row for row, holds in enumerate(expression.evaluate(event)) if holds],
        items=events,
    )


def zen_table(boxes: Intervals, names: Sequence[str], events: Events) -> Contestant:
    """A decision table with one line per subscription."""
    table = {
        "hitPolicy": "collect",
        "inputs": [{"id": name, "name": name, "type": "expression", "field": name} for name in names],
        "outputs": [{"id": "row", "name": "row", "type": "expression", "field": "row"}],
        "rules": [
            {"_id": str(row), "row": str(row), **cells} for row, cells in enumerate(_lines(boxes, names))
        ],
    }
    here = {"x": 0, "y": 0}
    nodes = [
        {"id": "in", "type": "inputNode", "name": "in", "position": here},
        {"id": "table", "type": "decisionTableNode", "name": "table", "position": here, "content": table},
        {"id": "out", "type": "outputNode", "name": "out", "position": here},
    ]
    edges = [
        {"id": f"{source}-{target}", "sourceId": source, "targetId": target, "type": "edge"}
        for source, target in (("in", "table"), ("table", "out"))
    ]
    decision = zen.ZenEngine().create_decision(json.dumps({"nodes": nodes, "edges": edges}))
    return Contestant(
        name=ZEN_TABLE,
        call=lambda event: [each["row"] for each in decision.evaluate(event)["result"]],
        items=events,
    )


def _expressions(boxes: Intervals, names: Sequence[str]) -> list[str]:
    """Each box as an expression that both engines understand."""
    low, high = boxes.low.tolist(), boxes.high.tolist()
    keys = [names[attribute] for attribute in boxes.attribute.tolist()]
    sides = [
        f"{key} == {start:g}" if start == end else f"{key} >= {start:g} and {key} <= {end:g}"
        for key, start, end in zip(keys, low, high, strict=True)
    ]
    return [" and ".join(sides[start:end]) for start, end in pairwise(boxes.offsets.tolist())]


def _lines(boxes: Intervals, names: Sequence[str]) -> list[dict[str, str]]:
    """Each box as the cells of a decision table."""
    cells = [
        (names[attribute], f"{start:g}" if start == end else f"[{start:g}..{end:g}]")
        for attribute, start, end in zip(
            boxes.attribute.tolist(), boxes.low.tolist(), boxes.high.tolist(), strict=True
        )
    ]
    empty = dict.fromkeys(names, "")
    return [{**empty, **dict(cells[start:end])} for start, end in pairwise(boxes.offsets.tolist())]
