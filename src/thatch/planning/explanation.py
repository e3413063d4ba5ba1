"""Describe a plan as text: commonalities, the order of evaluation, and the cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import prod

from thatch.planning.commonalities import Commonality, commonalities
from thatch.planning.plans import MatchingPlan
from thatch.planning.steps import PlanStep

__all__ = ["algorithm_line", "commonality_lines", "plan_lines", "topology_line"]

_WHY = {
    "arrival order": "in the order given, without a plan",
    "depth-first": "optimal for this topology",
    "dynamic programme": "optimal among all adaptive strategies",
    "factored heuristic": "shared predicates first; not proved optimal",
}
_MOST_NAMED = 3  # members that a line names
_ALIKE = 0.8  # share of common members from which on two commonalities count as the same


def topology_line(plan: MatchingPlan) -> str:
    """The topology and the size of the set."""
    problem = plan.problem
    answer = "yes or no" if problem.owner_count == 1 else "a list"
    sizes = f"{_number(len(problem.members), 'conjunction')} of {_number(len(problem.holders), 'predicate')}"
    return f"{plan.topology}: {sizes}, the answer is {answer}"


def algorithm_line(plan: MatchingPlan) -> str:
    """The algorithm that made the plan, and whether it is optimal."""
    text = f"{plan.algorithm}: {_WHY[plan.algorithm]}"
    if plan.states is None:
        return text
    beyond = "" if plan.strategy is not None else ", more than the budget"
    return f"{text}; {_number(plan.states, 'state')}{beyond}"


def commonality_lines(plan: MatchingPlan, names: Sequence[str], most: int = 10) -> Iterator[str]:
    """The commonality expressions of a set: disjunctive ones, then those that are expected to reject most members.

    Parameters
    ----------
    names : the names of the members
    most : how many lines to show
    """
    found = sorted(commonalities(plan.problem), key=lambda each: _rejected(plan, each))
    shown = _different(found, most)
    for each in shown:
        expression = each.expression(plan.problem, names)
        share = "" if each.use == "disjunctive" else f", false {_false(plan, each):.0%}"
        yield f"{each.use}, {_number(len(each.members), 'member')}{share}: {expression}"
    if not found:
        yield "nothing"
    if len(found) > len(shown):
        yield f"… and {len(found) - len(shown):,} more"


def _different(found: Sequence[Commonality], most: int) -> list[Commonality]:
    """Some of them, without those of nearly the same members: one of many weaker predicates is enough."""
    chosen: list[Commonality] = []
    seen: list[set[int]] = []
    for each in found:
        if len(chosen) == most:
            break
        own = set(each.members)
        if any(len(own & other) > _ALIKE * len(own | other) for other in seen):
            continue
        chosen.append(each)
        seen += [own] if each.use == "conjunctive" else []
    return chosen


def _rejected(plan: MatchingPlan, each: Commonality) -> tuple[bool, float]:
    return each.use == "conjunctive", -len(each.members) * _false(plan, each)


def _false(plan: MatchingPlan, each: Commonality) -> float:
    """The probability that a commonality is false."""
    return 1.0 - prod(plan.problem.selectivities[predicate] for predicate in each.predicates)


def plan_lines(plan: MatchingPlan, names: Sequence[str], most: int = 20) -> list[str]:
    """The plan, one line per step, indented below the steps that must be true before it.

    Parameters
    ----------
    names : the names of the members
    most : how many steps to show: those with most members below if the answer is a list, otherwise the first
    """
    if plan.strategy is None:
        shown = _Shown(plan, most)
        return list(_step_lines(plan, plan.steps, names, shown, 0))
    lines = list(_strategy_lines(plan))
    return lines if len(lines) <= most else [*lines[:most], f"… and {len(lines) - most:,} more"]


class _Shown:
    """The steps of a plan to show, and the number of steps and members below each."""

    def __init__(self, plan: MatchingPlan, most: int) -> None:
        self.sizes: dict[int, tuple[int, int]] = {}
        self._order: dict[int, int] = {}
        self._measure(plan.steps)
        is_list = plan.problem.owner_count > 1
        self._steps: set[int] = set()
        waiting = [(0, 0, plan.steps)]
        while waiting and len(self._steps) < most:
            *_, step = heappop(waiting)
            if step.tests or step.ends:
                self._steps.add(id(step))
            for each in step.below:
                weight = self.sizes[id(each)][1] if is_list else 0
                heappush(waiting, (-weight, self._order[id(each)], each))

    def __contains__(self, step: PlanStep) -> bool:
        return id(step) in self._steps or not (step.tests or step.ends)

    def _measure(self, step: PlanStep) -> tuple[int, int]:
        self._order[id(step)] = len(self._order)
        below = [self._measure(each) for each in step.below]
        steps, members = 1 + sum(each for each, _ in below), len(step.ends) + sum(each for _, each in below)
        self.sizes[id(step)] = steps, members
        return steps, members


def _step_lines(
    plan: MatchingPlan, step: PlanStep, names: Sequence[str], shown: _Shown, depth: int
) -> Iterator[str]:
    tests = " and ".join(_predicate_text(plan, each) for each in step.tests)
    ends = ", ".join(names[each] for each in step.ends[:_MOST_NAMED])
    if len(step.ends) > _MOST_NAMED:
        ends += f", … ({len(step.ends):,} in all)"
    if tests or ends:
        yield "  " * depth + " → ".join(each for each in (tests, ends) if each)
        depth += 1
    for each in step.below:
        if each in shown:
            yield from _step_lines(plan, each, names, shown, depth)
    hidden = [shown.sizes[id(each)] for each in step.below if each not in shown]
    if hidden:
        steps, members = map(sum, zip(*hidden, strict=True))
        yield "  " * depth + f"… and {_number(steps, 'step')} more, to {_number(members, 'conjunction')}"


def _strategy_lines(plan: MatchingPlan) -> Iterator[str]:
    """The evaluations along every path of answers, true ones first; a path that joins another is not repeated."""
    strategy = plan.strategy
    assert strategy is not None
    last = len(strategy.leaf) - 1
    seen: set[int] = set()
    waiting = [(0, 0, "")]
    while waiting:
        state, depth, after = waiting.pop()
        leaf = int(strategy.leaf[state])
        joins = state in seen
        seen.add(state)
        yield (
            "  " * depth
            + after
            + (f"as above: {plan.problem.names[leaf]}" if joins else _predicate_text(plan, leaf))
        )
        if joins:
            continue
        for value, following in (("false: ", strategy.if_false), ("true: ", strategy.if_true)):
            if int(following[state]) != last:
                waiting.append((int(following[state]), depth + 1, value))


def _predicate_text(plan: MatchingPlan, predicate: int) -> str:
    problem = plan.problem
    cost = "" if problem.costs[predicate] == 1 else f", cost {problem.costs[predicate]:g}"
    return f"{problem.names[predicate]} [{problem.selectivities[predicate]:.3g}{cost}]"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
