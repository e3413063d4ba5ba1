"""Selectivities of a profile: measured where its subscriptions have the predicate, else from distributions."""

from __future__ import annotations

from thatch.model.printing import PrintedCondition
from thatch.model.profile import Profile
from thatch.model.schema import Schema
from thatch.planning.problem import Problem
from thatch.planning.selectivities.chances import Paired

__all__ = ["ProfileSource", "paired_chances"]


class ProfileSource:
    """A profile as a source.

    Parameters
    ----------
    schema : of the filters, as it stands in the texts of predicates
    """

    def __init__(self, profile: Profile, schema: Schema | None = None) -> None:
        self._profile = profile
        self._schema = schema
        self._measured = {each.text: each.events for each in profile.predicates}

    def selectivity(self, predicate: PrintedCondition) -> float:
        """The share of events that satisfy a predicate.

        Notes
        -----
        A check that is no interval and was not measured counts as its necessary intervals do, which is too much.
        """
        if predicate.text in self._measured and self._profile.events:
            return self._measured[predicate.text] / self._profile.events
        share = 1.0
        for key, constraint in predicate.constraints:
            share *= self._profile.probability(key, constraint, self._schema)
        return share


def paired_chances(problem: Problem, profile: Profile) -> Paired:
    """What predicates depend on, as far as the profile has measured pairs of them."""
    numbers = {name: number for number, name in enumerate(problem.names)}
    found = {}
    for each in profile.predicate_pairs:
        first, second = numbers.get(each.first), numbers.get(each.second)
        if first is not None and second is not None and profile.events:
            found[min(first, second), max(first, second)] = each.events / profile.events
    return Paired(problem, found)
