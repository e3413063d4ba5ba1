"""Engines of rules answer what the reference defines, by every question, after every change and at rest."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thatch
from tests.matching.rules.drawn import EVENTS, FILTERS, FLAT_EVENTS, WIDE
from thatch.matching import growing, reference
from thatch.matching.segments import encoding
from thatch.matching.segments import index as segments
from thatch.matching.segments.rules import merging, segment
from thatch.model.expressions import Expression
from thatch.model.filters import Filter
from thatch.model.schema import Integer, Schema, Text

Held = dict[str, tuple[Expression, Filter]]


@pytest.fixture(autouse=True, scope="module")
def tiny_sizes() -> Iterator[None]:
    """Segments from the first filter on, merged at every third, read by kernels and laid out again soon."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(growing, "FEW", 1)
        patched.setattr(segments, "CAPACITY", 3)
        patched.setattr(merging, "FRESH", 3)
        patched.setattr(segment, "_ENOUGH", 8)
        patched.setattr(segment, "_MORE", 2)
        patched.setattr(encoding, "_FIRST_READ", 2)
        yield


SCHEMAS = [None, Schema({"x": Text(), "y": Integer(0, 9), "o.p": Text()})]


def subscribe(engine: thatch.Engine, held: Held, name: str, expression: Expression) -> None:
    try:
        filter = Filter.of(expression, engine.schema)
    except thatch.FilterError:
        return
    engine.subscribe(name, filter)
    held[name] = expression, filter


def check(engine: thatch.Engine, held: Held, events: list[dict[str, Any]]) -> None:
    """All questions have the answers of the definition."""
    table = pa.table({"event": [json.dumps(event) for event in events]})
    answers = []
    for event in events:
        wanted = [
            name
            for name, (expression, _) in held.items()
            if reference.matches(expression, event, engine.schema)
        ]
        assert [name for name, (_, filter) in held.items() if filter.matches(event)] == wanted
        assert engine.match(event) == wanted, event
        assert engine.count(event) == len(wanted)
        assert engine.any(event) == bool(wanted)
        answers.append(wanted)
    found = engine.match_batch(table, json="event", ordered=True)
    pairs = [*zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True)]
    assert pairs == [(number, name) for number, names in enumerate(answers) for name in names]
    counts = zip(engine.ids().to_pylist(), engine.count_batch(table, json="event").tolist(), strict=True)
    assert {name: count for name, count in counts if count} == Counter(
        name for names in answers for name in names
    )


def through(engine: thatch.Engine, way: str, folder: str) -> thatch.Engine:
    """The engine after something that changes no answer."""
    if way == "compact":
        engine.compact()
    elif way == "pickle":
        return pickle.loads(pickle.dumps(engine))  # type: ignore[no-any-return]
    elif way in ("save", "open for changes"):
        path = Path(folder) / "engine"
        engine.save(path, overwrite=True)
        return thatch.Engine.open(path, mode="r" if way == "save" else "a")
    return engine


WAYS = ["compact", "pickle", "save", "open for changes", "nothing"]


@given(
    first=st.lists(FILTERS, min_size=2, max_size=6),
    later=st.dictionaries(
        st.sampled_from([f"s{number}" for number in range(9)]), st.none() | FILTERS, max_size=4
    ),
    way=st.sampled_from(WAYS),
    schema=st.sampled_from([*SCHEMAS[:1] * 3, *SCHEMAS]),
    events=st.lists(EVENTS, min_size=1, max_size=4),
)
def test_an_engine_answers_what_the_reference_does(
    first: list[Expression],
    later: dict[str, Expression | None],
    way: str,
    schema: Schema | None,
    events: list[dict[str, Any]],
) -> None:
    events = [event for event in events if is_event(event)]
    engine, held = thatch.Engine(background=False, schema=schema), Held()
    for number, expression in enumerate(first):
        subscribe(engine, held, f"s{number}", expression)
    check(engine, held, events)
    with TemporaryDirectory() as folder:
        other = through(engine, way, folder)
        check(other, held, events)
        engine = engine if way == "save" else other
    for name, changed in later.items():
        if changed is not None:
            subscribe(engine, held, name, changed)
        elif name in held:
            engine.unsubscribe(name)
            del held[name]
    check(engine, held, events)


@pytest.mark.slow
@given(
    expressions=st.lists(WIDE, min_size=1, max_size=3),
    events=st.lists(st.one_of(FLAT_EVENTS, EVENTS), min_size=1, max_size=4),
)
def test_filters_of_thousands_of_alternatives_answer_what_the_reference_does(
    expressions: list[Expression], events: list[dict[str, Any]]
) -> None:
    engine, held = thatch.Engine(background=False), Held()
    for number, expression in enumerate(expressions):
        subscribe(engine, held, f"s{number}", expression)
    check(engine, held, [event for event in events if is_event(event)])


def is_event(event: dict[str, Any]) -> bool:
    """Whether it gives each path once."""
    try:
        list(reference.flat_events(event))
    except thatch.EventError:
        return False
    return True
