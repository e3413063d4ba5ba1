"""The planning problem: in which order to evaluate the predicates of a set (commonality, sections 2 and 3).

A set has **predicates**, each with a selectivity (the probability that it is true) and a cost, and **members**, which are
conjunctions of predicates. Every member has an **owner**, and one true member satisfies its owner: the paper's disjunctive
commonality. If one owner has all members, the answer is yes or no (a link that forwards one copy, a subscription in
disjunctive form). If every subscription is an owner, the answer is a list. A predicate in several members is a conjunctive
commonality. Evaluation stops as soon as the answer is known; the goal is the least expected cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Literal

from thatch.errors import ParameterError, shown

__all__ = ["AnswerKind", "PlanningProblem"]

AnswerKind = Literal["list", "any"]


@dataclass(frozen=True, kw_only=True)
class PlanningProblem:
    """A set of subscriptions to plan; `PlanningProblem.of` checks it.

    Parameters
    ----------
    members : the numbers of the predicates of each conjunction, without repetition
    owners : the owner of each member, numbered from 0
    selectivities : the probability that each predicate is true
    costs : the cost of evaluating each predicate
    names : the name of each predicate
    implied : for each predicate, weaker ones that it implies and that may be tested before it
    """

    members: tuple[tuple[int, ...], ...]
    owners: tuple[int, ...]
    selectivities: tuple[float, ...]
    costs: tuple[float, ...]
    names: tuple[str, ...]
    implied: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        members: Sequence[Sequence[int]],
        selectivities: Sequence[float],
        *,
        costs: Sequence[float] | float = 1.0,
        owners: Sequence[int] | None = None,
        answer: AnswerKind = "list",
        names: Sequence[str] | None = None,
        implied: Sequence[Sequence[int]] | None = None,
    ) -> PlanningProblem:
        """Check the parts and make a problem of them.

        Parameters
        ----------
        costs : one for all predicates, or one for each
        owners : the owner of each member; by default every member has its own
        answer : "any" gives all members to one owner, so that the answer is yes or no
        implied : for each predicate those that it implies; by default predicates are independent

        Raises
        ------
        ParameterError
            If there is no member, a predicate number is unknown or repeated, a selectivity is not a probability, a cost
            is not positive, a predicate implies itself, or lengths differ.

        Examples
        --------
        >>> PlanningProblem.of([[0, 1], [0, 2]], [0.5, 0.1, 0.2], answer="any").owners
        (0, 0)
        """
        given = tuple(tuple(each) for each in members)
        if not given:
            raise ParameterError("There are no members", where="members")
        chances = tuple(float(each) for each in _checked_selectivities(selectivities))
        if answer not in ("list", "any"):
            raise ParameterError('"list" or "any"', shown(answer), "answer")
        for number, member in enumerate(given):
            _check_member(member, len(chances), f"member {number}")
        called = tuple(f"p{number}" for number in range(len(chances))) if names is None else tuple(names)
        if len(called) != len(chances):
            raise ParameterError(f"a name for each of {len(chances)} predicates", f"{len(called)}", "names")
        return cls(
            members=given,
            owners=(0,) * len(given) if answer == "any" else _numbered(owners, len(given)),
            selectivities=chances,
            costs=_checked_costs(costs, len(chances)),
            names=called,
            implied=_checked_implied(implied, len(chances)),
        )

    def with_selectivities(self, selectivities: Sequence[float]) -> PlanningProblem:
        """The same set with other selectivities."""
        chances = tuple(float(each) for each in _checked_selectivities(selectivities))
        if len(chances) != len(self.selectivities):
            raise ParameterError(
                f"{len(self.selectivities)} selectivities", f"{len(chances)}", "selectivities"
            )
        return replace(self, selectivities=chances)

    def chance(self, predicate: int, known: Collection[int]) -> float:
        """The probability that a predicate is true, given that some others are."""
        own = self.selectivities[predicate]
        for each in self.implied[predicate]:  # the rarest first: it narrows most
            if each in known:
                weaker = self.selectivities[each]
                return min(own / weaker, 1.0) if weaker else 0.0
        return own

    @cached_property
    def owner_count(self) -> int:
        """How many owners there are."""
        return len(set(self.owners))

    @cached_property
    def repeated(self) -> frozenset[int]:
        """Owners of several members: one true member makes the others unnecessary."""
        return frozenset(owner for owner, members in Counter(self.owners).items() if members > 1)

    @cached_property
    def holders(self) -> dict[int, tuple[int, ...]]:
        """The members that contain each predicate."""
        found: dict[int, list[int]] = {}
        for number, member in enumerate(self.members):
            for predicate in member:
                found.setdefault(predicate, []).append(number)
        return {predicate: tuple(members) for predicate, members in found.items()}


def _check_member(member: Sequence[int], predicates: int, where: str) -> None:
    for each in member:
        if not isinstance(each, int) or not 0 <= each < predicates:
            raise ParameterError(f"predicates from 0 to {predicates - 1}", shown(each), where)
    if len(set(member)) < len(member):
        raise ParameterError("no predicate twice", shown(member), where)


def _checked_selectivities(values: Sequence[float]) -> Sequence[float]:
    for number, value in enumerate(values):
        if not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN fails this, too
            raise ParameterError(
                "a selectivity from 0 to 1", shown(value), f"selectivity of predicate {number}"
            )
    return values


def _checked_costs(costs: Sequence[float] | float, predicates: int) -> tuple[float, ...]:
    each = [costs] * predicates if isinstance(costs, int | float) else list(costs)
    if len(each) != predicates:
        raise ParameterError(f"a cost for each of {predicates} predicates", f"{len(each)}", "costs")
    for number, value in enumerate(each):
        if not isinstance(value, int | float) or not 0 < value < inf:
            raise ParameterError("a finite cost above 0", shown(value), f"cost of predicate {number}")
    return tuple(float(value) for value in each)


def _checked_implied(implied: Sequence[Sequence[int]] | None, predicates: int) -> tuple[tuple[int, ...], ...]:
    if implied is None:
        return ((),) * predicates
    if len(implied) != predicates:
        raise ParameterError(f"one list for each of {predicates} predicates", f"{len(implied)}", "implied")
    for number, weaker in enumerate(implied):
        _check_member((number, *weaker), predicates, f"implications of predicate {number}")
    return tuple(tuple(each) for each in implied)


def _numbered(owners: Sequence[int] | None, members: int) -> tuple[int, ...]:
    """Number owners from 0 in order of appearance."""
    if owners is None:
        return tuple(range(members))
    if len(owners) != members:
        raise ParameterError(f"an owner for each of {members} members", f"{len(owners)}", "owners")
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(owner, len(numbers)) for owner in owners)
