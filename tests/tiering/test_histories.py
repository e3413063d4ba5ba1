"""Histories of both tiers against a plain set of filters: crashes between any two steps, a database that goes away."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run

from tests.examples import examples
from tests.stores.databases import kill
from tests.tiering.tiers import SMALL, Crash, Frail, TightTier
from thatch import parse
from thatch.errors import StoreError
from thatch.model.events import read_event
from thatch.stores import PostgresStore, SqliteStore
from thatch.tiering import PlainColdTier, TieredEngine, migration

NAMES = st.sampled_from([f"s{number}" for number in range(14)])
FILTERS = st.one_of(
    st.builds("kind = '{}' and x >= {}".format, st.sampled_from("abc"), st.integers(0, 3)),
    st.builds("x between {} and 3".format, st.integers(0, 3)),
    st.sampled_from(
        ["kind = 'a'", "kind like 'b%' or x = 2", "x is missing", "lower(kind) = 'c' and y != 1"]
    ),
)
# Calls that still succeed, whether the failing one is done all the same, and whether the process ends with it.
FAILURES = st.one_of(st.none(), st.tuples(st.integers(0, 4), st.booleans(), st.booleans()))
EVENTS = [
    {"kind": "a", "x": 2},
    {"kind": ["b", "C"], "x": [0, 3], "y": 2},
    {"kind": "bb"},
    {"x": 1, "y": [1, 2]},
]


class Histories(RuleBasedStateMachine):
    """Subscriptions come and go; `known` is what was accepted, `maybe` what a failure left open."""

    def opened(self) -> Any:
        """The store, opened again."""
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.known: dict[str, str] = {}
        self.maybe: dict[str, set[str | None]] = {}
        self.start()

    def start(self) -> None:
        self.cold = Frail(self.opened())
        self.engine = TieredEngine(self.cold, budget=SMALL, fast=TightTier())
        for name, choices in self.maybe.items():
            found = self.cold.cold.find([name])
            text = found[name].subscription.text if found else None
            assert text in choices, "the old or the new, nothing else"
            self.known.pop(name, None)
            if text is not None:
                self.known[name] = text
        self.maybe = {}

    def tried(self, name: str, text: str | None, change: Any) -> None:
        """Make a change that may fail."""
        before = self.known.get(name)
        try:
            change()
        except Crash:
            self.maybe = {name: {before, text}}
            self.cold.close()
            self.start()
            return
        except StoreError:
            self.mend()
            self.maybe = {name: {before, text}}
            self.settle()
            return
        self.known.pop(name, None)
        if text is not None:
            self.known[name] = text

    def mend(self) -> None:
        """Bring the database back."""
        self.cold.mend()

    def settle(self) -> None:
        """The database is back: the engine asks it what it has, and so do we."""
        for name, choices in self.maybe.items():
            found = self.cold.cold.find([name])
            text = found[name].subscription.text if found else None
            assert text in choices
            self.known.pop(name, None)
            if text is not None:
                self.known[name] = text
        self.maybe = {}
        self.every_event_gets_its_subscriptions_once()
        self.engine.rebalance()

    def weaken(self, failure: tuple[int, bool, bool] | None) -> None:
        """One of the next calls of the database fails, before or after it is done."""
        self.cold.mend()
        if failure is not None:
            self.cold.fuse, self.cold.is_done, self.cold.is_crash = failure

    @rule(name=NAMES, text=FILTERS, failure=FAILURES)
    def subscribe(self, name: str, text: str, failure: tuple[int, bool, bool] | None) -> None:
        self.weaken(failure)
        self.tried(name, text, lambda: self.engine.subscribe(name, text))

    @rule(start=st.integers(0, 6), texts=st.lists(FILTERS, min_size=8, max_size=8), failure=FAILURES)
    def flood(self, start: int, texts: list[str], failure: tuple[int, bool, bool] | None) -> None:
        self.weaken(failure and (failure[0] * 4, *failure[1:]))
        for number, text in enumerate(texts, start):
            self.tried(f"s{number}", text, lambda n=number, t=text: self.engine.subscribe(f"s{n}", t))

    @precondition(lambda self: self.known)
    @rule(data=st.data(), failure=FAILURES)
    def unsubscribe(self, data: st.DataObject, failure: tuple[int, bool, bool] | None) -> None:
        name = data.draw(st.sampled_from(sorted(self.known)))
        self.weaken(failure)
        self.tried(name, None, lambda: self.engine.unsubscribe(name))

    @precondition(lambda self: len(self.known) > 6)
    @rule(failure=FAILURES)
    def shrink(self, failure: tuple[int, bool, bool] | None) -> None:
        """Many go, so that clusters can come back."""
        for name in sorted(self.known)[:5]:
            self.tried(name, None, lambda n=name: self.engine.unsubscribe(n))
        self.weaken(failure)
        try:
            self.engine.rebalance()
        except Crash:
            self.cold.close()
            self.start()
        except StoreError:
            self.mend()
            self.settle()
        self.cold.mend()

    @rule()
    def restart(self) -> None:
        self.cold.close()
        self.start()

    @invariant()
    def every_event_gets_its_subscriptions_once(self) -> None:
        if not hasattr(self, "engine"):
            return
        frail, self.engine._cold = self.engine._cold, self.cold.cold
        try:
            for event in EVENTS:
                found = self.engine.match(event)
                assert len(found) == len(set(found))
                assert set(found) == {name for name, text in self.known.items() if parse(text).matches(event)}
            assert len(self.engine) == len(self.known)
            assert set(self.engine) == set(self.known)
        finally:
            self.engine._cold = frail

    @invariant()
    def memory_is_within_its_budget(self) -> None:
        if hasattr(self, "engine"):
            assert self.engine.nbytes() <= SMALL.high_mark

    def teardown(self) -> None:
        if hasattr(self, "cold"):
            self.cold.close()


FEW = examples(8, stateful_step_count=18, suppress_health_check=list(HealthCheck), deadline=None)


def test_no_history_loses_or_doubles_a_subscription():
    class InMemory(Histories):
        def __init__(self) -> None:
            super().__init__()
            self.store = PlainColdTier()

        def opened(self) -> PlainColdTier:
            return self.store

    run(InMemory, settings=examples(25, parent=FEW))


@pytest.mark.slow
def test_no_history_loses_or_doubles_a_subscription_when_cold_clusters_become_one(monkeypatch):
    folds = []

    class Folding(PlainColdTier):
        def fold(self, given):
            folds.extend(given)
            super().fold(given)

    class InMemory(Histories):
        def __init__(self) -> None:
            super().__init__()
            self.store = Folding()

        def opened(self) -> PlainColdTier:
            return self.store

    monkeypatch.setattr(migration, "_SHARE", 1_000)  # there is room for one
    run(InMemory, settings=examples(15, parent=FEW))
    assert folds


@pytest.mark.slow
def test_no_history_loses_or_doubles_a_subscription_in_sqlite():
    class InSqlite(Histories):
        def __init__(self) -> None:
            super().__init__()
            self.folder = tempfile.TemporaryDirectory()

        def opened(self) -> SqliteStore:
            store = SqliteStore(Path(self.folder.name) / "store.db")
            store.nbytes = lambda: 0  # type: ignore[method-assign]  # leave the budget to memory
            return store

        def teardown(self) -> None:
            super().teardown()
            self.folder.cleanup()

    run(InSqlite, settings=FEW)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.xdist_group("postgres")
def test_no_history_loses_or_doubles_a_subscription_in_postgres_that_is_killed(postgres):
    numbers = count()
    kills: list[str] = []

    class InPostgres(Histories):
        def __init__(self) -> None:
            super().__init__()
            self.namespace = f"history_{next(numbers)}"
            self.is_down = self.was_down = False  # once in a history: the server takes a second to come back

        def opened(self) -> Any:
            store = PostgresStore(postgres.where, namespace=self.namespace)
            store.nbytes = lambda: 0  # type: ignore[method-assign]  # leave the budget to memory
            return store

        @precondition(lambda self: not self.was_down)
        @rule(fuse=st.integers(0, 12), texts=st.lists(FILTERS, min_size=9, max_size=9))
        def kill(self, fuse: int, texts: list[str]) -> None:
            """Between two of the next calls, which may be those of a move."""
            self.cold.fuse, self.cold.act = fuse, self.end
            for number, text in enumerate(texts):
                self.tried(f"s{number}", text, lambda n=number, t=text: self.engine.subscribe(f"s{n}", t))
            self.cold.mend()

        def end(self) -> None:
            kills.append(self.namespace)
            kill(postgres)
            self.is_down = self.was_down = True
            with pytest.raises(StoreError):
                self.cold.cold.match(read_event({"x": 1}))
            self.engine.answer({"x": 1})  # memory still answers

        def mend(self) -> None:
            super().mend()
            if self.is_down:
                self.is_down = False
                postgres.start()

    run(InPostgres, settings=examples(6, parent=FEW))
    assert kills
