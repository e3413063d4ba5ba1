"""The step of SLP: subscribers split among branches, by a linear program on a sample, rounding, repair and flow.

sample types → candidate boxes (FilterGen) → fractional filters (LPRelax) → at most α boxes a branch (rounding)
→ types that these miss join the sample, and again → filters grow until the flow serves everybody (repair)

The paper goes on until nobody is missed. Here programs end as soon as one misses few, or no fewer than the one before: a draw
errs by more than another program gains, and repair serves who is missed. What filters cost when they are repaired differs by
a tenth from draw to draw, whatever they miss, so several are repaired and the least is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thatch.placement.balance import interest_rank
from thatch.placement.each import Each, here
from thatch.placement.flow import route, spread
from thatch.placement.rows import Floats, Ints
from thatch.placement.slp.coverage import Coverage
from thatch.placement.slp.filter_gen import candidate_boxes
from thatch.placement.slp.part import Part
from thatch.placement.slp.relaxation import Relaxed, relaxed
from thatch.placement.slp.repair import repaired
from thatch.placement.slp.rounding import dependent
from thatch.placement.slp.sampling import by_weight, key_of, quotas, within_strata
from thatch.placement.types import Types
from thatch.placement.volumes import union_volume

__all__ = ["CLUSTERS", "Split", "fractional", "split"]

CLUSTERS = 5  # super-interests a branch
_ITERATIONS = 6  # linear programs
_ENOUGH = 0.005  # of the subscribers missed: repair does the rest
_DRAWS = 20
_REPAIRED = 3  # draws, those that miss the fewest
_SLACKS = (1.0, 1.25, 1e9)  # capacities of a sample err: where they leave no answer larger ones are tried


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The leaf that each of the subscribers may be served by, the filter of each branch, the value of the program."""

    served_by: Ints
    filters: list[Floats]
    fractional: float | None


def split(
    part: Part, rng: np.random.Generator, *, sampled: int, clusters: int = CLUSTERS, each: Each = here
) -> Split:
    """Split subscribers among branches such that leaves below can serve them.

    Parameters
    ----------
    sampled : how many are drawn for the load [|Sb|]
    clusters : super-interests a branch
    each : who draws
    """
    types = part.types
    weights = _stratified(types, sampled, rng, each)
    sample = np.flatnonzero(weights)
    drawn: list[list[Floats]] = []
    fewest = len(part.members)
    value = None
    for _ in range(_ITERATIONS):
        found = fractional(part, sample, weights, rng, clusters=clusters)
        if found is None:
            break
        value = found.value
        draws = _draws(part, found, rng)
        missed = Coverage(part, draws[0]).missed()
        count = int(types.count[missed].sum())
        if drawn and count >= fewest:
            break  # more in the sample do not help any more
        drawn, fewest = draws[:_REPAIRED], count
        if count <= _ENOUGH * len(part.members):
            break
        larger = _joined(part, sample, np.flatnonzero(missed), rng, each)
        if len(larger) == len(sample):
            break  # what is missed was sampled: that was the draw
        sample = larger
    served_by, filters = _least(part, drawn or [Coverage(part).filters])
    return Split(served_by, filters, value)


def fractional(
    part: Part,
    sample: Ints,
    weights: Floats,
    rng: np.random.Generator,
    *,
    slacks: Sequence[float] = _SLACKS,
    clusters: int = CLUSTERS,
) -> Relaxed | None:
    """Candidate boxes for a sample and the optimum over them; with larger capacities where these leave none."""
    problem, types = part.problem, part.types
    rows, owner = problem.interests.rows_of(types.interest[sample])
    first = np.zeros(len(types), np.int64)
    first[types.of[::-1]] = part.members[::-1]
    locations = problem.locations[first[sample]][owner]
    candidates = candidate_boxes(problem.interests.boxes[rows], locations, clusters * len(part.branches), rng)
    for slack in slacks:
        room: Floats = slack * part.capacities.astype(np.float64)
        found = relaxed(part, sample, weights[sample], candidates, room)
        if found is not None:
            return found
    return None


def _stratified(types: Types, size: int, rng: np.random.Generator, each: Each) -> Floats:
    """Subscribers drawn from each candidate set, as types: weighted to the exact mass of each set that is drawn."""
    set_of = types.candidates[types.of]
    mass = np.bincount(set_of, minlength=len(types.sets.matrix))
    drawn = within_strata(set_of, quotas(mass, size, rng.random()), key_of(rng), each)
    draws = np.bincount(set_of[drawn], minlength=len(mass))
    share = mass[set_of[drawn]] / draws[set_of[drawn]]
    weights: Floats = np.bincount(types.of[drawn], share, minlength=len(types)).astype(np.float64)
    return weights


def _joined(part: Part, sample: Ints, missed: Ints, rng: np.random.Generator, each: Each) -> Ints:
    """The sample with some of those missed: half of them by count, half the largest boxes."""
    types, interests = part.types, part.problem.interests
    more = max(1, len(sample) // 6)
    by_count = missed[by_weight(types.count[missed].astype(np.float64), more, key_of(rng), each)]
    first = interests.boxes[interests.start[types.interest[missed]]]
    d = interests.axes
    largest = missed[np.argsort(-np.prod(first[:, d:] - first[:, :d], axis=1), kind="stable")[:more]]
    return np.unique(np.concatenate([sample, by_count, largest]))


def _draws(part: Part, found: Relaxed, rng: np.random.Generator) -> list[list[Floats]]:
    """Several draws of boxes, those that miss the fewest first."""
    draws = [dependent(found, part.branches, rng) for _ in range(_DRAWS)]
    missed = [int(part.types.count[Coverage(part, each).missed()].sum()) for each in draws]
    return [draws[place] for place in np.argsort(missed, kind="stable").tolist()]


def _least(part: Part, drawn: Sequence[list[Floats]]) -> tuple[Ints, list[Floats]]:
    """Of filters that grow until everybody is served those of the least volume, with the leaf of each subscriber."""
    answers = []
    for filters in drawn:
        state = Coverage(part, filters)
        answers.append((_served(state), state.filters))
    return min(answers, key=lambda answer: sum(union_volume(boxes) for boxes in answer[1]))


def _served(state: Coverage) -> Ints:
    """The leaf of each subscriber, filters growing for them; whom no capacity can serve goes to its first candidate."""
    done = repaired(state)
    part, types = state.part, state.types
    rank = interest_rank(part.problem)[part.members]
    if done is not None:
        routing, group, groups = done
        return spread(routing, group[types.of], rank, groups)
    set_of = types.candidates[types.of]
    supplies = np.bincount(set_of, minlength=len(types.sets.matrix))
    served_by = spread(route(supplies, types.sets.matrix, part.capacities), set_of, rank, len(supplies))
    lost = served_by < 0
    served_by[lost] = types.sets.matrix[set_of[lost]].argmax(axis=1)
    return served_by
