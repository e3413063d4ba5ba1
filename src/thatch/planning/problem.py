"""The planning problem of paper C, sections 2 and 3: in which order are the predicates of a set of subscriptions evaluated?

A set has **predicates**, each with a selectivity (the probability that it is true) and a cost, and **members**,
conjunctions of them. Every member has an **owner**, whom one true member satisfies: that is the paper's disjunctive
commonality. Where one owner has all members the answer is yes or no (a link that forwards one copy, a subscription in
disjunctive form); where each subscription is an owner, it is a list of them. A predicate that several members hold
is a conjunctive commonality. Evaluation ends as soon as the answer is known; wanted is the least expected cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Literal

from thatch.errors import ParameterError, shown

__all__ = ["Answer", "PlanningProblem"]

Answer = Literal["list", "any"]


@dataclass(frozen=True, kw_only=True)
class PlanningProblem:
    """A set of subscriptions to be planned, checked; `PlanningProblem.of` makes one.

    Parameters
    ----------
    members : the predicates of each conjunction by number, each once
    owners : whom each member satisfies, numbered from 0
    selectivities : the probability that each predicate is true
    costs : what it takes to evaluate each
    names : what each is called
    implied : for each, weaker ones that follow from it and may be tested before it
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
        answer: Answer = "list",
        names: Sequence[str] | None = None,
        implied: Sequence[Sequence[int]] | None = None,
    ) -> PlanningProblem:
        """The problem with these parts.

        Parameters
        ----------
        costs : one for all predicates, or one for each
        owners : whom each member satisfies; by default everybody is an owner
        answer : "any" gives all members to one owner, so that the answer is yes or no
        implied : for each predicate those that follow from it; by default predicates are independent

        Raises
        ------
        ParameterError
            If there is no member, one names a predicate that is none or names it twice, a selectivity is no
            probability, a cost is not positive, a predicate implies itself or none, or lengths differ.

        Examples
        --------
        >>> PlanningProblem.of([[0, 1], [0, 2]], [0.5, 0.1, 0.2], answer="any").owners
        (0, 0)
        """
        given = tuple(tuple(each) for each in members)
        if not given:
            raise ParameterError("at least one member", "none", "members")
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
        """The same set under other selectivities."""
        chances = tuple(float(each) for each in _checked_selectivities(selectivities))
        if len(chances) != len(self.selectivities):
            raise ParameterError(
                f"{len(self.selectivities)} selectivities", f"{len(chances)}", "selectivities"
            )
        return replace(self, selectivities=chances)

    def chance(self, predicate: int, known: Collection[int]) -> float:
        """The probability that a predicate is true where others are known to be: of its own, and of what it implies."""
        own = self.selectivities[predicate]
        for each in self.implied[predicate]:  # from the rarest on, which tells most
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
        """Owners of several members: one true member spares the others."""
        return frozenset(owner for owner, members in Counter(self.owners).items() if members > 1)

    @cached_property
    def holders(self) -> dict[int, tuple[int, ...]]:
        """The members that hold each predicate, for those that some member holds."""
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
        raise ParameterError("each predicate once", shown(member), where)


def _checked_selectivities(values: Sequence[float]) -> Sequence[float]:
    for number, value in enumerate(values):
        if not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN is none either
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
        raise ParameterError(f"what each of {predicates} predicates implies", f"{len(implied)}", "implied")
    for number, weaker in enumerate(implied):
        _check_member((number, *weaker), predicates, f"what predicate {number} implies")
    return tuple(tuple(each) for each in implied)


def _numbered(owners: Sequence[int] | None, members: int) -> tuple[int, ...]:
    """Owners as numbers from 0 in the order in which they come."""
    if owners is None:
        return tuple(range(members))
    if len(owners) != members:
        raise ParameterError(f"an owner for each of {members} members", f"{len(owners)}", "owners")
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(owner, len(numbers)) for owner in owners)
