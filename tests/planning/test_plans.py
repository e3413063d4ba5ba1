"""Plans: optimal where they say so, right always."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.examples import examples
from tests.planning.reference import best_cost, combinations, cost_of, satisfied_owners
from tests.planning.sets import link_groups, nested_links, problems
from thatch.errors import ParameterError
from thatch.planning import MatchingPlan, PlanningProblem, count, execute, plan, plan_as_given, topology_of
from thatch.planning.depth_first import depth_first
from thatch.planning.dynamic_programme import best_strategy, gates_of, state_count
from thatch.planning.factoring import factor, factor_greedily
from thatch.planning.steps import PlanStep

LINK_CLUSTER = PlanningProblem.of([[0, 1], [0, 2, 3]], [0.5, 0.2, 0.9, 0.3], answer="any")


@examples(80)
@given(nested_links())
def test_the_dynamic_programme_finds_the_best_of_all_adaptive_strategies(problem):
    found = plan(problem)
    assert found.is_optimal
    assert found.cost == pytest.approx(best_cost(problem), abs=1e-9)
    assert cost_of(found) == pytest.approx(found.cost, abs=1e-9)


@examples(80)
@given(link_groups())
def test_depth_first_is_as_good_as_the_dynamic_programme_on_link_groups(problem):
    found = plan(problem)
    assert found.algorithm == "depth-first"
    gates = gates_of(problem, found.steps)
    assert found.cost == pytest.approx(best_strategy(problem, gates).cost, abs=1e-9)


@examples(80)
@given(problems())
def test_plans_that_call_themselves_optimal_are_and_no_plan_is_better_than_the_best(problem):
    found, best = plan(problem), best_cost(problem)
    cost = cost_of(found)
    assert cost >= best - 1e-9
    if found.is_optimal:
        assert cost == pytest.approx(best, abs=1e-9)
    if found.topology != "entangled" and (problem.owner_count == 1 or not problem.repeated):
        assert cost == pytest.approx(found.cost, abs=1e-9)


@examples(80)
@given(problems(most=5))
def test_every_plan_answers_as_the_definition_on_one_event_and_on_many(problem):
    events = [values for values, _ in combinations(problem)]
    columns = [
        sum(1 << place for place, values in enumerate(events) if values[predicate])
        for predicate in range(len(problem.selectivities))
    ]
    for each in _all_plans(problem):
        together = count(each, columns, len(events))
        evaluations = 0
        for place, values in enumerate(events):
            alone = execute(each, values.__getitem__)
            assert alone.owners == satisfied_owners(problem, values)
            assert alone.owners == {
                owner for owner, found in enumerate(together.satisfied) if found >> place & 1
            }
            assert len(set(alone.evaluated)) == len(alone.evaluated)
            evaluations += len(alone.evaluated)
        assert together.evaluations == evaluations


def _all_plans(problem: PlanningProblem) -> list[MatchingPlan]:
    found = plan(problem)
    overlapping = depth_first(problem, factor_greedily(problem))
    return [
        found,
        plan(problem, budget=0),
        plan_as_given(problem),
        MatchingPlan(
            problem=problem,
            topology=found.topology,
            algorithm="factored heuristic",
            is_optimal=False,
            steps=overlapping,
            cost=0.0,
        ),
    ]


@pytest.mark.parametrize(
    ("members", "answer", "topology", "algorithm"),
    [
        ([[0, 1]], "any", "conjunction", "depth-first"),
        ([[0, 1]], "list", "conjunction", "depth-first"),
        ([[0, 1], [2, 3]], "any", "link-group", "depth-first"),
        ([[0, 1], [2, 3]], "list", "separate", "depth-first"),
        ([[0, 1], [0, 2]], "any", "link-cluster", "dynamic programme"),
        ([[0, 1], [0, 2]], "list", "cluster", "factored heuristic"),
        ([[0, 1], [0, 2], [3]], "any", "multicluster-link", "dynamic programme"),
        ([[0, 1, 2], [0, 1, 3], [0, 4]], "any", "multicluster-link", "dynamic programme"),
        ([[0, 1], [0, 2], [3]], "list", "multi-cluster", "factored heuristic"),
        ([[0, 1], [1, 2], [2, 0]], "any", "entangled", "factored heuristic"),
        ([[0, 1], [1, 2], [2, 0]], "list", "entangled", "factored heuristic"),
    ],
)
def test_the_topology_is_found_and_the_plan_says_how_it_was_made(members, answer, topology, algorithm):
    found = plan(PlanningProblem.of(members, [0.5] * 5, answer=answer))
    assert (found.topology, found.algorithm) == (topology, algorithm)
    assert found.is_optimal == (algorithm != "factored heuristic")


def test_a_subscription_in_disjunctive_form_among_others_is_satisfied_by_one_alternative():
    problem = PlanningProblem.of([[0], [1], [2]], [0.9, 0.5, 0.5], owners=[7, 7, 8])
    found = plan(problem)
    assert found.topology == "separate"
    assert found.cost == pytest.approx(1 + 0.1 + 1)
    assert execute(found, lambda _: True).evaluated == (0, 2)


def test_over_the_budget_the_factored_heuristic_is_used_and_the_states_are_told():
    found = plan(LINK_CLUSTER, budget=2)
    assert (found.algorithm, found.strategy, found.is_optimal) == ("factored heuristic", None, False)
    assert found.states == state_count(gates_of(LINK_CLUSTER, found.steps)) > 2
    assert found.cost >= plan(LINK_CLUSTER).cost - 1e-9


def test_states_are_one_more_than_the_leaves_of_each_gate():
    # ψ1 and ψ2 and ((a and b) or (c and d and e)): leaf-parents with 2, 2 and 3 leaves.
    problem = PlanningProblem.of([[0, 1, 2, 3], [0, 1, 4, 5, 6]], [0.5] * 7, answer="any")
    gates = gates_of(problem, factor(problem))
    assert sorted(map(len, gates.leaves)) == [0, 2, 2, 3]
    assert state_count(gates) == 3 * 3 * 4


def test_an_optimal_strategy_may_leave_a_member_before_it_is_decided():
    """The depth-first order is not optimal once predicates are shared: the paper's section 4, last remark."""
    rng = np.random.default_rng(3)
    gains = []
    for _ in range(40):
        p = rng.random(5).tolist()
        problem = PlanningProblem.of(
            [[0, 1, 2], [0, 3, 4]], p, costs=(0.1 + rng.random(5)).tolist(), answer="any"
        )
        gains.append(plan(problem, budget=0).cost - plan(problem).cost)
    assert min(gains) > -1e-12
    assert max(gains) > 0.01


def test_a_member_that_another_one_implies_is_never_evaluated():
    problem = PlanningProblem.of([[0], [0, 1], [0, 2, 3]], [0.5] * 4, answer="any")
    found = plan(problem)
    assert found.topology == "link-cluster"
    assert found.cost == 1
    assert execute(found, lambda _: True).evaluated == (0,)


def test_a_member_without_predicates_answers_alone():
    for members in ([[]], [[], [0]], [[], [0, 1], [0, 2]]):
        found = plan(PlanningProblem.of(members, [0.5] * 3, answer="any"))
        assert found.cost == 0
        assert execute(found, lambda _: False).owners == {0}
    listed = plan(PlanningProblem.of([[], [0]], [0.5]))
    assert listed.cost == 1
    assert execute(listed, lambda _: False).owners == {0}


def test_twins_share_everything():
    problem = PlanningProblem.of([[0, 1], [1, 0]], [0.5, 0.5])
    assert topology_of(problem) == "cluster"
    assert plan(problem).cost == 1.5
    assert execute(plan(problem), lambda _: True).owners == {0, 1}


def test_shared_predicates_reject_members_together():
    rng = np.random.default_rng(1)
    # Each of 300 members holds one of 10 selective predicates, one of 10 others, and one of its own.
    members = [[20 + at, 10 + int(b), int(a)] for at, (a, b) in enumerate(rng.integers(10, size=(300, 2)))]
    problem = PlanningProblem.of(members, [0.05] * 10 + [0.6] * 10 + [0.5] * 300)
    found, arrived = plan(problem), plan_as_given(problem)
    assert found.topology == "entangled"
    assert found.cost < 40 < arrived.cost


def test_a_budget_below_nothing_is_refused():
    with pytest.raises(ParameterError, match=r"states from 0 on, got -1 - at budget"):
        plan(LINK_CLUSTER, budget=-1)


@pytest.mark.slow
def test_the_heuristic_is_near_the_best_strategy_on_small_sets():
    rng = np.random.default_rng(7)
    above = []
    for _ in range(80):
        sizes = rng.integers(1, 4, size=3)
        members = [rng.choice(6, size=size, replace=False).tolist() for size in sizes]
        problem = PlanningProblem.of(
            members, rng.random(6).tolist(), costs=rng.choice([1.0, 3.0], size=6).tolist()
        )
        found = plan(problem)
        if not found.is_optimal:
            above.append(cost_of(found) / best_cost(problem))
    assert len(above) > 40
    assert np.mean(above) < 1.05


def test_steps_whose_owners_are_satisfied_above_are_left_out():
    problem = PlanningProblem.of([[0], [0, 1]], [0.5, 0.5], owners=[0, 0])
    steps = PlanStep((0,), (0,), (PlanStep((1,), (1,), owners=(0,)),), owners=(0,))
    assert depth_first(problem, steps) == PlanStep((0,), (0,))
