"""Plans in words."""

from __future__ import annotations

from thatch.planning import PlanningProblem, plan
from thatch.planning.explanation import algorithm_line, commonality_lines, plan_lines, topology_line

NAMES = ["S1", "S2", "S3"]


def problem_of(answer, costs=1.0):
    names = ["symbol = 'IBM'", "price < 100", "volume > 9", "price > 150", "open > 90"]
    return PlanningProblem.of(
        [[0, 1], [0, 2, 3], [0, 2, 4]], [0.1, 0.5, 0.4, 0.3, 0.25], costs=costs, answer=answer, names=names
    )


def test_a_plan_is_drawn_with_what_must_be_true_before():
    found = plan(problem_of("list"))
    assert plan_lines(found, NAMES) == [
        "symbol = 'IBM' [0.1]",
        "  price < 100 [0.5] → S1",
        "  volume > 9 [0.4]",
        "    price > 150 [0.3] → S2",
        "    open > 90 [0.25] → S3",
    ]
    assert topology_line(found) == "multi-cluster: 3 conjunctions of 5 predicates, the answer is a list"
    assert algorithm_line(found) == "factored heuristic: shared predicates first; not proved optimal"


def test_a_strategy_is_drawn_by_its_answers_and_ways_that_join_are_told_once():
    found = plan(problem_of("any", costs=[1, 1, 1, 1, 2]))
    assert plan_lines(found, NAMES) == [
        "symbol = 'IBM' [0.1]",
        "  true: price < 100 [0.5]",
        "    false: volume > 9 [0.4]",
        "      true: price > 150 [0.3]",
        "        false: open > 90 [0.25, cost 2]",
    ]
    assert algorithm_line(found).endswith("among all adaptive strategies; 24 states")
    assert algorithm_line(plan(problem_of("any"), budget=5)).endswith("24 states, more than the budget")


def test_what_is_common_is_told_and_long_lists_are_cut():
    found = plan(problem_of("any"))
    assert list(commonality_lines(found, NAMES)) == [
        "disjunctive, 3 members: S1 ∨ S2 ∨ S3 → answered",
        "conjunctive, 3 members, false 90%: not (symbol = 'IBM') → ¬S1 ∧ ¬S2 ∧ ¬S3",
        "conjunctive, 2 members, false 60%: not (volume > 9) → ¬S2 ∧ ¬S3",
    ]
    assert list(commonality_lines(found, NAMES, 1))[-1] == "… and 2 more"
    assert list(commonality_lines(plan(PlanningProblem.of([[0]], [0.5])), ["S"])) == ["nothing"]


def test_of_a_large_plan_those_steps_are_shown_that_most_members_wait_for():
    assert plan_lines(plan(problem_of("list")), NAMES, 2) == [
        "symbol = 'IBM' [0.1]",
        "  volume > 9 [0.4]",
        "    … and 2 steps more, to 2 conjunctions",
        "  … and 1 step more, to 1 conjunction",
    ]
    assert plan_lines(plan(problem_of("any")), NAMES, 2)[2:] == ["… and 3 more"]
    assert plan_lines(plan(problem_of("any"), budget=0), NAMES, 2) == [
        "symbol = 'IBM' [0.1]",
        "  price < 100 [0.5] → S1",
        "  … and 3 steps more, to 2 conjunctions",
    ]
    twins = plan(PlanningProblem.of([[0]] * 5 + [[1]], [0.5, 0.4], names=["x = 1", "y = 2"]))
    assert plan_lines(twins, ["a", "b", "c", "d", "e", "f"]) == [
        "x = 1 [0.5] → a, b, c, … (5 in all)",
        "y = 2 [0.4] → f",
    ]
