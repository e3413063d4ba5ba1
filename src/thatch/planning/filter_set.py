"""Filters as a set to plan, and events as truth values of its predicates.

A predicate is what one conjunction requires of one attribute, or a check that is not an interval with all that it implies.
Conjunctions share a predicate if its canonical text is the same, as in profiles, where it may have been measured. Plans
also know some weaker predicates that it implies (`covering`), and whether events have the attribute at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thatch.errors import ParameterError, SchemaError, shown
from thatch.model.conjunctions import Conjunction
from thatch.model.events import Record, read_event
from thatch.model.filters import Filter
from thatch.model.lines import PRESENT
from thatch.model.matching import holds
from thatch.model.printing import PrintedCondition, printed_conditions
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.model.selectivity import Selectivity
from thatch.planning.covering import implied_predicates
from thatch.planning.executing import Execution, count, execute
from thatch.planning.plans import MatchingPlan
from thatch.planning.problem import AnswerKind, PlanningProblem
from thatch.planning.truths import columns_of

__all__ = ["FilterSet"]


class FilterSet:
    """Filters split into predicates, each of which occurs once.

    Parameters
    ----------
    filters : filters by name
    profile : of events, for selectivities; without one, `thatch.model.selectivity` says what is assumed
    answer : "list" for the filters that match, "any" for whether one does
    costs : costs of predicates by their text, by default 1
    covering : whether plans may test weaker predicates first; otherwise all predicates are assumed independent

    Raises
    ------
    ParameterError
        If there are no filters, or a cost is not positive.
    SchemaError
        If the filters have different schemas.

    Examples
    --------
    >>> import thatch
    >>> from thatch.planning import plan
    >>> wanted = FilterSet({"a": thatch.parse("x = 1 and y < 5"), "b": thatch.parse("x = 1 and y > 7")})
    >>> wanted.problem.names
    ('x = 1', 'y < 5', 'y > 7')
    >>> sorted(wanted.match(plan(wanted.problem), {"x": 1, "y": 3}))
    ['a']
    """

    def __init__(
        self,
        filters: Mapping[str, Filter],
        profile: Profile | None = None,
        *,
        answer: AnswerKind = "list",
        costs: Mapping[str, float] | None = None,
        covering: bool = True,
    ) -> None:
        self.names = tuple(filters)
        self.schema = _schema_of(filters)
        numbers: dict[str, int] = {}
        self.predicates: list[PrintedCondition] = []
        self.conjunctions: list[Conjunction] = []
        self.member_names: list[str] = []  # the name of each conjunction's filter
        members, owners = [], []
        for owner, (name, filter) in enumerate(filters.items()):
            for conjunction in filter.conjunctions:
                self.conjunctions.append(conjunction)
                self.member_names.append(name)
                owners.append(owner)
                members.append(self._numbered(printed_conditions(conjunction, self.schema), numbers))
        if not members:
            raise ParameterError("at least one filter", "none", "filters")
        self.selectivity = Selectivity(profile, self.schema)
        for conjunction in self.conjunctions:
            self.selectivity.observe(conjunction)
        if covering:
            self._add_presences(numbers)
        selectivities = [self.selectivity.of_condition(each) for each in self.predicates]
        uses = Counter(predicate for member in members for predicate in member)
        given = costs or {}
        self.problem = PlanningProblem.of(
            members,
            selectivities,
            implied=implied_predicates(self.predicates, selectivities, uses) if covering else None,
            costs=[given.get(each.text, 1.0) for each in self.predicates],
            owners=owners,
            answer=answer,
            names=[each.text for each in self.predicates],
        )

    def _numbered(self, conditions: Sequence[PrintedCondition], numbers: dict[str, int]) -> list[int]:
        member = []
        for each in conditions:
            number = numbers.setdefault(each.text, len(numbers))
            if number == len(self.predicates):
                self.predicates.append(each)
            if number not in member:
                member.append(number)
        return member

    def _add_presences(self, numbers: dict[str, int]) -> None:
        """Add «the event has the attribute» for attributes that several predicates need and some events lack."""
        uses = Counter(key for each in self.predicates for key, _ in each.constraints)
        for key, times in uses.items():
            presence = PrintedCondition(f"exists({key})", ((key, PRESENT),))
            if times > 1 and key[-1] != ")" and self.selectivity.of_condition(presence) < 1.0:
                self._numbered([presence], numbers)

    def execute(self, plan: MatchingPlan, event: Mapping[str, Any] | Record) -> Execution:
        """Carry out a plan of this set on an event; raises `EventError` if it is not one."""
        record = event if isinstance(event, Record) else read_event(event, self.schema)
        if not record.choices:
            return execute(plan, self._truth(record))
        # Predicates may be true on different elements of a list, so each member must be verified as a whole.
        return execute(plan, self._truth(record), lambda member: holds(self.conjunctions[member], record))

    def match(self, plan: MatchingPlan, event: Mapping[str, Any]) -> list[str]:
        """The names of the filters that match an event; with answer "any", all or none."""
        owners = self.execute(plan, event).owners
        if plan.problem.owner_count < len(self.names):
            return list(self.names) if owners else []
        return [name for owner, name in enumerate(self.names) if owner in owners]

    def cost(self, plan: MatchingPlan, records: Sequence[Record]) -> float:
        """The total cost of a plan of this set on these events."""
        flat = [record for record in records if not record.choices]
        counted = count(plan, self.columns(flat), len(flat)).cost if flat else 0.0
        return counted + sum(self.execute(plan, record).cost for record in records if record.choices)

    def columns(self, records: Sequence[Record]) -> list[int]:
        """For each predicate the set of events on which it is true; see `columns_of`."""
        return columns_of(self.predicates, records)

    def _truth(self, record: Record) -> Callable[[int], bool]:
        if record.choices:
            return lambda number: holds(_alone(self.predicates[number]), record)
        return lambda number: self.predicates[number].holds(record)


def _alone(predicate: PrintedCondition) -> Conjunction:
    return Conjunction(predicate.constraints, () if predicate.residual is None else (predicate.residual,))


def _schema_of(filters: Mapping[str, Filter]) -> Schema | None:
    schemas = {each.schema for each in filters.values()}
    if len(schemas) > 1:
        raise SchemaError("filters with the same schema", shown(list(schemas)))
    return schemas.pop() if schemas else None
