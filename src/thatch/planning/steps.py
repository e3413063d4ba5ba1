"""A plan as a tree that is walked depth first.

A step has tests, evaluated in order until one is false. If all are true, the members that end here are true, and the
steps below are taken one after the other. No predicate is evaluated twice. A step is skipped when all owners of the
members below it are satisfied.

    tests  symbol = 'IBM'              shared by three members
      ├ tests  price < 100     ──── S1
      └ tests  volume > 10^6
          ├ tests  price > 150 ──── S2
          └ tests  open > 90   ──── S3
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["PlanStep"]


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step and all below it.

    Parameters
    ----------
    tests : the numbers of predicates
    ends : members that are true if all tests down to here are
    below : the steps to take then
    owners : the owners of all members from here on, if each has several members; empty if the step is never skipped
    """

    tests: tuple[int, ...]
    ends: tuple[int, ...] = ()
    below: tuple[PlanStep, ...] = ()
    owners: tuple[int, ...] = field(default=(), compare=False)
