"""SLP1 as the paper writes it (003, figures 2 to 4): the yardstick that our own step is measured against.

The coreset is drawn anew each time, weights of what filters miss doubled; boxes are rounded each for itself, more than α of
them; then flow and filter adjustment. It hardly converges (spec 2, B3: each draw forgets what earlier ones missed), so the
number of programs is limited.

Deviations: samples are drawn without replacement (see `sampling.py`); what is missed after expansion is doubled, as the stopping test of figure 3 demands, not before; where the flow
fails at β_max whoever cannot be routed may go to all candidates, which the paper leaves open.
"""

from __future__ import annotations

import numpy as np

from thatch.placement.balance import balanced, interest_rank
from thatch.placement.each import Each, here
from thatch.placement.filters import filters_of
from thatch.placement.flow import least_factor, route, spread
from thatch.placement.problem import Problem
from thatch.placement.rows import Floats, Ints, distinct_rows
from thatch.placement.slp.branches import Branches
from thatch.placement.slp.coverage import Coverage
from thatch.placement.slp.outcome import Outcome
from thatch.placement.slp.part import Part
from thatch.placement.slp.relaxation import Relaxed
from thatch.placement.slp.rounding import expanded, literal
from thatch.placement.slp.sampling import by_weight, key_of, within_strata
from thatch.placement.slp.slp1 import SAMPLED
from thatch.placement.slp.split import fractional
from thatch.placement.types import types_of

__all__ = ["slp1_literal"]

_ROUNDINGS = 20
_DOUBLINGS = 4  # g = g0, 2 g0, …
_PROGRAMS = 12  # for each g


def slp1_literal(problem: Problem, rng: np.random.Generator, *, each: Each = here) -> Outcome:
    """Assign subscribers by the paper's loop; `each` draws samples.

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    types = types_of(problem)
    part = Part.of(problem, types, Branches.leaves(problem), problem.capacities(problem.beta))
    state, value = _coreset(part, rng, each)
    served_by = _loaded(problem, state)
    prior = [problem.interests.boxes[:0]] * len(problem.tree.parents)
    for leaf, boxes in zip(problem.tree.leaves.tolist(), state.filters, strict=True):
        prior[leaf] = boxes
    return Outcome(served_by, filters_of(problem, served_by, prior, fit="paper"), value)


def _coreset(part: Part, rng: np.random.Generator, each: Each) -> tuple[Coverage, float | None]:
    """Filters that cover everybody, or those of the last program."""
    types, leaves, m = part.types, len(part.branches), len(part.members)
    state = Coverage(part)
    value = None
    size = max(2, leaves)
    loaded = np.array([SAMPLED * leaves])
    for _ in range(_DOUBLINGS):
        doubling = np.ones(len(types))
        counted = 0
        for _ in range(_PROGRAMS):
            chance = doubling * types.count
            drawn = by_weight(chance, int(size * np.log(size)) + 1, key_of(rng), each)
            load = types.of[within_strata(np.zeros(m, np.int64), loaded, key_of(rng), each)]
            weights = np.bincount(load, minlength=len(types)).astype(np.float64) * (m / len(load))
            sample = np.unique(np.concatenate([drawn, load]))
            found = fractional(part, sample, weights, rng, slacks=(1.0,))
            if found is None:
                continue
            value = found.value
            state = _rounded(state, found, sample, rng)
            missed = state.missed()
            if not missed.any():
                return state, value
            if chance[missed].sum() > chance.sum() / 8:
                continue
            doubling[missed] *= 2
            counted += 1
            if counted > 4 * size * max(1.0, np.log(m / size)):
                break
        size *= 2
    return state, value


def _rounded(state: Coverage, found: Relaxed, sample: Ints, rng: np.random.Generator) -> Coverage:
    """The first draw that covers the sample, or the one that misses the fewest; expanded by ε."""
    best: list[Floats] = []
    fewest = len(sample) + 1
    for _ in range(_ROUNDINGS):
        filters = literal(found, len(sample), state.branches, rng)
        missed = Coverage(state.part, filters).missed(sample)
        if missed.sum() < fewest:
            best, fewest = filters, int(missed.sum())
        if not fewest:
            break
    return Coverage(state.part, expanded(best))


def _loaded(problem: Problem, state: Coverage) -> Ints:
    """Who is served by whom, at the smallest load factor from β to β_max; groups that cannot be routed may go anywhere."""
    types = state.types
    matrix, group, _ = state.groups()
    first, unit = distinct_rows(np.column_stack([group, types.candidates]))
    supplies = np.bincount(unit, types.count, minlength=len(first)).astype(np.int64)
    candidates = types.sets.matrix[types.candidates[first]]
    allowed = matrix[group[first]]
    is_free = np.zeros(len(first), np.bool_)
    most = problem.capacities(problem.beta_max)
    while True:
        found = least_factor(problem, supplies, allowed, problem.beta, problem.beta_max)
        if found is not None:
            return spread(found[1], unit[types.of], interest_rank(problem), len(first))
        if is_free.all():
            return balanced(problem, types.sets)
        routing = route(supplies, allowed, most)
        sent = np.bincount(routing.group, routing.amount, minlength=len(first))
        lost = (sent < supplies) & ~is_free
        is_free = is_free | lost if lost.any() else np.ones(len(first), np.bool_)
        allowed = np.where(is_free[:, None], candidates, allowed)
