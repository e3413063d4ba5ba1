"""Rules give the right answers as plain Python, and with every access of an array checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matching.modes import in_every_mode, run_in_mode

PROGRAM = """
import random

import numpy as np

from thatch import parse
from thatch.errors import FilterError
from thatch.matching.segments import SegmentIndex
from thatch.matching.segments.rules import is_rule, merging
from thatch.matching.segments.rules.workspace import RuleWorkspace
from thatch.model.events import read_event

rng = random.Random(11)
PARTS = ["a", "b", "ab", "ba", "aab", "B", "é", "ß", "ss", "\\u212a", "k", "abcab"]
NAMES = ["x", "y", "o.p", "lower(x)", "lower(y)", "reverse(x)", "anywhere()"]
merging.FRESH = 4


def word(most=4):
    return "".join(rng.choices(PARTS, k=rng.randrange(1, most)))


def leaf():
    name = rng.choice(NAMES)
    kind = rng.choice(["like"] * 5 + ["=", "in", "unlike", "number", "null", "search"])
    if kind == "like" or name == "anywhere()":
        form = rng.choice(["%{}%", "%{}%", "{}%", "%{}", "%{}%{}%", "{}_%"])
        return f"{name} like '{form.format(word(), word())}'"
    if kind == "in":
        return f"{name} in ({', '.join(repr(word()) for _ in range(20))})"
    if kind == "search":
        return f"{name} ~ 'a+b'" if "(" not in name else f"{name} = 'ab'"
    return {"=": f"{name} = '{word()}'", "unlike": f"{name} is unlike '%{word()}%'", "null": f"{name} is null",
            "number": rng.choice([f"{name} = 5", f"{name} > 2 and {name} <= 7.5", f"{name} = 9007199254740993"])}[kind]


def tree(depth):
    if depth == 0 or rng.random() < 0.3:
        return leaf()
    word = rng.choice([" and ", " or "])
    return "(" + word.join(tree(depth - 1) for _ in range(rng.randrange(2, 5))) + ")"


def value():
    return rng.choice([word(6), word(6), word(6), "", 5, 3.5, 2**53 + 1, None, True, float("nan"), "ab" * 60])


def event():
    made = {name: value() for name in ("x", "y", "o.p", "else") if rng.random() < 0.8}
    if rng.random() < 0.3:
        made["x"] = [value() for _ in range(rng.randrange(3))]
    if rng.random() < 0.3 and "o.p" not in made:
        made["o"] = [{"p": [value(), value()]} if rng.random() < 0.7 else {"q": 1} for _ in range(rng.choice([1, 3, 12]))]
    return made


filters = {}
while len(filters) < 48:
    try:
        parsed = parse(tree(2))
    except FilterError:
        continue
    if is_rule(parsed):
        filters[len(filters)] = parsed
index = SegmentIndex()
index.extend({slot: each for slot, each in filters.items() if slot < 24})
for slot, each in filters.items():
    if slot >= 24:
        index.add(slot, each)
found = 0
for turn in range(2):
    for _ in range(20):
        made = event()
        record = read_event(made)
        wanted = [slot for slot, each in filters.items() if each.matches(made)]
        assert index.match(record) == wanted, (made, index.match(record), wanted)
        assert index.any(record) == bool(wanted)
        assert index.view.match_plain(made, np.ndarray.tolist) in (None, wanted)
        found += len(wanted)
    for slot in range(turn, 48, 5):
        if slot in filters:
            index.remove(slot)
            del filters[slot]
    for segment in index.view.shape.rules:
        segment.class_hits[-1] = 10**6
    index.merge()
print(found)
"""


@pytest.mark.slow
@in_every_mode
def test_rules_are_right_as_plain_python_and_with_every_access_checked(mode: str, tmp_path: Path) -> None:
    assert int(run_in_mode(PROGRAM, mode, tmp_path)) > 100
