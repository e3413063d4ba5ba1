"""Sets of filters on a link: what is forwarded is enough for every event, whatever came and went."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import thatch
from tests.strategies import combined, conditions, events, expressions
from thatch.errors import (
    EventError,
    FilterError,
    ParameterError,
    SchemaError,
    SubscriptionError,
    UnknownSubscriptionError,
)
from thatch.model.events import read_event
from thatch.model.expressions import Compare, In
from thatch.model.filters import Filter
from thatch.reduction import (
    ApproximateNegativeSpace,
    Diagrams,
    Exact,
    Flooding,
    ForwardingSet,
    NegativeSpace,
    Pairwise,
    Policy,
)
from thatch.reduction.forwarding import forwarding_set
from thatch.reduction.forwarding.judges import ProbabilisticJudge
from thatch.reduction.probabilistic import rspc

POLICIES = {
    "flooding": Flooding(),
    "pairwise": Pairwise(demote=True),
    "diagrams": Diagrams(),
    "exact": Exact(),
    "exact, demoting": Exact(demote=True),
    "negative space": NegativeSpace(),
    "approximate": ApproximateNegativeSpace(k=4),
}


def _is_read(event: dict[str, Any]) -> bool:
    try:
        read_event(event)
    except EventError:
        return False
    return True


_close = st.sampled_from([0, 1, 2, 3, "a", "b"])
# Few attributes and values, so that filters cover each other.
_small = st.one_of(
    combined(conditions(keys=("x", "y"), is_plain=True, constants=_close), max_leaves=4),
    combined(conditions(keys=("x",), constants=st.sampled_from(["a", "ab", "B"])), max_leaves=3),
)
_near = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from([None, True, -1, 0, 0.5, 1, 1.5, 2, 3, 4, "a", "ab", "B", "b", "c"])
        for name in ("x", "y")
    },
)
_filters = st.one_of(_small, _small, expressions)
_events = st.one_of(_near, events.filter(_is_read))


def _read(expression: Any) -> Filter | None:
    try:
        return thatch.parse(expression)
    except FilterError:
        return None


class Link(RuleBasedStateMachine):
    """One link; `policy` is set by the subclasses below."""

    policy: Policy

    def __init__(self) -> None:
        super().__init__()
        self.set = ForwardingSet(self.policy)
        self.live: dict[str, Filter] = {}
        self.known: dict[str, Filter] = {}
        self.next = 0

    def _apply(self, changes: Any) -> None:
        for name, filter in changes.forward:
            assert name not in self.known
            self.known[name] = filter
        for name in changes.withdraw:
            del self.known[name]

    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        # The negative space grows with the number of axes in the exponent: many attributes are not for it.
        expression = data.draw(_small if isinstance(self.policy, NegativeSpace) else _filters)
        filter = _read(expression)
        if filter is None:
            return
        name, self.next = f"s{self.next}", self.next + 1
        self.live[name] = filter
        self._apply(self.set.add(name, filter))

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.live)))
        del self.live[name]
        self._apply(self.set.remove(name))

    @rule(order=st.sampled_from(["arrival", "volume"]))
    def rebuild(self, order: Any) -> None:
        self._apply(self.set.rebuild(order))

    @rule(event=_events)
    def publish(self, event: dict[str, Any]) -> None:
        wanted = any(filter.matches(event) for filter in self.live.values())
        assert wanted == any(filter.matches(event) for filter in self.known.values())

    @invariant()
    def active_is_what_is_known(self) -> None:
        assert self.set.active == self.known
        assert {**self.set.active, **self.set.passive} == self.live
        assert len(self.set) == len(self.live)


for _name, _policy in POLICIES.items():
    _case = type(f"Link with {_name}", (Link,), {"policy": _policy}).TestCase
    _case.__name__ = _case.__qualname__ = "Test" + _name.title().replace(",", "").replace(" ", "")
    _case.settings = settings(max_examples=max(10, settings().max_examples // 6))
    globals()[_case.__name__] = pytest.mark.slow(_case)
del _case


@given(st.lists(_filters, max_size=8), st.lists(_events, max_size=8))
def test_a_proof_covers_what_it_proves(asked: list[Any], some: list[dict[str, Any]]) -> None:
    link = ForwardingSet(Exact())
    filters = {f"s{number}": filter for number, each in enumerate(asked) if (filter := _read(each))}
    for name, filter in filters.items():
        link.add(name, filter)
    for name in link.passive:
        proof = link.proof(name)
        assert set(proof) <= set(link.active)
        for event in some:
            assert not filters[name].matches(event) or any(filters[each].matches(event) for each in proof)


def test_values_that_are_missing_and_values_that_are_there_cover_everything() -> None:
    link = ForwardingSet()
    link.add("there", "a = 1 and exists(b)")
    link.add("not there", "a = 1 and b is missing")
    assert link.add("any", "a = 1") == ((), ())
    assert link.proof("any") == ("there", "not there")


def test_declared_whole_numbers_leave_no_gap_between_them() -> None:
    schema = thatch.Schema({"n": thatch.Integer(0, 10)})
    link = ForwardingSet(schema=schema)
    link.add("low", "n <= 4")
    link.add("high", "n >= 5")
    assert link.add("all", "n between 0 and 10").forward == ()
    undeclared = ForwardingSet()
    undeclared.add("low", "n <= 4")
    undeclared.add("high", "n >= 5")
    assert undeclared.add("all", "n between 0 and 10").forward


def test_equal_filters_are_forwarded_once_and_the_second_takes_over() -> None:
    link = ForwardingSet()
    link.add("one", "price < 10")
    link.add("two", "price < 10")
    assert list(link.active) == ["one"]
    assert link.remove("one") == ((("two", thatch.parse("price < 10")),), ("one",))


def test_what_is_wrong_is_refused_and_changes_nothing() -> None:
    link = ForwardingSet()
    link.add("one", "price < 10")
    before = (dict(link.active), dict(link.passive), link.stats())
    with pytest.raises(SubscriptionError, match="free"):
        link.add("one", "price < 20")
    with pytest.raises(SubscriptionError, match="text"):
        link.add(7, "price < 20")  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(FilterError):
        link.add("two", "price <")
    with pytest.raises(SchemaError):
        link.add("two", thatch.parse("price < 20", schema=thatch.Schema({"price": thatch.Number()})))
    with pytest.raises(UnknownSubscriptionError):
        link.remove("two")
    with pytest.raises(UnknownSubscriptionError):
        link.proof("one")
    assert (dict(link.active), dict(link.passive), link.stats()) == before


def test_a_filter_with_too_many_boxes_proves_nothing_and_is_covered_only_as_a_whole() -> None:
    link = ForwardingSet()
    many = " and ".join(f"a{each} in ({', '.join(map(str, range(0, 12, 2)))})" for each in range(4))
    assert link.add("many", many).forward
    assert link.add("again", many).forward
    assert link.add("wide", "a0 between 0 and 100").forward
    assert link.add("third", many).forward == ()
    assert link.remove("many").withdraw == ("many",)
    assert [name for name, _ in link.remove("wide").forward] == ["third"]


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "flooding"])
def test_cuts_without_end_between_two_values_keep_their_order(name: str) -> None:
    link = ForwardingSet(POLICIES[name])
    low, high = 0.0, 1.0
    for number in range(120):  # every cut between the two before: labels run out of room
        low = (low + high) / 2 if number % 2 else low
        high = high if number % 2 else (low + high) / 2
        link.add(f"s{number}", f"x between {low!r} and {high!r} and y = {number}")
    for number in range(0, 120, 7):
        own = f"s{number}"
        assert link.add("again", link.active[own]).forward == ()
        assert link.proof("again") in ((own,), None)
        link.remove("again")


@pytest.mark.parametrize("policy", [NegativeSpace(), ApproximateNegativeSpace(k=4), Exact()])
def test_values_that_are_next_to_each_other_get_labels(policy: Policy) -> None:
    link = ForwardingSet(policy)
    link.add("two", thatch.parse(In("time(x)", (1769817600000000, 1769817600000001))))
    assert link.add("one", thatch.parse(Compare("time(x)", "=", 1769817600000000))).forward == ()
    assert [name for name, _ in link.remove("two").forward] == ["one"]


def test_filters_that_are_gone_leave_no_labels_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding_set, "_MANY_REMOVED", 20)
    link = ForwardingSet()
    link.add("wide", "x between 0 and 1000 and y = 1")
    for number in range(200):
        link.add(f"a{number}", f"x between {number} and {number + 0.5} and y = {number}")
        link.add(f"b{number}", f"x between {number} and {number + 0.25} and y = {number}")
        if number >= 5:
            link.remove(f"a{number - 5}")
            link.remove(f"b{number - 5}")
    assert len(link) == 11
    assert len(link._filters.coordinates) < 300
    # What was decided stays decided, and is still known to those who come.
    assert link.proof("b199") == ("a199",)
    assert link.add("again", "x between 198 and 198.4 and y = 198").forward == ()
    assert link.proof("again") == ("a198",)
    assert "again" in dict(link.remove("a198").forward)


def test_rebuilding_finds_what_order_of_arrival_had_hidden() -> None:
    link = ForwardingSet()
    link.add("small", "x between 1 and 2")
    link.add("large", "x between 0 and 9")
    assert list(link.active) == ["small", "large"]
    assert link.rebuild(order="volume") == ((), ("small",))
    assert link.proof("small") == ("large",)
    assert [name for name, _ in link.remove("large").forward] == ["small"]
    with pytest.raises(ParameterError):
        link.rebuild(order="size")  # type: ignore[arg-type] # wrong on purpose


@pytest.mark.parametrize("name", POLICIES)
def test_a_set_that_is_dropped_is_gone_at_once(name: str) -> None:
    link = ForwardingSet(POLICIES[name])
    link.add("one", "x < 5 and y = 1")
    link.rebuild()
    parts = [weakref.ref(each) for each in (link, link._rows, link._filters, link._filters.coordinates)]
    gc.disable()  # else the collector might do it
    try:
        del link
        assert [part() for part in parts] == [None] * 4
    finally:
        gc.enable()


def test_an_empty_set_is_small() -> None:
    import tracemalloc

    ForwardingSet().add("one", "price < 10")  # what is loaded once is not counted
    tracemalloc.start()
    try:
        kept = [ForwardingSet() for _ in range(50)]
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size / len(kept) <= 10_000


@pytest.mark.parametrize("bad", ["", "a\0b", 5])
def test_ids_that_are_none_are_refused(bad):
    link = ForwardingSet()
    with pytest.raises(SubscriptionError, match="not empty and has no NUL"):
        link.add(bad, "x = 1")
    assert not list(link.active)


@pytest.mark.parametrize("may_be_capped", [False, True])
def test_a_box_that_needs_more_random_points_than_allowed_is_covered_only_for_who_takes_the_risk(
    may_be_capped: bool,
) -> None:
    decide = partial(rspc, delta=1e-6, rng=np.random.default_rng(0), cap=1)
    judge = ProbabilisticJudge(decide, may_be_capped=may_be_capped)
    axes = np.array([0], np.int32)
    for number, ends in enumerate(((0, 6), (5, 10))):
        judge.add(number, axes, *(np.array([end]) for end in ends))
    verdict = judge.decide(axes, np.array([0]), np.array([10]))
    assert verdict.decided_by == "rspc capped"
    assert verdict.covered is (True if may_be_capped else None)


@pytest.mark.parametrize("policy", [Pairwise(demote=True), Exact(demote=True)], ids=["pairwise", "exact"])
def test_a_proof_that_leans_on_a_covered_filter_ends_with_active_ones_and_outlives_it(policy: Policy) -> None:
    link = thatch.ForwardingSet(policy)
    link.add("medium", "x between 2 and 8")
    link.add("small", "x between 4 and 5")
    link.add("large", "x between 0 and 9")
    assert set(link.active) == {"large"}
    assert link.proof("small") == ("large",)
    link.remove("medium")
    assert link.proof("small") == ("large",)
    assert [each for each, _ in link.remove("large").forward] == ["small"]


def test_the_proof_of_a_passive_filter_names_active_ones_whatever_lies_between():
    link = thatch.ForwardingSet(Pairwise(demote=True))
    for number in range(3, 10, 2):  # each makes the one before it passive
        link.add(f"below {number}", f"x < {number}")
    assert link.proof("below 3") == link.proof("below 7") == ("below 9",)
    link.remove("below 7")
    assert link.proof("below 3") == link.proof("below 5") == ("below 9",)
    link.remove("below 5")
    assert link.proof("below 3") == ("below 9",)
