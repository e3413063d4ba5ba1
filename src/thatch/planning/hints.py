"""Hints for indexes: where events lie, and in which order a plan tests attributes.

Indexes do not know about planning; whoever builds one passes hints to it. Hints never change an answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from thatch.engine.hints import hints_of
from thatch.matching.problem import AccessHints, Spread
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.planning.filter_set import FilterSet
from thatch.planning.plans import MatchingPlan, plan
from thatch.planning.steps import PlanStep

__all__ = ["access_hints", "attribute_order"]

_PLANNED = 2_000  # filters that represent all for the order of attributes: a second at most


def access_hints(filters: Mapping[str, Filter], profile: Profile | None = None) -> AccessHints:
    """Hints for an index of these filters.

    Parameters
    ----------
    filters : filters by name
    profile : of the events; without one, `thatch.model.selectivity` says what is assumed

    Raises
    ------
    ParameterError
        If there are no filters.
    SchemaError
        If the filters have different schemas.

    Examples
    --------
    >>> import thatch
    >>> from thatch.model.profile import Profile
    >>> profile = Profile.of([{"kind": "a", "price": price} for price in range(100)])
    >>> hints = access_hints({"cheap": thatch.parse("kind = 'a' and price < 5")}, profile)
    >>> hints.order
    ('price', 'kind')
    >>> engine = thatch.Engine(hints=hints)
    """
    step = max(-(-len(filters) // _PLANNED), 1)
    some = FilterSet({name: filters[name] for name in list(filters)[::step]}, profile)
    order = attribute_order(some, plan(some.problem, budget=0))
    if profile is not None:
        return AccessHints(hints_of(profile).spreads, order)
    selectivity = FilterSet(filters, covering=False).selectivity if step > 1 else some.selectivity
    return AccessHints({key: Spread(selectivity.stand_ins(key)) for key in selectivity.named}, order)


def attribute_order(wanted: FilterSet, plan: MatchingPlan) -> tuple[str, ...]:
    """Attributes in the mean order in which a plan tests their predicates, weighted by members below."""
    late: dict[str, float] = {}
    waiting: dict[str, int] = {}

    def walk(step: PlanStep, before: int) -> int:
        members = len(step.ends) + sum(walk(each, before + len(step.tests)) for each in step.below)
        for place, test in enumerate(step.tests, before):
            for key, _ in wanted.predicates[test].constraints:
                late[key] = late.get(key, 0.0) + members * place
                waiting[key] = waiting.get(key, 0) + members
        return members

    walk(plan.steps, 0)
    return tuple(sorted(late, key=lambda key: (late[key] / max(waiting[key], 1), key)))
