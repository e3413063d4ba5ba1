"""One set of subscriptions, planned from some events and counted on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import thatch
from thatch.model.events import read_event
from thatch.model.profile import Profile
from thatch.planning import (
    FilterSet,
    MatchingPlan,
    PlanningProblem,
    PredicateSample,
    expected_cost,
    plan,
    plan_as_given,
)
from thatch.planning.expected import Chances, chances_of_pairs
from thatch.planning.problem import AnswerKind

__all__ = ["Compared", "Events", "compared"]

Events = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Compared:
    """Evaluations an event: counted, and how far predictions are from that, in percent.

    Parameters
    ----------
    planned, arrived : the plan, and the order in which filters and predicates came
    counts : of both, on events that the plan did not know
    marginal : error of the prediction for the plan from selectivities of predicates, as if they were independent
    pairs : error with selectivities of pairs that stand in one conjunction
    joint : error with what was true together in the events that the plan was made from
    predicted : how many times as many evaluations the order of arrival takes, as selectivities of predicates predict it
    jointly_predicted : the same from what was true together
    """

    planned: MatchingPlan
    arrived: MatchingPlan
    counts: tuple[float, float]
    marginal: float
    pairs: float
    joint: float
    predicted: float
    jointly_predicted: float

    @property
    def ratio(self) -> float:
        """How many times as many evaluations the order of arrival takes."""
        return self.counts[1] / self.counts[0]


def compared(
    filters: Sequence[thatch.Filter],
    known: Events,
    others: Events,
    *,
    is_measured: bool = False,
    answer: AnswerKind = "list",
) -> Compared:
    """Plan filters from a profile of known events, count on others.

    Parameters
    ----------
    is_measured : whether selectivities are those of the known events, predicate by predicate, and not the profile's
    """
    profile = Profile.of(known)
    wanted = FilterSet({str(place): filter for place, filter in enumerate(filters)}, profile, answer=answer)
    before, after = (
        PredicateSample(wanted.columns([read_event(event) for event in some]), len(some))
        for some in (known, others)
    )
    problem = wanted.problem.with_selectivities(before.selectivities()) if is_measured else wanted.problem
    planned, arrived = plan(problem), plan_as_given(problem)
    counts = after.cost(planned), after.cost(arrived)
    paired = expected_cost(problem, planned.steps, _pairs(problem, before))
    jointly = before.cost(planned), before.cost(arrived)
    errors = [100 * abs(each / counts[0] - 1) for each in (planned.cost, paired, jointly[0])]
    return Compared(
        planned,
        arrived,
        counts,
        *errors,
        predicted=arrived.cost / planned.cost,
        jointly_predicted=jointly[1] / jointly[0],
    )


def _pairs(problem: PlanningProblem, sample: PredicateSample) -> Chances:
    found = {}
    for member in problem.members:
        for first, second in combinations(sorted(member), 2):
            both = sample.columns[first] & sample.columns[second]
            found[first, second] = both.bit_count() / sample.events
    return chances_of_pairs(problem, found)
