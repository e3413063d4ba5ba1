"""What planning tells indexes, as a value: where events lie, and in which order a plan tests attributes.

Indexes stand below planning and know nothing of it; whoever builds one hands hints on. They change no answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from thatch.engine.hints import hints_of
from thatch.matching.problem import AccessHints
from thatch.model.filters import Filter
from thatch.model.profile import Profile
from thatch.planning.filter_set import FilterSet
from thatch.planning.planning import plan
from thatch.planning.plans import Plan
from thatch.planning.selectivities.profiles import ProfileSource
from thatch.planning.selectivities.sources import Source
from thatch.planning.selectivities.uniform import uniform_domains
from thatch.planning.steps import Step

__all__ = ["access_hints", "attribute_order"]

_PLANNED = 2_000  # filters that stand for all in the order of attributes: a second at most


def access_hints(filters: Mapping[str, Filter], profile: Profile | None = None) -> AccessHints:
    """What a plan of these filters tells an index of them.

    Parameters
    ----------
    filters : by what they are called
    profile : of the events; without one, values are taken to be spread evenly over domains, as in `FilterSet`

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
    some = {name: filters[name] for name in list(filters)[::step]}
    if profile is None:
        all_of_them = FilterSet(filters, covering=False)
        domains = uniform_domains(all_of_them.predicates, all_of_them.schema)
        return AccessHints(domains.spreads(), _order(some, domains))
    schema = next((each.schema for each in some.values()), None)
    return AccessHints(hints_of(profile).spreads, _order(some, ProfileSource(profile, schema)))


def _order(filters: Mapping[str, Filter], source: Source) -> tuple[str, ...]:
    wanted = FilterSet(filters, source)
    return attribute_order(wanted, plan(wanted.problem, budget=0))


def attribute_order(wanted: FilterSet, plan: Plan) -> tuple[str, ...]:
    """The order of attributes in which a plan tests their predicates, in the mean over the members that wait for them."""
    late: dict[str, float] = {}
    waiting: dict[str, int] = {}

    def walk(step: Step, before: int) -> int:
        members = len(step.ends) + sum(walk(each, before + len(step.tests)) for each in step.below)
        for place, test in enumerate(step.tests, before):
            for key, _ in wanted.predicates[test].constraints:
                late[key] = late.get(key, 0.0) + members * place
                waiting[key] = waiting.get(key, 0) + members
        return members

    walk(plan.steps, 0)
    return tuple(sorted(late, key=lambda key: (late[key] / max(waiting[key], 1), key)))
