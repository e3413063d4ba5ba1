"""Every policy on small grids: after each step of a random history nothing that is wanted is missing downstream."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from thatch.errors import ParameterError, SubscriptionError, UnknownSubscriptionError
from thatch.reduction.boxes import HIGHEST, LOWEST, Boxes, log_volume
from thatch.reduction.forwarding.forwarding_set import make_rows
from thatch.reduction.forwarding.policies import (
    ApproximateNegativeSpace,
    Diagrams,
    Exact,
    Flooding,
    NegativeSpace,
    Pairwise,
    Policy,
    Probabilistic,
)
from thatch.reduction.problem import Moves

_AXES, _SIDE = 3, 4  # a small world, every point of which is looked at

SAFE = {
    "flooding": Flooding(),
    "pairwise": Pairwise(),
    "pairwise, demoting": Pairwise(demote=True),
    "diagrams": Diagrams(),
    "diagrams, two phases": Diagrams(phases=2, demote=False),
    "exact": Exact(budget=inf),
    "exact, demoting": Exact(budget=inf, demote=True),
    "exact, one cell": Exact(budget=1),
    "negative space": NegativeSpace(),
    "approximate": ApproximateNegativeSpace(k=3),
    "approximate, literal": ApproximateNegativeSpace(k=2, literal=True),
    "approximate, dynamic": ApproximateNegativeSpace(k=3, dynamic=True, metric="benefit"),
    "approximate, handing back": ApproximateNegativeSpace(k=3, unsubscribe="hand back", metric="cost"),
}
GROUP = ("exact", "exact, demoting", "negative space")
PROVING = tuple(name for name in SAFE if name.startswith(("flooding", "pairwise", "diagrams", "exact")))

Side = tuple[int, int]
Row = tuple[tuple[Side, ...], ...]  # boxes, each with a side for every axis

_sides = st.tuples(st.integers(0, _SIDE - 1), st.integers(0, _SIDE - 1)).map(
    lambda ends: (min(ends), max(ends))
)
_boxes = st.tuples(*[_sides] * _AXES)
_rows = st.lists(_boxes, min_size=1, max_size=2).map(tuple)


def boxes_of(row: Row) -> Boxes:
    """A row as the sets take it: a side at the end of the small world goes on to the end of the axis."""
    ends = np.array(row, np.int64)
    lows, highs = ends[..., 0], ends[..., 1]
    return Boxes.of(np.where(lows == 0, LOWEST, lows), np.where(highs == _SIDE - 1, HIGHEST, highs))


def points_of(rows: list[Row]) -> set[tuple[int, ...]]:
    """The points of the small world that lie in one of the rows."""
    return {
        point
        for row in rows
        for box in row
        for point in product(*(range(low, high + 1) for low, high in box))
    }


class GridFilters:
    """Stands in for the filters of a link: boxes that a test gives."""

    def __init__(self) -> None:
        self.known: dict[int, Boxes] = {}

    def follow_labels(self, relabel: object) -> None:
        """Labels of a grid never change."""

    def boxes(self, row: int) -> Boxes:
        return self.known[row]

    question = boxes

    def volume(self, row: int) -> float:
        return log_volume(self.known[row])


class GridRows:
    """The rows of a policy on a grid."""

    def __init__(self, policy: Policy) -> None:
        self._filters = GridFilters()
        self._rows = make_rows(policy, self._filters)  # type: ignore[arg-type] # as far as rows ask

    def add(self, row: int, boxes: Boxes) -> Moves:
        self._filters.known[row] = boxes
        return self._rows.add(row)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)


class History(RuleBasedStateMachine):
    """Rows come and go; `policy` is set by the subclasses below."""

    name: str
    policy: Policy

    def __init__(self) -> None:
        super().__init__()
        self.rows = GridRows(self.policy)
        self.live: dict[int, Row] = {}
        self.known: set[int] = set()  # at the other end of the link
        self.next = 0

    def _apply(self, moves: object) -> None:
        forward, withdraw = moves
        wanted = points_of(list(self.live.values()))
        for row in forward:
            assert row not in self.known
            self.known.add(row)
        for row in withdraw:
            self.known.remove(row)
            # Make before break: no withdrawal leaves anything uncovered, not even for a moment.
            assert wanted <= points_of([self.live[each] for each in self.known if each in self.live])

    @rule(row=_rows)
    def add(self, row: Row) -> None:
        number, self.next = self.next, self.next + 1
        self.live[number] = row
        self._apply(self.rows.add(number, boxes_of(row)))

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.live)))
        del self.live[number]
        moves = self.rows.remove(number)
        if number not in self.known:
            assert moves == ((), ())
        self._apply(moves)

    @invariant()
    def what_is_known_is_what_is_active(self) -> None:
        assert set(self.rows.active) == self.known
        assert set(self.rows.active) | set(self.rows.passive) == set(self.live)
        assert not set(self.rows.active) & set(self.rows.passive)

    @invariant()
    def nothing_wanted_is_unknown(self) -> None:
        assert points_of([self.live[row] for row in self.known]) == points_of(list(self.live.values()))

    @invariant()
    def proofs_name_active_rows_that_cover(self) -> None:
        if self.name in PROVING:
            for row in self.rows.passive:
                proof = self.rows.proof(row)
                assert set(proof) <= self.known
                assert points_of([self.live[row]]) <= points_of([self.live[each] for each in proof])


for _name, _policy in SAFE.items():
    _kind = type(f"Histories of {_name}", (History,), {"name": _name, "policy": _policy})
    _case = _kind.TestCase
    _case.__name__ = _case.__qualname__ = "Test" + _name.title().replace(",", "").replace(" ", "")
    _case.settings = settings(max_examples=max(10, settings().max_examples // 2))
    globals()[_case.__name__] = pytest.mark.slow(_case)
del _case


@given(st.lists(_rows, max_size=12))
def test_the_group_policies_find_the_same_rows_redundant(rows: list[Row]) -> None:
    found = []
    for name in ("exact", "negative space"):
        kept = GridRows(SAFE[name])
        for number, row in enumerate(rows):
            kept.add(number, boxes_of(row))
        found.append(kept.passive)
    assert found[0] == found[1]


@given(st.lists(_rows, max_size=12))
def test_the_exact_policy_keeps_what_is_not_inside_all_that_came_before(rows: list[Row]) -> None:
    kept = GridRows(Exact(budget=inf))
    for number, row in enumerate(rows):
        kept.add(number, boxes_of(row))
    redundant = [n for n, row in enumerate(rows) if points_of([row]) <= points_of(rows[:n])]
    assert list(kept.passive) == redundant


@given(st.lists(_rows, max_size=10))
def test_demoting_leaves_no_active_row_that_the_others_cover(rows: list[Row]) -> None:
    kept = GridRows(Exact(budget=inf, demote=True))
    for number, row in enumerate(rows):
        kept.add(number, boxes_of(row))
    for row in kept.active:
        others = [rows[each] for each in kept.active if each != row]
        assert not points_of([rows[row]]) <= points_of(others)


@pytest.mark.parametrize("name", SAFE)
def test_a_row_is_taken_in_once_and_removed_once(name: str) -> None:
    rows = GridRows(SAFE[name])
    box = boxes_of((((0, 1), (0, 1), (0, 1)),))
    rows.add(1, box)
    with pytest.raises(SubscriptionError):
        rows.add(1, box)
    with pytest.raises(UnknownSubscriptionError):
        rows.remove(2)
    assert rows.active == (1,)
    rows.remove(1)
    with pytest.raises(UnknownSubscriptionError):
        rows.remove(1)
    assert (rows.active, rows.passive) == ((), ())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Exact(budget=0),
        lambda: Exact(budget=float("nan")),
        lambda: Probabilistic(delta=0),
        lambda: Probabilistic(delta=1),
        lambda: Probabilistic(delta=float("nan")),
        lambda: Probabilistic(delta=0.1, cap=0),
        lambda: GridRows(ApproximateNegativeSpace(k=0)),
        lambda: GridRows(ApproximateNegativeSpace(metric="size")),  # type: ignore[arg-type] # wrong on purpose
        lambda: GridRows(ApproximateNegativeSpace(unsubscribe="both")),  # type: ignore[arg-type] # wrong on purpose
    ],
)
def test_numbers_that_no_policy_can_work_with_are_refused(make: object) -> None:
    with pytest.raises(ParameterError):
        make()


def test_a_filter_that_covers_its_own_proof_s_loss_is_promoted_before_the_withdrawal() -> None:
    rows = GridRows(Exact(budget=inf))
    whole, left, right = (((0, 3), (0, 3), (0, 3)),), (((0, 1), (0, 3), (0, 3)),), (((2, 3), (0, 3), (0, 3)),)
    assert rows.add(1, boxes_of(left)) == ((1,), ())
    assert rows.add(2, boxes_of(right)) == ((2,), ())
    assert rows.add(3, boxes_of(whole)) == ((), ())
    assert rows.proof(3) == (1, 2)
    assert rows.remove(1) == ((3,), (1,))
    assert rows.remove(3) == ((), (3,))
    assert rows.active == (2,)


def test_the_probabilistic_policy_stays_within_its_error() -> None:
    """With the corrected probability of a witness and without a cap, wrong refusals are rarer than delta."""
    rng = np.random.default_rng(7)
    delta, wrong, decided = 0.05, 0, 0
    for seed in range(60):
        policy = GridRows(Probabilistic(delta=delta, seed=seed))
        rows: list[Row] = []
        for number in range(12):
            ends = np.sort(rng.integers(0, _SIDE, (_AXES, 2)), axis=1)
            row = (tuple((int(low), int(high)) for low, high in ends),)
            before = points_of([rows[each] for each in policy.active])
            policy.add(number, boxes_of(row))
            rows.append(row)
            is_new = not points_of([row]) <= before
            decided += is_new
            wrong += is_new and number not in policy.active
    assert decided > 300
    assert wrong <= 2 * delta * decided
