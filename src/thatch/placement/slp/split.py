"""The step of SLP: subscribers split among branches, by a linear program on a sample, rounding, repair and flow.

sample types → candidate boxes (FilterGen) → fractional filters (LPRelax) → at most α boxes a branch (rounding)
→ types that these miss join the sample, and again → filters grow until the flow serves everybody (repair)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thatch.placement.balance import interest_rank
from thatch.placement.flow import route, spread
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints
from thatch.placement.slp.branches import Branches
from thatch.placement.slp.coverage import Coverage
from thatch.placement.slp.filter_gen import candidate_boxes
from thatch.placement.slp.relaxation import Relaxed, relaxed
from thatch.placement.slp.repair import repaired
from thatch.placement.slp.rounding import dependent
from thatch.placement.types import Types

__all__ = ["Split", "fractional", "split"]

_SAMPLED = 10  # types a leaf, for the load
_CLUSTERS = 5  # super-interests a leaf
_ITERATIONS = 6  # linear programs
_ENOUGH = 0.002  # of the subscribers missed: repair does the rest
_DRAWS = 20
_SLACKS = (1.0, 1.25, 1e9)  # capacities of a sample err: where they leave no answer larger ones are tried


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The leaf that each of the subscribers may be served by, the filter of each branch, the value of the program."""

    served_by: Ints
    filters: list[Floats]
    fractional: float | None


def split(
    problem: Problem,
    members: Ints,
    types: Types,
    branches: Branches,
    capacities: Ints,
    rng: np.random.Generator,
) -> Split:
    """Split subscribers among branches such that leaves below can serve them.

    Parameters
    ----------
    members : the subscribers
    types : theirs: `types.of` has a type for each of them, and candidates are leaves below the branches
    capacities : of all leaves
    """
    weights = _stratified(types, _SAMPLED * int((branches.of_leaf >= 0).sum()), rng)
    sample = np.flatnonzero(weights)
    state = Coverage(problem, types, branches, [problem.interests.boxes[:0]] * len(branches))
    value = None
    for _ in range(_ITERATIONS):
        found = fractional(problem, members, types, sample, weights, branches, capacities, rng)
        if found is None:
            break
        value = found.value
        state = _drawn(problem, types, branches, found, rng)
        missed = state.missed()
        if types.count[missed].sum() <= _ENOUGH * len(members):
            break
        larger = _joined(problem, types, sample, np.flatnonzero(missed), rng)
        if len(larger) == len(sample):
            break  # what is missed was sampled: that was the draw
        sample = larger
    return Split(_served(problem, members, state, capacities), state.filters, value)


def fractional(
    problem: Problem,
    members: Ints,
    types: Types,
    sample: Ints,
    weights: Floats,
    branches: Branches,
    capacities: Ints,
    rng: np.random.Generator,
    *,
    slacks: Sequence[float] = _SLACKS,
) -> Relaxed | None:
    """Candidate boxes for a sample and the optimum over them; with larger capacities where these leave none."""
    rows, owner = problem.interests.rows_of(types.interest[sample])
    first = np.zeros(len(types), np.int64)
    first[types.of[::-1]] = members[::-1]
    locations = problem.locations[first[sample]][owner]
    leaves = int((branches.of_leaf >= 0).sum())
    candidates = candidate_boxes(problem.interests.boxes[rows], locations, _CLUSTERS * leaves, rng)
    for slack in slacks:
        room: Floats = slack * capacities.astype(np.float64)
        found = relaxed(problem, types, sample, weights[sample], candidates, branches, room)
        if found is not None:
            return found
    return None


def _stratified(types: Types, size: int, rng: np.random.Generator) -> Floats:
    """Types drawn systematically along candidate sets, weighted to the exact mass of each set that is drawn."""
    order = np.argsort(types.candidates, kind="stable")
    ends = np.cumsum(types.count[order])
    drawn = order[np.searchsorted(ends, (np.arange(size) + rng.random()) * (ends[-1] / size), "right")]
    mass = np.bincount(types.candidates, types.count)
    draws = np.bincount(types.candidates[drawn], minlength=len(mass))
    each = types.candidates[drawn]
    share = mass[each] / draws[each]
    weights: Floats = np.bincount(drawn, share, minlength=len(types)).astype(np.float64)
    return weights


def _joined(problem: Problem, types: Types, sample: Ints, missed: Ints, rng: np.random.Generator) -> Ints:
    """The sample with some of those missed: half of them by count, half the largest boxes."""
    more = max(1, len(sample) // 6)
    chance = types.count[missed] / types.count[missed].sum()
    by_count = rng.choice(missed, min(len(missed), more), replace=False, p=chance)
    first = problem.interests.boxes[problem.interests.start[types.interest[missed]]]
    d = problem.interests.axes
    largest = missed[np.argsort(-np.prod(first[:, d:] - first[:, :d], axis=1), kind="stable")[:more]]
    return np.unique(np.concatenate([sample, by_count, largest]))


def _drawn(
    problem: Problem, types: Types, branches: Branches, found: Relaxed, rng: np.random.Generator
) -> Coverage:
    """Of several draws of boxes the one that misses the fewest."""
    best: Coverage | None = None
    fewest = 0
    for _ in range(_DRAWS):
        state = Coverage(problem, types, branches, dependent(found, branches, rng))
        missed = int(types.count[state.missed()].sum())
        if best is None or missed < fewest:
            best, fewest = state, missed
    assert best is not None
    return best


def _served(problem: Problem, members: Ints, state: Coverage, capacities: Ints) -> Ints:
    """The leaf of each subscriber, filters growing for them; whom no capacity can serve goes to its first candidate."""
    done = repaired(state, capacities)
    rank = interest_rank(problem)[members]
    types = state.types
    if done is not None:
        routing, group, groups = done
        return spread(routing, group[types.of], rank, groups)
    set_of = types.candidates[types.of]
    supplies = np.bincount(set_of, minlength=len(types.sets.matrix))
    served_by = spread(route(supplies, types.sets.matrix, capacities), set_of, rank, len(supplies))
    lost = served_by < 0
    served_by[lost] = types.sets.matrix[set_of[lost]].argmax(axis=1)
    return served_by
