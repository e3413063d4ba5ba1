"""What planning tells indexes, as values: where events lie, for segments, and an order of attributes, for diagrams.

Indexes stand below planning and know nothing of it; whoever builds one hands these on. They change no answer.
"""

from __future__ import annotations

from thatch.engine.hints import hints_of
from thatch.matching.problem import AccessHints
from thatch.model.profile import Profile
from thatch.planning.filter_set import FilterSet
from thatch.planning.plans import Plan
from thatch.planning.selectivities.uniform import UniformDomains
from thatch.planning.steps import Step

__all__ = ["access_hints", "attribute_order"]


def access_hints(known: Profile | UniformDomains) -> AccessHints:
    """Where events lie on lines, for an index that chooses by it under which of its sides a box is found.

    Parameters
    ----------
    known : a profile, or domains over which values are spread evenly
    """
    return hints_of(known) if isinstance(known, Profile) else known.spread


def attribute_order(wanted: FilterSet, plan: Plan) -> tuple[str, ...]:
    """The order of attributes for diagrams, from the top to the bottom: what the plan tests first stands lowest.

    An attribute stands as high as its tests come late, in the mean over the members that wait for them.
    """
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
    return tuple(sorted(late, key=lambda key: (-late[key] / max(waiting[key], 1), key)))
