"""A plan in words, for people: what the set has in common, what is evaluated when, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thatch.planning.commonalities import commonalities
from thatch.planning.plans import Plan
from thatch.planning.steps import Step

__all__ = ["algorithm_line", "commonality_lines", "plan_lines", "topology_line"]

_WHY = {
    "arrival order": "as the subscriptions came: no plan",
    "depth-first": "optimal for this topology",
    "dynamic programme": "optimal among all strategies, which may depend on all that is known",
    "factored heuristic": "what is shared first; not proved optimal",
}


def topology_line(plan: Plan) -> str:
    """The topology, and how large the set is."""
    problem = plan.problem
    answer = "yes or no" if problem.owner_count == 1 else "a list"
    sizes = f"{_number(len(problem.members), 'conjunction')} of {_number(len(problem.holders), 'predicate')}"
    return f"{plan.topology}: {sizes}, the answer is {answer}"


def algorithm_line(plan: Plan) -> str:
    """What the plan was made by, and whether it is optimal."""
    text = f"{plan.algorithm}: {_WHY[plan.algorithm]}"
    if plan.states is None:
        return text
    beyond = "" if plan.strategy is not None else ", more than the budget"
    return f"{text}; {_number(plan.states, 'state')}{beyond}"


def commonality_lines(plan: Plan, names: Sequence[str], most: int = 10) -> Iterator[str]:
    """The commonality expressions of a set, those of most members first.

    Parameters
    ----------
    names : of the members
    most : lines that are shown
    """
    found = commonalities(plan.problem)
    for each in found[:most]:
        told = each.expression(plan.problem, names)
        yield f"{each.use}, {_number(len(each.members), 'member')}: {told}"
    if not found:
        yield "nothing"
    if len(found) > most:
        yield f"… and {len(found) - most:,} more"


def plan_lines(plan: Plan, names: Sequence[str], most: int = 20) -> list[str]:
    """What is evaluated, a line for each step, indented below what must be true before it.

    Parameters
    ----------
    names : of the members
    most : lines that are shown
    """
    lines = list(
        _strategy_lines(plan) if plan.strategy is not None else _step_lines(plan, plan.steps, names, 0)
    )
    if len(lines) > most:
        return [*lines[:most], f"… and {len(lines) - most:,} more"]
    return lines


def _step_lines(plan: Plan, step: Step, names: Sequence[str], depth: int) -> Iterator[str]:
    tests = " and ".join(_told(plan, each) for each in step.tests)
    ends = ", ".join(names[each] for each in step.ends)
    if tests or ends:
        yield "  " * depth + " → ".join(each for each in (tests, ends) if each)
        depth += 1
    for each in step.below:
        yield from _step_lines(plan, each, names, depth)


def _strategy_lines(plan: Plan) -> Iterator[str]:
    """What is evaluated along every way of answers, true ones first; a way that joins another is not told again."""
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
        yield "  " * depth + after + (f"as above: {plan.problem.names[leaf]}" if joins else _told(plan, leaf))
        if joins:
            continue
        for value, following in (("false: ", strategy.if_false), ("true: ", strategy.if_true)):
            if int(following[state]) != last:
                waiting.append((int(following[state]), depth + 1, value))


def _told(plan: Plan, predicate: int) -> str:
    problem = plan.problem
    cost = "" if problem.costs[predicate] == 1 else f", cost {problem.costs[predicate]:g}"
    return f"{problem.names[predicate]} [{problem.selectivities[predicate]:.3g}{cost}]"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
