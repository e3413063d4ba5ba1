"""Expected costs: closed forms, general forms and counts of the executor agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thatch.errors import ParameterError
from thatch.experiments.commonality import expected as closed
from thatch.planning import PlanningProblem, PredicateSample, count, expected_cost, plan, plan_as_given
from thatch.planning.expected import chances_of_pairs, cluster_cost, conjunction_cost, link_group_cost

EVENTS = 4_000


def sampled(problem: PlanningProblem, seed: int = 0, events: int = EVENTS) -> PredicateSample:
    """Events on which predicates are independent."""
    rng = np.random.default_rng(seed)
    columns = []
    for chance in problem.selectivities:
        bits = np.packbits(rng.random(events) < chance, bitorder="little")
        columns.append(int.from_bytes(bits.tobytes(), "little"))
    return PredicateSample(columns, events)


def cluster_of(k: int, m: int, n: int, p: float) -> PlanningProblem:
    own = [range(k + j * (n - k), k + (j + 1) * (n - k)) for j in range(m)]
    return PlanningProblem.of([[*range(k), *each] for each in own], [p] * (k + m * (n - k)))


def link_of(m: int, n: int, p: float) -> PlanningProblem:
    return PlanningProblem.of([range(j * n, (j + 1) * n) for j in range(m)], [p] * (m * n), answer="any")


@examples(30)
@given(st.integers(0, 4), st.integers(1, 5), st.integers(1, 4), st.floats(0, 1))
def test_the_closed_form_of_a_cluster_is_the_general_form_is_the_cost_of_its_plan(k, m, more, p):
    n = k + more
    general = cluster_cost(([p] * k, [1.0] * k), [conjunction_cost([p] * more, [1.0] * more)] * m)
    assert closed.cluster(k, m, n, p) == pytest.approx(general, rel=1e-9)
    assert plan(cluster_of(k, m, n, p)).cost == pytest.approx(general, rel=1e-9)


@examples(30)
@given(st.integers(1, 6), st.integers(1, 5), st.floats(0, 1))
def test_the_closed_form_of_a_link_group_is_the_general_form_is_the_cost_of_its_plan(m, n, p):
    general = link_group_cost([p**n] * m, [conjunction_cost([p] * n, [1.0] * n)] * m)
    assert closed.link_group(m, n, p) == pytest.approx(general, rel=1e-9)
    assert plan(link_of(m, n, p)).cost == pytest.approx(general, rel=1e-9)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8, 0.95])
def test_counts_of_the_executor_are_the_closed_forms(p):
    for problem, expected in (
        (cluster_of(3, 20, 8, p), closed.cluster(3, 20, 8, p)),
        (link_of(20, 5, p), closed.link_group(20, 5, p)),
        (link_of(1, 7, p), closed.conjunction(7, p)),
    ):
        counted = sampled(problem).cost(plan(problem))
        assert counted == pytest.approx(expected, rel=0.05)


def test_counts_of_a_strategy_are_its_cost():
    problem = PlanningProblem.of(
        [[0, 1, 2], [0, 3, 4], [0, 5]], [0.7, 0.3, 0.6, 0.5, 0.8, 0.1], costs=[1, 2, 1, 1, 3, 1], answer="any"
    )
    found = plan(problem)
    assert found.strategy is not None
    assert sampled(problem, events=20_000).cost(found) == pytest.approx(found.cost, rel=0.03)


def test_what_stands_in_several_places_is_predicted_nearly():
    rng = np.random.default_rng(5)
    members = [rng.choice(40, size=4, replace=False).tolist() for _ in range(150)]
    problem = PlanningProblem.of(members, rng.random(40).tolist())
    sample = sampled(problem)
    for each in (plan(problem), plan_as_given(problem)):
        assert sample.cost(each) == pytest.approx(each.cost, rel=0.1)


def test_alternatives_of_several_owners_are_predicted_nearly():
    rng = np.random.default_rng(6)
    members = [rng.choice(60, size=3, replace=False).tolist() for _ in range(90)]
    problem = PlanningProblem.of(members, rng.random(60).tolist(), owners=rng.integers(15, size=90).tolist())
    sample = sampled(problem)
    for each in (plan(problem), plan_as_given(problem)):
        assert sample.cost(each) == pytest.approx(each.cost, rel=0.1)


@pytest.mark.parametrize(("n", "apex", "at"), [(5, 243.7, 0.226), (20, 622.5, 0.718), (50, 1415.7, 0.878)])
def test_the_cost_of_a_link_group_has_an_apex_inside(n, apex, at):
    ps = np.linspace(0, 1, 1_001)
    costs = [closed.link_group(200, n, p) for p in ps]
    assert max(costs) == pytest.approx(apex, abs=0.05)
    assert ps[int(np.argmax(costs))] == pytest.approx(at, abs=1e-9)


def test_limits_of_the_closed_forms():
    assert closed.link_group(200, 20, 0.0) == 200
    assert closed.link_group(200, 20, 1.0) == 20
    assert closed.link_group(200, 1, 1.0) == 1
    # The printed form gives 0 here: (1 − 10^-20)^200 is 1 in doubles.
    assert closed.link_group(200, 20, 0.1) == pytest.approx(200 * closed.conjunction(20, 0.1))
    assert closed.cluster(30, 200, 100, 1.0) == 30 + 200 * 70
    assert closed.conjunction(100, 1 - 1e-12) == pytest.approx(100)
    assert closed.conjunction(0, 0.3) == closed.link_group(0, 3, 0.3) == closed.link_group(0, 3, 1.0) == 0


@pytest.mark.parametrize(
    "asked",
    [
        lambda: closed.conjunction(3, 1.5),
        lambda: closed.conjunction(-1, 0.5),
        lambda: closed.link_group(2, 2, float("nan")),
        lambda: closed.cluster(5, 2, 4, 0.5),
    ],
)
def test_closed_forms_refuse_what_makes_no_sense(asked):
    with pytest.raises(ParameterError):
        asked()


def test_pairs_that_were_measured_correct_what_independence_gets_wrong():
    problem = PlanningProblem.of([[0, 1, 2]], [0.4, 0.5, 0.5])
    steps = plan_as_given(problem).steps
    assert expected_cost(problem, steps) == pytest.approx(1 + 0.4 + 0.2)
    never = chances_of_pairs(problem, {(0, 1): 0.0})
    assert expected_cost(problem, steps, never) == pytest.approx(1 + 0.4)
    always = chances_of_pairs(problem, {(0, 1): 0.4, (0, 2): 0.2})
    assert expected_cost(problem, steps, always) == pytest.approx(1 + 0.4 + 0.4)
    impossible = chances_of_pairs(problem.with_selectivities([0.0, 0.5, 0.5]), {(0, 1): 0.0})
    assert impossible(1, [0]) == 0.5


def test_a_sample_knows_what_is_true_together():
    problem = PlanningProblem.of([[0], [1]], [0.5, 0.5], answer="any")
    sample = PredicateSample([0b0011, 0b1100], 4)  # one of them is true on every event
    assert sample.selectivities() == [0.5, 0.5]
    assert sample.cost(plan(problem)) == plan(problem).cost == 1.5
    assert count(plan(problem), sample.columns, 4).satisfied == (0b1111,)
    with pytest.raises(ParameterError, match="at least one event"):
        PredicateSample([], 0)
