"""Weaker predicates as commonalities: they do follow, plans that test them first answer the same, and cost less."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import thatch
from tests.examples import examples
from tests.strategies import combined, conditions, events
from thatch import EventError, FilterError
from thatch.errors import ParameterError
from thatch.model.events import read_event
from thatch.model.profile import Profile
from thatch.planning import (
    FilterSet,
    PlanningProblem,
    PredicateSample,
    commonalities,
    count,
    execute,
    expected_cost,
    plan,
    plan_as_given,
)
from thatch.planning.depth_first import depth_first
from thatch.planning.factoring import factor_greedily
from thatch.planning.steps import PlanStep


@examples(30)
@given(st.lists(combined(conditions(), max_leaves=3), min_size=2, max_size=8), st.lists(events, max_size=5))
def test_what_a_predicate_implies_is_true_where_it_is(expressions, given_events):
    filters = {}
    for number, expression in enumerate(expressions):
        try:
            filters[str(number)] = thatch.Filter.of(expression)
        except FilterError:
            continue
    assume(filters)
    records = []
    for event in given_events:
        try:
            records += [read_event(event)]
        except EventError:
            continue
    assume(records)
    wanted = FilterSet(filters, Profile.of([{"x": 1, "a": "b"}, {}]))
    for record in records:
        truth = wanted._truth(record)
        for predicate, weaker in enumerate(wanted.problem.implied):
            if truth(predicate):
                assert all(map(truth, weaker))


thresholds = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 5), st.booleans()), min_size=1, max_size=3)


@examples(50)
@given(st.lists(thresholds, min_size=2, max_size=7), st.sampled_from(["list", "any"]))
def test_plans_answer_as_filters_do_and_cost_what_is_expected_where_every_predicate_stands_once(
    members, answer
):
    """Three attributes that are even and independent: every event there is, once."""
    texts = [
        " and ".join(f"x{at} {'>' if up else '<'} {value}" for at, value, up in each) for each in members
    ]
    filters = {}
    for number, text in enumerate(texts):
        try:
            filters[str(number)] = thatch.parse(text)
        except thatch.errors.NeverMatchesError:
            continue
    assume(filters)
    every = [dict(zip(("x0", "x1", "x2"), values, strict=True)) for values in product(range(7), repeat=3)]
    wanted = FilterSet(filters, Profile.of(every, filters), answer=answer)
    records = [read_event(event) for event in every]
    columns = wanted.columns(records)
    steps = depth_first(wanted.problem, factor_greedily(wanted.problem))
    for found in (plan(wanted.problem), plan(wanted.problem, budget=0), plan_as_given(wanted.problem)):
        counted = count(found, columns, len(every))
        for place, (event, record) in enumerate(zip(every[::17], records[::17], strict=True)):
            matching = [name for name, filter in filters.items() if filter.matches(event)]
            expected = (
                matching if answer == "list" or len(filters) == 1 else list(filters) if matching else []
            )
            assert wanted.match(found, event) == expected
            assert len(execute(found, wanted._truth(record)).owners) == sum(
                each >> 17 * place & 1 for each in counted.satisfied
            )
    if answer == "list" and _stands_once(steps):
        together = count(_with_steps(plan(wanted.problem), steps), columns, len(every))
        assert expected_cost(wanted.problem, steps) == pytest.approx(together.cost / len(every))


def _stands_once(step: PlanStep) -> bool:
    found: list[int] = []

    def walk(each: PlanStep) -> None:
        found.extend(each.tests)
        for below in each.below:
            walk(below)

    walk(step)
    return len(set(found)) == len(found)


def _with_steps(found, steps):
    from dataclasses import replace

    return replace(found, steps=steps, strategy=None)


def test_one_weak_predicate_rejects_all_that_imply_it():
    filters = {f"s{n}": thatch.parse(f"x > 2.{n} and y < {n}") for n in range(2, 60)}
    filters["weak"] = thatch.parse("x > 0")
    log = [{"x": n * 37 % 100 - 95, "y": n % 71} for n in range(1_000)]
    profile = Profile.of(log)
    wanted, plain = (FilterSet(filters, profile, covering=each) for each in (True, False))
    found, other = plan(wanted.problem), plan(plain.problem)
    assert found.cost < other.cost / 4
    sample = PredicateSample(wanted.columns([read_event(event) for event in log]), len(log))
    assert found.cost == pytest.approx(sample.cost(found), rel=0.1)
    first = commonalities(wanted.problem)[0]
    assert first.expression(wanted.problem, wanted.member_names) == "not (x > 0) → ¬s2 ∧ ¬s3 ∧ … ∧ ¬weak"


def test_that_an_event_has_an_attribute_is_asked_first_where_few_have_it():
    filters = {str(n): thatch.parse(f"code = {n} and y < {n}") for n in range(50)}
    log = [{"y": n % 60, **({"code": n % 40} if n % 10 == 0 else {})} for n in range(1_000)]
    wanted = FilterSet(filters, Profile.of(log))
    found = plan(wanted.problem)
    assert wanted.problem.names[found.steps.tests[0]] == "exists(code)"
    sample = PredicateSample(wanted.columns([read_event(event) for event in log]), len(log))
    assert sample.cost(found) < sample.cost(plan_as_given(wanted.problem)) / 4


def test_predictions_hold_where_attributes_are_independent():
    rng = np.random.default_rng(5)
    texts = []
    for _ in range(300):
        low, width = rng.random(3), rng.random(3) * 0.5
        texts.append(
            " and ".join(
                f"x{at} between {low[at]:.2f} and {low[at] + width[at]:.2f}" for at in rng.permutation(3)[:2]
            )
        )
    filters = {str(number): thatch.parse(text) for number, text in enumerate(texts)}
    log = [{f"x{at}": value for at, value in enumerate(row)} for row in rng.random((2_000, 3)).tolist()]
    wanted = FilterSet(filters, Profile.of(log[:1_000]))
    after = PredicateSample(wanted.columns([read_event(event) for event in log[1_000:]]), 1_000)
    found = plan(wanted.problem)
    assert any(wanted.problem.implied)
    assert found.cost == pytest.approx(after.cost(found), rel=0.1)


@pytest.mark.parametrize(
    ("implied", "message"),
    [
        ([[1]], "one list for each of 2 predicates, got 1"),
        ([[2], []], "predicates from 0 to 1, got 2 - at implications of predicate 0"),
        ([[], [1]], r"no predicate twice, got \(1, 1\) - at implications of predicate 1"),
    ],
)
def test_what_cannot_be_implied_is_refused(implied, message):
    with pytest.raises(ParameterError, match=message):
        PlanningProblem.of([[0, 1]], [0.5, 0.5], implied=implied)
