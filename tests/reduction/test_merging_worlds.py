"""Merging in a small world, every point of which is looked at: mergers hold their parts and cost what is counted."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import thatch
from thatch.model.conjunctions import Conjunction, close
from thatch.model.filters import Filter
from thatch.model.selectivity import Selectivity
from thatch.reduction import ForwardingSet, Merging
from thatch.reduction.merging import ExpectedTraffic, around

_SIDE = 5
_SCHEMA = thatch.Schema({"x": thatch.Integer(0, _SIDE - 1), "y": thatch.Integer(0, _SIDE - 1)})
_POINTS = [{"x": x, "y": y} for x, y in product(range(_SIDE), repeat=2)]

_values = st.integers(0, _SIDE - 1)
_conditions = st.one_of(
    st.tuples(st.sampled_from(["=", "<=", ">=", "!="]), _values).map(lambda each: f"{each[0]} {each[1]}"),
    st.tuples(_values, _values).map(lambda ends: f"between {min(ends)} and {max(ends)}"),
)
_filters = st.one_of(
    st.tuples(_conditions, _conditions).map(lambda each: f"x {each[0]} and y {each[1]}"),
    _conditions.map(lambda each: f"x {each}"),
    st.tuples(_conditions, _conditions).map(lambda each: f"x {each[0]} or y {each[1]}"),
).map(lambda text: thatch.parse(text, schema=_SCHEMA))


def _held(filter: Filter) -> set[int]:
    return {number for number, point in enumerate(_POINTS) if filter.matches(point)}


def _merge(
    one: Conjunction, other: Conjunction, intervals: int, selectivity: Selectivity
) -> Conjunction | None:
    """A conjunction around two that constrain the same attributes and differ in one or two."""
    first, second = dict(one.constraints), dict(other.constraints)
    different = [key for key in first if first[key] != second.get(key)]
    if first.keys() != second.keys() or one.residuals != other.residuals or not 1 <= len(different) <= 2:
        return None
    for key in different:
        first[key] = around(key, first[key], second[key], intervals=intervals, selectivity=selectivity)
    return close(first, one.residuals, _SCHEMA)


@given(_filters, _filters, st.integers(1, 3))
def test_a_merger_holds_its_parts_and_costs_what_is_counted(
    one: Filter, other: Filter, intervals: int
) -> None:
    first, second = one.conjunctions[0], other.conjunctions[0]
    selectivity = Selectivity(None, _SCHEMA)
    found = _merge(first, second, intervals, selectivity)
    if found is None:
        return
    parts = _held(Filter((first,), _SCHEMA, ())) | _held(Filter((second,), _SCHEMA, ()))
    whole = _held(Filter((found,), _SCHEMA, ()))
    assert parts <= whole
    degree = ExpectedTraffic(selectivity).degree_beyond(
        dict(found.constraints), [dict(each.constraints) for each in (first, second)]
    )
    if not (degree.imperfect and len(found.constraints) < 2):  # a dropped predicate lets missing through, too
        assert degree.threshold == pytest.approx(len(whole - parts) / len(_POINTS))


class Link(RuleBasedStateMachine):
    """One link; `policy` is set by the subclasses below."""

    policy: Merging

    def __init__(self) -> None:
        super().__init__()
        self.set = ForwardingSet(self.policy, schema=_SCHEMA)
        self.live: dict[str, Filter] = {}
        self.known: dict[str, Filter] = {}
        self.next = 0

    def _apply(self, changes: Any) -> None:
        for name, filter in changes.forward:
            assert name not in self.known
            self.known[name] = filter
        for name in changes.withdraw:
            del self.known[name]

    @rule(filter=_filters)
    def add(self, filter: Filter) -> None:
        name, self.next = f"s{self.next}", self.next + 1
        self.live[name] = filter
        self._apply(self.set.add(name, filter))

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.live)))
        del self.live[name]
        self._apply(self.set.remove(name))

    @rule(filters=st.lists(_filters, max_size=6))
    def extend(self, filters: list[Filter]) -> None:
        names = [f"s{self.next + number}" for number in range(len(filters))]
        self.next += len(filters)
        self.live.update(zip(names, filters, strict=True))
        self._apply(self.set.extend(dict(zip(names, filters, strict=True))))

    @rule()
    def merge(self) -> None:
        self._apply(self.set.merge())

    @rule()
    def restore(self) -> None:
        """Another set goes on where this one ended."""
        mergers = {name: self.set.merger(name) for name in self.set.mergers}
        again = ForwardingSet(self.policy, schema=_SCHEMA)
        old = again.restore(self.live, self.known, mergers)
        for name in old:
            assert again.merger(name) == mergers[old[name]]
        for name, filter in again.active.items():
            assert old.get(name, name) not in self.known or self.known[old.get(name, name)] == filter
        self.set, self.known = again, dict(again.active)

    @rule(order=st.sampled_from(["arrival", "volume"]))
    def rebuild(self, order: Any) -> None:
        self._apply(self.set.rebuild(order))

    @invariant()
    def what_is_wanted_is_known_and_little_more(self) -> None:
        assert self.set.active == self.known
        wanted = set().union(*map(_held, self.live.values()))
        known = set().union(*map(_held, self.known.values()))
        assert wanted <= known
        allowed = 0.0
        for name, (parts, degree) in self.set.mergers.items():
            assert set(parts) <= set(self.live)
            beyond = _held(self.known[name]) - set().union(*(_held(self.live[part]) for part in parts))
            assert len(beyond) / len(_POINTS) <= degree.threshold + 1e-9
            assert degree.threshold <= self.policy.threshold + 1e-9
            allowed += degree.threshold
        assert len(known - wanted) / len(_POINTS) <= allowed + 1e-9
        assert allowed <= self.policy.budget + 1e-9
        assert len(self.known) <= len(self.live)
        assert self.set.stats()["active"] == len(self.known)
        assert {name for name in self.known if name in self.live} | set(self.set.passive) == set(self.live)


for _name, _policy in {
    "Perfect": Merging(),
    "Lists": Merging(intervals=3),
    "Imperfect": Merging(threshold=0.2),
    "Budget": Merging(threshold=0.2, budget=0.3, every=2, groups=True),
}.items():
    _case = type(f"Link{_name}", (Link,), {"policy": _policy}).TestCase
    _case.__name__ = _case.__qualname__ = f"Test{_name}"
    _case.settings = settings(max_examples=max(10, settings().max_examples // 6), stateful_step_count=30)
    globals()[_case.__name__] = pytest.mark.slow(_case)
del _case
