"""SLP1 exactly as the paper writes it (figures 2 to 4): what `thatch.placement.slp` is compared with.

The coreset is drawn anew each time, with doubled weights for what filters miss; each box is rounded by itself, which gives
more than α of them; then come flow and filter adjustment. It hardly converges, because each draw forgets what earlier ones
missed, so the number of programs is limited.

Deviations: samples are drawn without replacement (`placement/slp/sampling.py`); weights double for what is missed after
expansion, as the stopping test of figure 3 demands, not before; where the flow fails at β_max, subscribers that cannot be
routed may go to all their candidates, which the paper leaves open; ε is 0.1, because the paper gives none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from thatch.placement import Placement, PlacementProblem
    from thatch.placement.arrays import Floats, Ints
    from thatch.placement.slp.branches import Branches, Subproblem
    from thatch.placement.slp.coverage import Coverage
    from thatch.placement.slp.relaxation import FractionalFilters

__all__ = ["expand", "round_each", "solve_literally"]

_ROUNDINGS = 20
_DOUBLINGS = 4  # g = g0, 2 g0, …
_PROGRAMS = 12  # for each g
_EXPANSION = 0.1  # ε


def solve_literally(problem: PlacementProblem, *, seed: int = 0) -> Placement:
    """A verified placement by the paper's loop.

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    from thatch.placement import BandwidthBounds
    from thatch.placement.certificate import certify
    from thatch.placement.filters import fit_filters
    from thatch.placement.placement import measure
    from thatch.placement.slp.branches import Branches, Subproblem

    rng = np.random.default_rng(seed)
    capacities = problem.capacities(problem.beta)
    part = Subproblem.of(problem, problem.subscriber_types(), Branches.leaves(problem), capacities)
    coverage, value = _cover_all(part, rng)
    served_by = _assign(problem, coverage)
    prior = [problem.interests.boxes[:0]] * len(problem.tree.parents)
    for leaf, boxes in zip(problem.tree.leaves.tolist(), coverage.filters, strict=True):
        prior[leaf] = boxes
    answer = served_by, fit_filters(problem, served_by, prior, fit="paper")
    bounds = BandwidthBounds(fractional=value)
    return certify(measure(problem, answer, algorithm="slp1_literal", seed=seed, bounds=bounds))[0]


def round_each(
    found: FractionalFilters, sampled: int, branches: Branches, rng: np.random.Generator
) -> list[Floats]:
    """Keep each box by itself with probability 1 − (1 − ŷ)^ln|Sa|, for so many sampled subscribers [|Sa|]."""
    chance = 1 - (1 - found.amount) ** max(1.0, np.log(sampled))
    is_kept = rng.random(len(chance)) < chance
    ends = np.searchsorted(found.branch[is_kept], np.arange(1, len(branches)))
    return np.split(found.boxes[is_kept], ends)


def expand(filters: list[Floats]) -> list[Floats]:
    """Make each side of each box longer by ε: what the sample stands for lies a little outside."""
    answer = []
    for boxes in filters:
        d = boxes.shape[1] // 2
        margin = (boxes[:, d:] - boxes[:, :d]) * (_EXPANSION / 2)
        answer.append(np.hstack([boxes[:, :d] - margin, boxes[:, d:] + margin]))
    return answer


def _cover_all(part: Subproblem, rng: np.random.Generator) -> tuple[Coverage, float | None]:
    """Filters that cover everybody, or those of the last program; and the value of that program."""
    from thatch.placement.slp.coverage import Coverage
    from thatch.placement.slp.sampling import draw_by_weight, draw_from_strata, new_key
    from thatch.placement.slp.slp import SAMPLED
    from thatch.placement.slp.split import relax_sample

    types, leaves, m = part.types, len(part.branches), len(part.members)
    coverage = Coverage(part)
    value = None
    size = max(2, leaves)
    loaded = np.array([SAMPLED * leaves])
    for _ in range(_DOUBLINGS):
        doubling = np.ones(len(types))
        counted = 0
        for _ in range(_PROGRAMS):
            chance = doubling * types.count
            drawn = draw_by_weight(chance, int(size * np.log(size)) + 1, new_key(rng))
            load = types.of[draw_from_strata(np.zeros(m, np.int64), loaded, new_key(rng))]
            weights = np.bincount(load, minlength=len(types)).astype(np.float64) * (m / len(load))
            sample = np.unique(np.concatenate([drawn, load]))
            found = relax_sample(part, sample, weights, rng, slacks=(1.0,))
            if found is None:
                continue
            value = found.value
            coverage = _round(coverage, found, sample, rng)
            missed = coverage.is_missed()
            if not missed.any():
                return coverage, value
            if chance[missed].sum() > chance.sum() / 8:
                continue
            doubling[missed] *= 2
            counted += 1
            if counted > 4 * size * max(1.0, np.log(m / size)):
                break
        size *= 2
    return coverage, value


def _round(coverage: Coverage, found: FractionalFilters, sample: Ints, rng: np.random.Generator) -> Coverage:
    """The first rounding that covers the sample, or the one that misses the fewest; expanded by ε."""
    from thatch.placement.slp.coverage import Coverage

    best: list[Floats] = []
    fewest = len(sample) + 1
    for _ in range(_ROUNDINGS):
        filters = round_each(found, len(sample), coverage.branches, rng)
        missed = Coverage(coverage.part, filters).is_missed(sample)
        if missed.sum() < fewest:
            best, fewest = filters, int(missed.sum())
        if not fewest:
            break
    return Coverage(coverage.part, expand(best))


def _assign(problem: PlacementProblem, coverage: Coverage) -> Ints:
    """The leaf of each subscriber at the smallest load factor from β to β_max; groups that cannot be routed may go anywhere."""
    from thatch.placement.arrays import distinct_rows
    from thatch.placement.baselines import balance_loads
    from thatch.placement.flow import assign_flow, interest_rank, least_factor, route

    types = coverage.types
    matrix, group, _ = coverage.groups()
    first, unit = distinct_rows(np.column_stack([group, types.candidates]))
    supplies = np.bincount(unit, types.count, minlength=len(first)).astype(np.int64)
    candidates = types.sets.matrix[types.candidates[first]]
    allowed = matrix[group[first]]
    is_free = np.zeros(len(first), np.bool_)
    most = problem.capacities(problem.beta_max)
    while True:
        found = least_factor(problem, supplies, allowed, problem.beta, problem.beta_max)
        if found is not None:
            return assign_flow(found[1], unit[types.of], interest_rank(problem), len(first))
        if is_free.all():
            return balance_loads(problem)
        flow = route(supplies, allowed, most)
        sent = np.bincount(flow.group, flow.amount, minlength=len(first))
        lost = (sent < supplies) & ~is_free
        is_free = is_free | lost if lost.any() else np.ones(len(first), np.bool_)
        allowed = np.where(is_free[:, None], candidates, allowed)
