"""One set of subscriptions, planned from some events and counted on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import thatch
from thatch.model.events import read_event
from thatch.planning import FilterSet, Plan, Problem, Sample, expected_cost, plan, unplanned
from thatch.planning.problem import Answer
from thatch.planning.selectivities import Paired
from thatch.planning.selectivities.sources import Source

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
    """

    planned: Plan
    arrived: Plan
    counts: tuple[float, float]
    marginal: float
    pairs: float
    joint: float

    @property
    def ratio(self) -> float:
        """How many times as many evaluations the order of arrival takes."""
        return self.counts[1] / self.counts[0]

    @property
    def predicted_ratio(self) -> float:
        """The same as the model predicts it from selectivities of predicates."""
        return self.arrived.cost / self.planned.cost


def compared(
    filters: Sequence[thatch.Filter],
    known: Events,
    others: Events,
    *,
    source: Source | None = None,
    answer: Answer = "list",
) -> Compared:
    """Plan filters from known events, count on others.

    Parameters
    ----------
    source : of selectivities; by default those of the known events, predicate by predicate
    """
    wanted = FilterSet({str(place): filter for place, filter in enumerate(filters)}, source, answer=answer)
    before, after = (
        Sample(wanted.columns([read_event(event) for event in some]), len(some)) for some in (known, others)
    )
    problem = (
        wanted.problem if source is not None else wanted.problem.with_selectivities(before.selectivities())
    )
    planned, arrived = plan(problem), unplanned(problem)
    counts = after.cost(planned), after.cost(arrived)
    paired = expected_cost(problem, planned.steps, _pairs(problem, before))
    errors = [100 * abs(each / counts[0] - 1) for each in (planned.cost, paired, before.cost(planned))]
    return Compared(planned, arrived, counts, *errors)


def _pairs(problem: Problem, sample: Sample) -> Paired:
    found = {}
    for member in problem.members:
        for first, second in combinations(sorted(member), 2):
            both = sample.columns[first] & sample.columns[second]
            found[first, second] = both.bit_count() / sample.events
    return Paired(problem, found)
