"""The step of SLP: split subscribers among branches by a linear program on a sample, rounding, repair and flow.

    sample types → candidate boxes (FilterGen) → fractional filters (LPRelax) → at most α boxes a branch (rounding)
    → types that these miss join the sample, and again → filters grow until the flow serves everybody (repair)

Deviations from yu2012, section 4.1.2: what is missed joins the sample, where the paper draws a new sample each time, which
forgets earlier misses and hardly converges; the load is sampled by candidate set instead of uniformly, which often makes the
program infeasible; at most α boxes are drawn for a branch; filters grow along the cut until loads are met. The paper goes on
until nobody is missed. Here programs end as soon as one misses few subscribers, or no fewer than the one before: one draw
differs from another by more than a further program gains, and repair serves those who are missed. What repaired filters cost
differs by a tenth from draw to draw, whatever they miss, so several are repaired and the cheapest is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thatch.placement.arrays import Floats, Ints
from thatch.placement.baselines import assign_first_candidate
from thatch.placement.boxes import box_volumes, union_volume
from thatch.placement.candidates import SubscriberTypes
from thatch.placement.executor import Executor, run_here
from thatch.placement.flow import assign_flow, interest_rank, route
from thatch.placement.slp.branches import Subproblem
from thatch.placement.slp.coverage import Coverage
from thatch.placement.slp.filter_gen import candidate_boxes
from thatch.placement.slp.relaxation import FractionalFilters, draw_boxes, relax
from thatch.placement.slp.repair import repair
from thatch.placement.slp.sampling import draw_by_weight, draw_from_strata, new_key, quotas

__all__ = ["CLUSTERS", "SlpResult", "relax_sample", "split"]

CLUSTERS = 5  # super-interests for each branch
_ITERATIONS = 6  # linear programs
_ENOUGH = 0.005  # of the subscribers: if no more are missed, repair does the rest
_DRAWS = 20
_REPAIRED = 3  # of the draws: those that miss the fewest
_SLACKS = (
    1.0,
    1.25,
    1e9,
)  # the load of a sample is not exact: without a solution larger capacities are tried


@dataclass(frozen=True, slots=True, eq=False)
class SlpResult:
    """The leaf of each subscriber, the filters of branches or nodes, and the value of the linear program if one was solved."""

    served_by: Ints
    filters: tuple[Floats, ...]
    fractional: float | None


def split(
    part: Subproblem,
    rng: np.random.Generator,
    *,
    sampled: int,
    clusters: int = CLUSTERS,
    executor: Executor = run_here,
) -> SlpResult:
    """Split subscribers among branches such that the leaves below can serve them; the filters are those of branches.

    Parameters
    ----------
    sampled : how many subscribers are drawn for the load [|Sb|]
    clusters : super-interests for each branch
    executor : draws samples
    """
    types = part.types
    weights = _sample_load(types, sampled, rng, executor)
    sample = np.flatnonzero(weights)
    drawn: list[list[Floats]] = []
    fewest = len(part.members)
    value = None
    for _ in range(_ITERATIONS):
        found = relax_sample(part, sample, weights, rng, clusters=clusters)
        if found is None:
            break
        value = found.value
        draws = _draw_often(part, found, rng)
        missed = Coverage(part, draws[0]).is_missed()
        count = int(types.count[missed].sum())
        if drawn and count >= fewest:
            break  # a larger sample does not help any more
        drawn, fewest = draws[:_REPAIRED], count
        if count <= _ENOUGH * len(part.members):
            break
        larger = _enlarge(part, sample, np.flatnonzero(missed), rng, executor)
        if len(larger) == len(sample):
            break  # all that is missed was in the sample: the draw missed it, not the program
        sample = larger
    served_by, filters = _repair_cheapest(part, drawn or [Coverage(part).filters])
    return SlpResult(served_by, tuple(filters), value)


def relax_sample(
    part: Subproblem,
    sample: Ints,
    weights: Floats,
    rng: np.random.Generator,
    *,
    slacks: Sequence[float] = _SLACKS,
    clusters: int = CLUSTERS,
) -> FractionalFilters | None:
    """Find candidate boxes for a sample and the fractional optimum over them; without one, try larger capacities."""
    problem, types = part.problem, part.types
    rows, owner = problem.interests.rows_of(types.interest[sample])
    first = np.zeros(len(types), np.int64)
    first[types.of[::-1]] = part.members[::-1]
    locations = problem.locations[first[sample]][owner]
    candidates = candidate_boxes(problem.interests.boxes[rows], locations, clusters * len(part.branches), rng)
    for slack in slacks:
        room: Floats = slack * part.capacities.astype(np.float64)
        found = relax(part, sample, weights[sample], candidates, room)
        if found is not None:
            return found
    return None


def _sample_load(types: SubscriberTypes, size: int, rng: np.random.Generator, executor: Executor) -> Floats:
    """Draw subscribers from each candidate set; the weight of each type, scaled to the exact size of each set that is drawn."""
    set_of, mass = types.sets.of, types.sets.sizes
    drawn = draw_from_strata(set_of, quotas(mass, size, rng.random()), new_key(rng), executor)
    draws = np.bincount(set_of[drawn], minlength=len(mass))
    share = mass[set_of[drawn]] / draws[set_of[drawn]]
    weights: Floats = np.bincount(types.of[drawn], share, minlength=len(types)).astype(np.float64)
    return weights


def _enlarge(
    part: Subproblem, sample: Ints, missed: Ints, rng: np.random.Generator, executor: Executor
) -> Ints:
    """Add some of the missed types to the sample: half of them drawn by count, half those with the largest boxes."""
    types, interests = part.types, part.problem.interests
    more = max(1, len(sample) // 6)
    weights = types.count[missed].astype(np.float64)
    by_count = missed[draw_by_weight(weights, more, new_key(rng), executor)]
    first = interests.boxes[interests.start[types.interest[missed]]]
    largest = missed[np.argsort(-box_volumes(first), kind="stable")[:more]]
    return np.unique(np.concatenate([sample, by_count, largest]))


def _draw_often(part: Subproblem, found: FractionalFilters, rng: np.random.Generator) -> list[list[Floats]]:
    """Draw boxes several times; the draws that miss the fewest subscribers come first."""
    draws = [draw_boxes(found, part.branches, rng) for _ in range(_DRAWS)]
    missed = [int(part.types.count[Coverage(part, each).is_missed()].sum()) for each in draws]
    return [draws[at] for at in np.argsort(missed, kind="stable").tolist()]


def _repair_cheapest(part: Subproblem, drawn: Sequence[list[Floats]]) -> tuple[Ints, list[Floats]]:
    """Grow each draw until everybody is served; of the results the leaf of each subscriber and filters of the least volume."""
    answers = []
    for filters in drawn:
        coverage = Coverage(part, filters)
        answers.append((_serve_all(coverage), coverage.filters))
    return min(answers, key=lambda answer: sum(union_volume(boxes) for boxes in answer[1]))


def _serve_all(coverage: Coverage) -> Ints:
    """The leaf of each subscriber, filters growing for them; those whom no capacity can serve go to their first candidate."""
    done = repair(coverage)
    part, types = coverage.part, coverage.types
    rank = interest_rank(part.problem)[part.members]
    if done is not None:
        flow, group, groups = done
        return assign_flow(flow, group[types.of], rank, groups)
    sets = types.sets
    flow = route(sets.sizes, sets.matrix, part.capacities)
    return assign_first_candidate(assign_flow(flow, sets.of, rank, len(sets.matrix)), sets)
