"""What is planned: bad input, and what a set has in common."""

from __future__ import annotations

from math import inf, nan

import pytest

from tests.planning.reference import best_cost
from thatch.errors import ParameterError
from thatch.planning import PlanningProblem, commonalities
from thatch.planning.commonalities import clusters, nested_clusters


@pytest.mark.parametrize("wrong", [-0.1, 1.1, nan, inf, "0.5", None])
def test_a_selectivity_that_is_no_probability_is_refused(wrong):
    with pytest.raises(
        ParameterError, match=r"a selectivity from 0 to 1, got .* at selectivity of predicate 1"
    ):
        PlanningProblem.of([[0]], [0.5, wrong])
    with pytest.raises(ParameterError, match="a selectivity from 0 to 1"):
        PlanningProblem.of([[0]], [0.5]).with_selectivities([wrong])


@pytest.mark.parametrize("wrong", [0, -1.0, nan, inf])
def test_a_cost_that_is_not_positive_is_refused(wrong):
    with pytest.raises(ParameterError, match=r"a finite cost above 0, got .* at cost of predicate 0"):
        PlanningProblem.of([[0]], [0.5], costs=wrong)
    with pytest.raises(ParameterError, match=r"a finite cost above 0, got .* at cost of predicate 1"):
        PlanningProblem.of([[0]], [0.5, 0.5], costs=[1, wrong])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"members": []}, "There are no members"),
        ({"members": [[0], [2]]}, "predicates from 0 to 1, got 2 - at member 1"),
        ({"members": [[-1]]}, "predicates from 0 to 1, got -1 - at member 0"),
        ({"members": [[0, 0]]}, r"no predicate twice, got \(0, 0\) - at member 0"),
        ({"costs": [1.0]}, "a cost for each of 2 predicates, got 1"),
        ({"names": ["a"]}, "a name for each of 2 predicates, got 1"),
        ({"owners": [0, 1]}, "an owner for each of 1 members, got 2"),
        ({"answer": "none"}, "answer"),
    ],
)
def test_sets_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        PlanningProblem.of(**{"members": [[0]], "selectivities": [0.5, 0.5], **arguments})


def test_other_selectivities_are_as_many():
    with pytest.raises(ParameterError, match="2 selectivities, got 1"):
        PlanningProblem.of([[0]], [0.5, 0.5]).with_selectivities([0.5])


def test_the_slow_definitions_refuse_what_would_take_too_long():
    with pytest.raises(ParameterError, match="at most 12 predicates, got 13"):
        best_cost(PlanningProblem.of([[0]], [0.5] * 13))


def test_commonalities_are_told_as_the_paper_writes_them():
    problem = PlanningProblem.of(
        [[0, 1], [0, 2], [0, 1, 3], [4]], [0.5] * 5, owners=[0, 0, 1, 2], names=["a", "b", "c", "d", "e"]
    )
    assert [each.expression(problem) for each in commonalities(problem)] == [
        "S0 ∨ S1 → answered",
        "not (a) → ¬S0 ∧ ¬S1 ∧ ¬S2",
        "not (b) → ¬S0 ∧ ¬S2",
    ]
    many = PlanningProblem.of([[0]] * 5, [0.5], answer="any", names=["a"])
    assert commonalities(many)[1].expression(many) == "not (a) → ¬S0 ∧ ¬S1 ∧ … ∧ ¬S4"


def test_predicates_with_the_same_members_are_one_cluster():
    (found,) = clusters(PlanningProblem.of([[0, 1, 2], [1, 0, 3]], [0.5] * 4))
    assert (found.members, found.predicates) == ((0, 1), (0, 1))


def test_nested_clusters_know_what_is_around_them_and_overlapping_ones_are_told():
    nested = nested_clusters(PlanningProblem.of([[0, 1, 2], [0, 1, 3], [0, 4]], [0.5] * 5))
    assert nested is not None
    assert [(cluster.predicates, around) for cluster, around in nested] == [((0,), -1), ((1,), 0)]
    assert nested_clusters(PlanningProblem.of([[0, 1], [1, 2], [2, 0]], [0.5] * 3)) is None


def test_what_implies_something_that_never_holds_never_holds():
    problem = PlanningProblem.of([[0, 1]], [0.0, 0.0], implied=[[1], []])
    assert problem.chance(0, [1]) == 0.0
    assert problem.chance(0, []) == 0.0
