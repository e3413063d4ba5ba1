"""SLP1: subscriber assignment by linear programming (paper 003, section 4), on leaves; filters above follow bottom-up.

    sample types → candidate boxes (FilterGen) → fractional filters (LPRelax) → rounding → do they cover everybody?
    → if not, those missed join the sample → loads by maximum flow → filter adjustment

`literal` is the paper's loop: each time a new sample by weight, weights of what is missed doubled. It hardly converges
(spec 2, B3: each draw forgets what earlier ones missed), so by default the sample grows by what was missed, half of it
by count, half the largest boxes; and the load is sampled by candidate set instead of uniformly.

Filters that cover everybody need not allow the loads. Where the flow fails at β_max whoever cannot be routed may go to all
candidates, filters growing for them: the answer is within limits whenever Balance is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thatch.placement.balance import balanced, interest_rank
from thatch.placement.coverage import covered, grouped
from thatch.placement.filters import filters_of
from thatch.placement.flow import least_factor, route, spread
from thatch.placement.problem import Problem
from thatch.placement.rows import Bools, Floats, Ints, distinct_rows
from thatch.placement.slp.filter_gen import candidate_boxes
from thatch.placement.slp.relaxation import Relaxed, relaxed
from thatch.placement.types import Types, types_of

__all__ = ["Outcome", "slp1"]

_EXPANSION = 0.1  # ε; the paper gives none
_SAMPLED = 10  # types a leaf, for the load
_CLUSTERS = 5  # super-interests a leaf
_ROUNDINGS = 20
_ITERATIONS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The answer, and the value of the last linear program: None where none was solved."""

    served_by: Ints
    filters: tuple[Floats, ...]
    fractional: float | None


def slp1(problem: Problem, rng: np.random.Generator, *, literal: bool = False) -> Outcome:
    """Assign subscribers by sampling, linear programming and flow.

    Parameters
    ----------
    literal : the paper's loop, samples drawn anew by doubled weights

    Raises
    ------
    MissingPackageError
        Without OR-Tools or SciPy.
    """
    types = types_of(problem)
    loop = _literal if literal else _growing
    filters, value = loop(problem, types, rng)
    served_by = _loaded(problem, types, filters)
    prior = _by_node(problem, filters)
    return Outcome(served_by, filters_of(problem, served_by, prior), value)


def _growing(problem: Problem, types: Types, rng: np.random.Generator) -> tuple[list[Floats], float | None]:
    """The sample grows by what was missed, until nothing is."""
    leaves = len(problem.tree.leaves)
    weights = _stratified(types, _SAMPLED * leaves, rng)
    sample = np.flatnonzero(weights)
    filters: list[Floats] = _empty(problem)
    value = None
    for _ in range(_ITERATIONS):
        found = _relaxed(problem, types, sample, weights, rng)
        if found is None:
            break
        value = found.value
        filters = _rounded(problem, types, sample, found, rng)
        missed = np.flatnonzero(~_is_covered(problem, types, filters))
        if not len(missed):
            break
        more = 3 * leaves // 2 + 1
        chance = types.count[missed] / types.count[missed].sum()
        by_count = rng.choice(missed, min(len(missed), more), replace=False, p=chance)
        hulls = problem.interests.boxes[problem.interests.start[types.interest[missed]]]
        d = problem.interests.axes
        largest = missed[np.argsort(-np.prod(hulls[:, d:] - hulls[:, :d], axis=1), kind="stable")[:more]]
        sample = np.unique(np.concatenate([sample, by_count, largest]))
    return filters, value


def _literal(problem: Problem, types: Types, rng: np.random.Generator) -> tuple[list[Floats], float | None]:
    """The paper's coreset by reweighting: figure 3, with what is missed after expansion doubled, as its test demands."""
    leaves = len(problem.tree.leaves)
    m = problem.subscribers
    filters: list[Floats] = _empty(problem)
    value = None
    size = max(2, leaves)
    for _ in range(4):  # g = g0, 2 g0, …
        doubling = np.ones(len(types))
        counted = 0
        for _ in range(_ITERATIONS):
            chance = doubling * types.count
            drawn = rng.choice(len(types), int(size * np.log(size)) + 1, p=chance / chance.sum())
            load = rng.choice(len(types), _SAMPLED * leaves, p=types.count / m)
            weights = np.bincount(load, minlength=len(types)).astype(np.float64)
            sample = np.unique(np.concatenate([drawn, load]))
            found = _relaxed(problem, types, sample, weights, rng)
            if found is None:
                continue
            value = found.value
            filters = _rounded(problem, types, sample, found, rng)
            is_missed = ~_is_covered(problem, types, filters)
            if not is_missed.any():
                return filters, value
            if chance[is_missed].sum() > chance.sum() / 8:
                continue
            doubling[is_missed] *= 2
            counted += 1
            if counted > 4 * size * max(1.0, np.log(m / size)):
                break
        size *= 2
    return filters, value


def _relaxed(
    problem: Problem, types: Types, sample: Ints, weights: Floats, rng: np.random.Generator
) -> Relaxed | None:
    rows, owner = problem.interests.rows_of(types.interest[sample])
    first = np.zeros(len(types), np.int64)
    first[types.of[::-1]] = np.arange(problem.subscribers)[::-1]
    boxes = problem.interests.boxes[rows]
    locations = problem.locations[first[sample]][owner]
    candidates = candidate_boxes(boxes, locations, _CLUSTERS * len(problem.tree.leaves), rng)
    return relaxed(problem, types, sample, weights[sample], candidates)


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


def _rounded(
    problem: Problem, types: Types, sample: Ints, found: Relaxed, rng: np.random.Generator
) -> list[Floats]:
    """Filters of leaves, each box kept with probability 1 − (1 − ŷ)^ln|Sa|, until the sample is covered; expanded by ε."""
    chance = 1 - (1 - found.amount) ** max(1.0, np.log(len(sample)))
    best: list[Floats] = []
    fewest = len(sample) + 1
    for _ in range(_ROUNDINGS):
        is_kept = rng.random(len(chance)) < chance
        ends = np.searchsorted(found.leaf[is_kept], np.arange(1, len(problem.tree.leaves)))
        filters = np.split(found.boxes[is_kept], ends)  # leaves rise
        missed = int((~_is_covered(problem, types, filters, sample)).sum())
        if missed < fewest:
            best, fewest = filters, missed
        if not missed:
            break
    d = problem.interests.axes
    expanded = []
    for boxes in best:
        margin = (boxes[:, d:] - boxes[:, :d]) * (_EXPANSION / 2)
        expanded.append(np.hstack([boxes[:, :d] - margin, boxes[:, d:] + margin]))
    return expanded


def _is_covered(problem: Problem, types: Types, filters: list[Floats], chosen: Ints | None = None) -> Bools:
    """Whether some candidate of each type, or of those chosen, contains its interest."""
    chosen = np.arange(len(types)) if chosen is None else chosen
    distinct, interest = np.unique(types.interest[chosen], return_inverse=True)
    contains = covered(problem, _by_node(problem, filters), distinct)
    allowed: Bools = contains[interest] & types.sets.matrix[types.candidates[chosen]]
    return np.asarray(allowed.any(axis=1))


def _loaded(problem: Problem, types: Types, filters: list[Floats]) -> Ints:
    """Who is served by whom, at the smallest load factor from β to β_max; groups that cannot be routed may go anywhere."""
    matrix, group, _ = grouped(problem, types, _by_node(problem, filters))
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


def _empty(problem: Problem) -> list[Floats]:
    return [np.zeros((0, problem.interests.boxes.shape[1])) for _ in problem.tree.leaves]


def _by_node(problem: Problem, filters: list[Floats]) -> list[Floats]:
    """Filters of leaves, as nodes of the tree; the others have none."""
    none = np.zeros((0, problem.interests.boxes.shape[1]))
    answer = [none] * len(problem.tree.parents)
    for leaf, boxes in zip(problem.tree.leaves.tolist(), filters, strict=True):
        answer[leaf] = boxes
    return answer
