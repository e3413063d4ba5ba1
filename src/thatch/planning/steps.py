"""A plan as a tree that is walked depth first.

A step has tests, evaluated in order until one is false. Where all are true, some members have come to their end and
are true, and the steps below are taken one after the other. What is known of a predicate is not asked again. A step is
left out when all owners of the members below it are satisfied.

    tests  symbol = 'IBM'              shared by three members
      ├ tests  price < 100     ──── S1
      └ tests  volume > 10^6
          ├ tests  price > 150 ──── S2
          └ tests  open > 90   ──── S3
"""

from __future__ import annotations

from dataclasses import dataclass, field

from thatch.planning.problem import PlanningProblem

__all__ = ["PlanStep", "arrival_order"]


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step and all below it.

    Parameters
    ----------
    tests : predicates by number
    ends : members that are true where all tests down to here are
    below : steps that follow then
    owners : whom all members from here on belong to, if each of them has several members; empty if the step can never be
        left out
    """

    tests: tuple[int, ...]
    ends: tuple[int, ...] = ()
    below: tuple[PlanStep, ...] = ()
    owners: tuple[int, ...] = field(default=(), compare=False)


def arrival_order(problem: PlanningProblem) -> PlanStep:
    """No plan at all: members as they came, each with its predicates as they stand there."""
    return PlanStep(
        (),
        below=tuple(
            PlanStep(member, (number,), owners=_spared(problem, problem.owners[number]))
            for number, member in enumerate(problem.members)
        ),
    )


def _spared(problem: PlanningProblem, owner: int) -> tuple[int, ...]:
    return (owner,) if owner in problem.repeated else ()
