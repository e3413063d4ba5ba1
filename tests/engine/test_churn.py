"""Engines whose subscriptions never stay: merges in any order between changes, sizes that stay flat, and counts."""

from __future__ import annotations

import pickle
import tempfile
from contextlib import ExitStack
from math import inf
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

import thatch
from tests.engine.held import IDS, MOMENTS, Held, HeldSubscriptions
from tests.examples import examples
from tests.strategies import SMALL_NUMBERS, events, expressions
from thatch.engine import merger, state
from thatch.engine.texts import table as texts
from thatch.matching import growing, reference
from thatch.matching.necessary import NecessaryIndex
from thatch.matching.segments import index as segments
from thatch.matching.segments import merging
from thatch.matching.segments.merging import MergeJob
from thatch.matching.segments.segment import Segment
from thatch.matching.segments.view import View
from thatch.model.events import read_event
from thatch.model.expressions import Expression
from thatch.model.filters import Filter


def tiny_sizes(few: int) -> list[Any]:
    """Segments from the first few subscriptions on, full deltas and merges at every second or third."""
    return [
        mock.patch.object(growing, "FEW", few),
        mock.patch.object(segments, "CAPACITY", 2),
        mock.patch.object(segments, "_FIRST", 1),
        mock.patch.object(merging, "FAN_OUT", 2),
        mock.patch.object(merging, "_TIER", 2),
        mock.patch.object(texts, "RECENT", 3),
    ]


def wanted(held: Held, event: dict[str, Any], now: float | None = None) -> list[str]:
    """The slow answer; without `now`, long after everything has expired."""
    return [
        name
        for name, (expression, _, expires) in held.items()
        if (expires is None or (now is not None and expires > now)) and reference.matches(expression, event)
    ]


class SteppedMerges(HeldSubscriptions):
    """An engine that no thread merges: the three steps of a merge are rules, so that anything may happen in between.

    Readers are simulated too: a view that was taken once must for ever answer as of the moment when it was taken.
    """

    FEW = 1

    def __init__(self) -> None:
        super().__init__()
        self.patches = ExitStack()
        for patch in (*tiny_sizes(self.FEW), mock.patch.object(merger.BackgroundMerger, "poke")):
            self.patches.enter_context(patch)
        self.folder = Path(self.patches.enter_context(tempfile.TemporaryDirectory()))
        self.probes: list[dict[str, Any]] = [{}, {"x": 1, "y": "a"}]
        self.job: MergeJob | None = None
        self.built: list[Segment] | None = None
        self.views: list[tuple[View, Any, Held]] = []

    def teardown(self) -> None:
        self.patches.close()

    @property
    def index(self) -> Any:
        """The segments, None while there are few subscriptions."""
        index = self.engine._state.index.current
        return None if isinstance(index, NecessaryIndex) else index

    # --- changes -------------------------------------------------------------------------------------------------

    @rule(name=IDS, value=st.sampled_from(SMALL_NUMBERS))
    def replace_with_a_plain_box(self, name: str, value: float) -> None:
        self.subscribe(name, thatch.attr("x") >= value, None, None)

    @rule(rows=st.lists(st.tuples(IDS, expressions), max_size=5))
    def subscribe_many(self, rows: list[tuple[str, Expression]]) -> None:
        texts_of, names = [], []
        for name, expression in dict(rows).items():
            try:
                texts_of.append(str(Filter.of(expression)))
            except thatch.FilterError:
                continue
            names.append(name)
            self.held[name] = (expression, None, None)
        columns = {"subscription": pa.array(names, pa.string()), "filter": pa.array(texts_of, pa.string())}
        assert self.engine.subscribe_many(pa.table(columns)).num_rows == 0

    # --- merges --------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.job is None and self.index is not None)
    @rule()
    def start_a_merge(self) -> None:
        self.job = self.index.next_job()
        assert self.job is not None or not self.index.has_work

    @precondition(lambda self: self.job is None and self.index is not None and len(self.held) > 0)
    @rule()
    def start_to_merge_everything(self) -> None:
        self.job = self.index._job = self.index._whole_job()
        self.engine._state._publish()

    @precondition(lambda self: self.job is not None and self.built is None)
    @rule()
    def build(self) -> None:
        assert self.job is not None
        assert self.index.next_job() is None, "one job at a time"
        self.built = self.job.build()

    @precondition(lambda self: self.built is not None)
    @rule()
    def finish_the_merge(self) -> None:
        self.index.finish(self.job, self.built)
        self.engine._state._publish()
        self.job = self.built = None

    @precondition(lambda self: self.job is not None)
    @rule(is_forked=st.booleans())
    def give_the_merge_up(self, is_forked: bool) -> None:
        if is_forked:
            self.engine._state.renew_locks()
        else:
            self.index.abandon()
        self.job = self.built = None

    @precondition(lambda self: self.job is None)
    @rule()
    def compact(self) -> None:
        self.engine.compact()
        stats = self.engine.stats()
        assert stats.get("dead", 0) == 0
        assert self.engine._state.ids.slots == len(self.held)

    @rule(name=IDS, value=st.sampled_from(SMALL_NUMBERS))
    def subscribe_when_many_attributes_are_gone(self, name: str, value: float) -> None:
        with mock.patch.object(state, "_MANY_NAMES", -(10**9)):
            self.subscribe(name, thatch.attr("y") <= value, "ann", None)

    # --- at rest -------------------------------------------------------------------------------------------------

    @rule(mode=st.sampled_from(["r", "a"]))
    def save_and_open(self, mode: Any) -> None:
        self.engine.save(self.folder / "engine", overwrite=True)
        self._take(thatch.Engine.open(self.folder / "engine", mode=mode), is_kept=mode == "a")

    @rule(is_kept=st.booleans())
    def pickle(self, is_kept: bool) -> None:
        self._take(pickle.loads(pickle.dumps(self.engine)), is_kept=is_kept)

    def _take(self, other: thatch.Engine, *, is_kept: bool) -> None:
        assert other.subscriptions().equals(self.engine.subscriptions())
        for event in self.probes:
            assert other.match(event) == wanted(self.held, event)
        if is_kept:
            self.engine, self.job, self.built = other, None, None

    # --- questions -----------------------------------------------------------------------------------------------

    @rule()
    def begin_to_read(self) -> None:
        view, ids = self.engine._state.published
        self.views = [*self.views[-2:], (view, ids, dict(self.held))]

    @rule(event=events, now=MOMENTS)
    def match(self, event: dict[str, Any], now: int | None) -> None:
        try:
            list(reference.flat_events(event))
        except thatch.EventError:
            assume(False)
        self.probes = [*self.probes[-2:], event]
        names = wanted(self.held, event, now)
        assert self.engine.match(event, now=now) == names
        assert self.engine.count(event, now=now) == len(names)
        assert self.engine.any(event, now=now) == bool(names)
        who = [self.held[name][1] or name for name in names]
        assert self.engine.match(event, now=now, by="subscriber") == list(dict.fromkeys(who))

    @rule(
        rows=st.lists(st.tuples(*[st.none() | st.sampled_from(SMALL_NUMBERS)] * 2), max_size=3), now=MOMENTS
    )
    def match_batch(self, rows: list[tuple[float | None, float | None]], now: int | None) -> None:
        columns = {
            name: pa.array([row[place] for row in rows], pa.float64()) for place, name in enumerate("xy")
        }
        found = self.engine.match_batch(pa.table(columns), ordered=True, now=now).to_pylist()
        expected = []
        for number, row in enumerate(rows):
            event = {name: value for name, value in zip("xy", row, strict=True) if value is not None}
            expected += [{"event": number, "subscription": name} for name in wanted(self.held, event, now)]
        assert found == expected

    @invariant()
    def answers_are_those_of_the_definition(self) -> None:
        for event in self.probes:
            assert self.engine.match(event) == wanted(self.held, event)

    @invariant()
    def a_view_answers_as_of_its_moment(self) -> None:
        for view, ids, held in self.views:
            for event in self.probes:
                assert ids.names(view.match(read_event(event))) == wanted(
                    held, event, -inf
                )  # a view knows no expiry

    @invariant()
    def holds_the_same_subscriptions_in_the_same_order(self) -> None:
        assert list(self.engine) == list(self.held)


class SteppedMergesOfGrowingEngines(SteppedMerges):
    """The same from plain Python on."""

    FEW = 4


HISTORIES = examples(max(settings().max_examples // 5, 15), stateful_step_count=25)
SteppedMerges.TestCase.settings = HISTORIES
SteppedMergesOfGrowingEngines.TestCase.settings = HISTORIES
SteppedMerges.TestCase.pytestmark = SteppedMergesOfGrowingEngines.TestCase.pytestmark = [pytest.mark.slow]

TestSteppedMerges = SteppedMerges.TestCase
TestSteppedMergesOfGrowingEngines = SteppedMergesOfGrowingEngines.TestCase
