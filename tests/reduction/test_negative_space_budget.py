"""Negative spaces that run out of their budget: more is forwarded, and what is passive is covered all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reduction.references.negative_space import points
from tests.reduction.test_negative_space import boxes, domain, each_step, histories
from thatch.errors import ParameterError
from thatch.reduction import ApproximateNegativeSpace, ForwardingSet, NegativeSpace
from thatch.reduction.negative_space import ApproximateSpace, ExactSpace


@given(histories(), st.integers(1, 60), st.sampled_from(["exact", "hand back", "reassign"]))
def test_within_any_budget_what_is_passive_is_covered(history, budget, form):
    n_axes, steps = history
    options = {"domain": domain(n_axes), "budget": budget * n_axes}
    space = ExactSpace(**options) if form == "exact" else ApproximateSpace(3, unsubscribe=form, **options)
    forwarded = set()
    for live, moves, _ in each_step(steps, space):
        forwarded = (forwarded | set(moves.forward)) - set(moves.withdraw)
        assert set(space.active) == forwarded
        assert {*space.active, *space.passive} == set(live)
        known = points(each for row in forwarded for each in live[row])
        assert points(each for row in space.passive for each in live[row]) <= known
        assert space.stats()["boxes"] * n_axes <= budget * n_axes + n_axes


@pytest.mark.parametrize(
    "policy", [NegativeSpace(), ApproximateNegativeSpace(k=5)], ids=["exact", "approximate"]
)
def test_filters_on_attributes_of_their_own_stay_within_the_budget(policy):
    link = ForwardingSet(replace(policy, budget=20_000))
    for number in range(14):
        link.add(str(number), f"a{number} between 0 and 5 and b{number} between 0 and 5")
    assert len(link.active) == 14
    link.add("inside", "a0 between 1 and 2 and b0 between 1 and 2")
    link.remove("0")
    assert "inside" in link.active
    stats = link.stats()
    assert stats["boxes"] < 20_000
    assert link.stats()["unproved"] > 0


def test_a_budget_is_a_number():
    for wrong in (0, True, 1.5):
        with pytest.raises(ParameterError, match="budget"):
            NegativeSpace(budget=wrong)
    with pytest.raises(ParameterError, match="budget"):
        ExactSpace(budget=0)


@pytest.mark.parametrize("form", ["exact", "hand back", "reassign"])
def test_a_row_that_leans_on_no_single_other_is_forwarded_when_one_of_them_goes(form):
    space = (
        ExactSpace(domain(1, 10))
        if form == "exact"
        else ApproximateSpace(50, unsubscribe=form, domain=domain(1, 10))
    )
    for row, ends in enumerate(((0, 4), (5, 9), (3, 6))):
        space.add(row, boxes([ends]))
    assert space.passive == (2,)
    assert space.stats().get("leaning", 0) == 0
    moves = space.remove(0)
    assert (moves.forward, moves.withdraw) == ((2,), (0,))
