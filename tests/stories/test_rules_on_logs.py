"""Twenty thousand EventBridge rules on a log, checked by an evaluator of patterns in plain Python."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.app.here import run_here

pytestmark = pytest.mark.slow

RULES, EVENTS = 20_000, 40
SOURCES = [
    f"shop.{name}" for name in ("orders", "carts", "stock", "refunds", "users", "mail", "search", "ads")
]
STATES = ["created", "paid", "Packed", "shipped", "lost"]
TAGS = ["new", "vip", "bulk", "gift"]


def drawn_rule(rng: Random) -> dict[str, Any]:
    """A pattern as people write them: a source, and a few conditions on what happened."""
    low = rng.randrange(90)
    details: dict[str, list[Any]] = {
        "state": rng.choice(
            [
                rng.sample(STATES, rng.randrange(1, 3)),
                [{"anything-but": rng.sample(STATES, 2)}],
                [{"equals-ignore-case": rng.choice(STATES).upper()}],
                [{"suffix": "ed"}],
            ]
        ),
        "total": [
            {"numeric": rng.choice([[">=", low], ["<", low], [">", low, "<=", low + 9], ["=", low]])},
            None,
        ],
        "tags": [rng.choice(TAGS)],
        "coupon": [{"exists": rng.random() < 0.5}],
        "path": rng.choice([[{"wildcard": f"/{rng.choice('ab')}*/{rng.randrange(4)}"}], [{"prefix": "/a"}]]),
    }
    chosen = rng.sample(sorted(details), rng.randrange(1, 4))
    source = rng.sample(SOURCES, rng.choice([1, 1, 1, 2]))
    return {"source": source, "detail": {name: details[name] for name in chosen}}


def drawn_event(rng: Random) -> dict[str, Any]:
    detail: dict[str, Any] = {
        "state": rng.choice(STATES),
        "total": rng.choice([rng.randrange(100), rng.randrange(1_000) / 10, None]),
        "tags": rng.sample(TAGS, rng.randrange(3)),
        "path": f"/{rng.choice('abc')}{rng.randrange(9)}/{rng.randrange(4)}",
    }
    if rng.random() < 0.4:
        detail["coupon"] = f"C{rng.randrange(9)}"
    if rng.random() < 0.2:
        del detail[rng.choice(["state", "total", "tags"])]
    return {"source": rng.choice(SOURCES), "detail": detail}


# --- what EventBridge's documentation says, in plain Python -----------------------------------------------------------


def matches(pattern: dict[str, Any], event: dict[str, Any]) -> bool:
    for name, wanted in pattern.items():
        if isinstance(wanted, dict):
            if not isinstance(event.get(name), dict) or not matches(wanted, event[name]):
                return False
            continue
        is_there = name in event and event[name] != []  # an empty list has no value to match
        values = event[name] if isinstance(event.get(name), list) else [event.get(name)]
        if not any(holds(each, values if is_there else []) for each in wanted):
            return False
    return True


def holds(condition: Any, values: list[Any]) -> bool:
    if isinstance(condition, dict) and "exists" in condition:
        return bool(values) is condition["exists"]
    return any(holds_for(condition, value) for value in values)


def holds_for(condition: Any, value: Any) -> bool:
    if not isinstance(condition, dict):
        return value == condition
    ((name, wanted),) = condition.items()
    if name == "anything-but":
        return value not in wanted
    if name == "numeric":
        return isinstance(value, int | float) and all(
            compare(value, *wanted[place : place + 2]) for place in range(0, len(wanted), 2)
        )
    if not isinstance(value, str):
        return False
    if name == "wildcard":
        head, tail = wanted.split("*")
        return value.startswith(head) and value.endswith(tail) and len(value) >= len(head) + len(tail)
    if name == "equals-ignore-case":
        return value.lower() == wanted.lower()
    return value.startswith(wanted) if name == "prefix" else value.endswith(wanted)


def compare(value: float, sign: str, bound: float) -> bool:
    return {
        "<": value < bound,
        "<=": value <= bound,
        "=": value == bound,
        ">": value > bound,
        ">=": value >= bound,
    }[sign]


# --- the command ------------------------------------------------------------------------------------------------------


def test_each_event_of_a_log_finds_the_rules_that_eventbridge_would(tmp_path: Path):
    rng = Random(20_000)
    rules = {f"rule-{number}": drawn_rule(rng) for number in range(RULES)}
    events = [drawn_event(rng) for _ in range(EVENTS)]
    rows = [json.dumps({"subscription": name, "filter": rule}) for name, rule in rules.items()]
    (tmp_path / "rules.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    ended = run_here(tmp_path, "match", "rules.jsonl", "log.jsonl")
    assert ended.returncode == 0, ended.stderr
    assert not ended.stderr
    found = {each["event"]: each["matches"] for each in map(json.loads, ended.stdout.splitlines())}
    expected = {
        number: names
        for number, event in enumerate(events)
        if (names := [name for name, rule in rules.items() if matches(rule, event)])
    }
    assert found == expected
    assert sum(map(len, found.values())) > 5_000
