"""A set whose answer is yes or no as a tree of `and` and `or` gates, whose leaves are predicates, each once.

Common predicates are factored out: C = ψ and ((φ11 and …) or (φ21 and …) or …). Gates alternate: below an `and`
stand leaves and `or` gates, below an `or` leaves and `and` gates. A member with one predicate left is a leaf of its `or`; a
member with none makes the `or` true, so that it is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from thatch.planning.conjunction import by_ratio, by_true_ratio
from thatch.planning.problem import Problem
from thatch.planning.steps import Step

__all__ = ["Gates", "gates_of"]


@dataclass(frozen=True, slots=True)
class Gates:
    """The tree by columns, a gate each; gates come after the one above them.

    Parameters
    ----------
    is_and : what kind each is
    above : the gate above it, −1 for the first
    leaves : predicates, in the order in which siblings are evaluated in an optimal strategy: by (1 − p) / c below an
        `and`, by p / c below an `or`
    """

    is_and: tuple[bool, ...]
    above: tuple[int, ...]
    leaves: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.is_and)

    def within(self, gate: int) -> list[int]:
        """A gate and all below it."""
        found = {gate}
        for each in range(gate + 1, len(self)):
            if self.above[each] in found:
                found.add(each)
        return sorted(found)


def gates_of(problem: Problem, step: Step) -> Gates:
    """The gates of steps that have every predicate once and members of one owner only."""
    building = _Building(problem)
    building.conjunction(step, -1)
    return Gates(tuple(building.is_and), tuple(building.above), tuple(building.leaves))


class _Building:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.is_and: list[bool] = []
        self.above: list[int] = []
        self.leaves: list[tuple[int, ...]] = []

    def conjunction(self, step: Step, above: int) -> None:
        """`tests and (below or …)`."""
        tests = step.tests
        while not step.ends and len(step.below) == 1:
            (step,) = step.below
            tests = (*tests, *step.tests)
        below = () if step.ends else step.below
        if tests:
            above = self._gate(above, by_ratio(self._problem, tests), is_and=True)
        if below:
            self._disjunction(below, above)

    def _disjunction(self, steps: tuple[Step, ...], above: int) -> None:
        single = [each.tests[0] for each in steps if len(each.tests) == 1 and each.ends]
        gate = self._gate(above, by_true_ratio(self._problem, single), is_and=False)
        for each in steps:
            if len(each.tests) != 1 or not each.ends:
                self.conjunction(each, gate)

    def _gate(self, above: int, leaves: tuple[int, ...], *, is_and: bool) -> int:
        self.is_and.append(is_and)
        self.above.append(above)
        self.leaves.append(leaves)
        return len(self.is_and) - 1
