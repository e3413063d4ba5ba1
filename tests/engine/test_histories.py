"""Engine = reference under random interleavings of all its operations, save and open included."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

import thatch
from tests.engine.held import IDS, MOMENTS, HeldSubscriptions
from tests.examples import examples
from tests.strategies import events, expressions
from thatch.matching import growing, reference
from thatch.matching.segments import index as segments
from thatch.model.expressions import Expression
from thatch.model.filters import Filter


class EngineHistory(HeldSubscriptions):
    """The engine beside a plain dictionary of expressions, in order of subscription."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(rows=st.lists(st.tuples(IDS, expressions), max_size=5))
    def subscribe_many(self, rows: list[tuple[str, Expression]]) -> None:
        texts, wanted = [], {}
        for name, expression in rows:
            try:
                text = str(Filter.of(expression))
            except thatch.FilterError:
                text = "not a filter"
            if text != "not a filter" and name not in wanted:
                wanted[name] = (expression, None, None)
            texts.append(text)
        table = pa.table(
            {
                "subscription": pa.array([name for name, _ in rows], pa.string()),
                "filter": pa.array(texts, pa.string()),
            }
        )
        rejects = self.engine.subscribe_many(table)
        assert rejects.num_rows == len(rows) - len(wanted)
        self.held.update(wanted)

    @rule(mode=st.sampled_from(["a", "r"]))
    def save_and_open(self, mode: Any) -> None:
        path = Path(self.folder.name) / "engine"
        self.engine.save(path, overwrite=True)
        opened = thatch.Engine.open(path, mode=mode)
        assert opened.subscriptions().equals(self.engine.subscriptions())
        if mode == "a":
            self.engine = opened

    @rule(event=events, now=MOMENTS, limit=st.none() | st.integers(0, 3))
    def match(self, event: dict[str, Any], now: int | None, limit: int | None) -> None:
        try:
            list(reference.flat_events(event))
        except thatch.EventError:
            with pytest.raises(thatch.EventError):
                self.engine.match(event)
            return
        found = [
            (name, subscriber or name)
            for name, (expression, subscriber, expires) in self.held.items()
            if (expires is None or (now is not None and expires > now))
            and reference.matches(expression, event)
        ]
        names = [name for name, _ in found]
        assert self.engine.match(event, now=now, limit=limit) == (names if limit is None else names[:limit])
        assert self.engine.match(event, now=now, by="subscriber") == list(
            dict.fromkeys(who for _, who in found)
        )
        assert self.engine.count(event, now=now) == len(names)
        assert self.engine.any(event, now=now) == bool(names)
        for name in self.held:
            explained = self.engine.explain(name, event, now=-1)
            assert bool(explained) == reference.matches(self.held[name][0], event)

    @invariant()
    def holds_the_same_subscriptions_in_the_same_order(self) -> None:
        assert list(self.engine) == list(self.held)


class SegmentedEngineHistory(EngineHistory):
    """The same with everything in segments from the first subscription on, flushed at every second one."""

    def __init__(self) -> None:
        self._before = (growing.FEW, segments.CAPACITY)
        growing.FEW, segments.CAPACITY = 1, 2
        super().__init__()

    def teardown(self) -> None:
        growing.FEW, segments.CAPACITY = self._before
        super().teardown()


# A history is many examples in one, so that fewer do.
HISTORIES = examples(max(settings.default.max_examples // 5, 20))
EngineHistory.TestCase.settings = HISTORIES
SegmentedEngineHistory.TestCase.settings = HISTORIES

TestEngineHistory = EngineHistory.TestCase
TestSegmentedEngineHistory = SegmentedEngineHistory.TestCase
