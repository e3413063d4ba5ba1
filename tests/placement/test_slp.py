from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.placement.instances import drawn, problems
from thatch.placement import BrokerTree, Status, solve, verify
from thatch.placement.flow import route
from thatch.placement.slp import program, split
from thatch.placement.slp.branches import Branches, Subproblem
from thatch.placement.slp.coverage import Coverage
from thatch.placement.slp.filter_gen import candidate_boxes, cover_axis
from thatch.placement.slp.program import LinearProgram
from thatch.placement.slp.relaxation import FractionalFilters, draw_boxes, relax
from thatch.placement.slp.repair import repair


def part_of(problem, branches=None, factor=None):
    branches = Branches.leaves(problem) if branches is None else branches
    capacities = problem.capacities(problem.beta if factor is None else factor)
    return Subproblem.of(problem, problem.subscriber_types(), branches, capacities)


def test_branches_are_children_with_the_leaves_below_them():
    tree = BrokerTree.of([-1, 0, 0, 1, 1, 3], np.zeros((6, 1)))
    problem = drawn(1)
    object.__setattr__(problem, "tree", tree)
    object.__setattr__(problem, "complexities", np.arange(1, 7))
    branches = Branches.below(problem, 0)
    assert tree.leaves.tolist() == [2, 4, 5]
    assert branches.nodes.tolist() == [1, 2]
    assert branches.of_leaf.tolist() == [1, 0, 0]
    assert branches.complexities.tolist() == [2, 3]
    assert Branches.below(problem, 1).of_leaf.tolist() == [-1, 1, 0]
    assert branches.any_leaf(np.array([[True, False, False], [False, True, True]])).tolist() == [
        [False, True],
        [True, False],
    ]


@given(st.integers(0, 10_000))
@examples(20)
def test_a_program_has_the_optimum_that_another_solver_finds(seed):
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(seed)
    y, z, x = 6, 4, 5
    inside = rng.random((z, y)) < 0.5
    cost = rng.random(y)
    pairs = rng.integers(0, z, x)
    made = LinearProgram()
    ys, zs, xs = (made.add_columns(each) for each in (y, z, x))
    made.add_row(ys, np.ones(y), -np.inf, 3.0)
    made.add_cover(zs, inside, ys)
    made.add_pairs(xs, zs[pairs])
    made.add_sums(np.array([0, 0, 1, 1, 1]), xs, 2)
    above = np.zeros((1 + z + x + 2, y + z + x))
    above[0, :y] = 1
    above[1 : 1 + z, :y], above[1 : 1 + z, y : y + z] = -inside.astype(float), np.eye(z)
    above[np.arange(x) + 1 + z, y + z + np.arange(x)] = 1
    above[np.arange(x) + 1 + z, y + pairs] = -1
    above[-2, y + z : y + z + 2] = -1
    above[-1, y + z + 2 :] = -1
    limits = np.concatenate([[3.0], np.zeros(z + x), [-1.0, -1.0]])
    theirs = optimize.linprog(
        np.concatenate([cost, np.zeros(z + x)]), above, limits, bounds=(0, 1), method="highs"
    )
    ours = made.solve(cost)
    assert (ours is None) == (theirs.status != 0)
    if ours is not None:
        assert cost @ ours[:y] == pytest.approx(theirs.fun, abs=1e-6)


def test_large_programs_end_at_a_vertex_too(monkeypatch):
    problem = drawn(3, subscribers=120)
    part = part_of(problem)
    sample = np.arange(len(part.types))
    boxes = problem.interests.boxes[part.types.interest]
    candidates = candidate_boxes(boxes, problem.locations[: len(boxes)], 25, np.random.default_rng(0))
    capacities = part.capacities.astype(float)
    weights = part.types.count.astype(float)
    exact = relax(part, sample, weights, candidates, capacities)
    monkeypatch.setattr(program, "_SIMPLEX_COLUMNS", 0)
    large = relax(part, sample, weights, candidates, capacities)
    monkeypatch.setattr(program, "_VERTEX_ROWS", 0)
    rough = relax(part, sample, weights, candidates, capacities)
    assert large.value == pytest.approx(exact.value, rel=0.03)
    assert rough.value == pytest.approx(exact.value, rel=0.03)
    assert (large.amount > 1e-6).sum() <= (rough.amount > 1e-6).sum()


def test_a_relaxation_is_not_above_an_answer_that_it_allows():
    problem = drawn(5, subscribers=40)
    placement = solve(problem, "gr_star_search")
    part = part_of(problem, factor=placement.load_factor)
    leaves = [placement.filters[leaf] for leaf in problem.tree.leaves.tolist()]
    found = relax(
        part,
        np.arange(len(part.types)),
        part.types.count.astype(float),
        np.concatenate(leaves),
        part.capacities.astype(float),
    )
    boxes = np.concatenate(leaves)
    assert found.value <= np.prod(boxes[:, 2:] - boxes[:, :2], axis=1).sum() + 1e-6


def test_a_draw_has_at_most_alpha_boxes_and_each_as_often_as_its_fraction():
    problem = drawn(3, leaves=2, complexity=2)
    branches = Branches.leaves(problem)
    boxes = np.arange(20.0).reshape(5, 4)
    amount = np.array([0.5, 0.25, 1.0, 0.25, 0.6])
    found = FractionalFilters(boxes, np.array([0, 0, 0, 0, 1]), amount, 0.0)
    rng = np.random.default_rng(0)
    seen = np.zeros(5)
    for _ in range(2_000):
        filters = draw_boxes(found, branches, rng)
        assert len(filters[0]) == 2
        assert len(filters[1]) <= 1
        for each in np.concatenate(filters):
            seen[int(each[0]) // 4] += 1
    assert seen / 2_000 == pytest.approx(amount, abs=0.05)


@pytest.mark.slow
@given(problems)
@examples(40)
def test_filters_grow_until_everybody_is_served_whenever_candidates_allow_it(problem):
    branches = (
        Branches.leaves(problem) if problem.tree.is_one_level else Branches.below(problem, problem.tree.root)
    )
    part = part_of(problem, branches)
    types = part.types
    supplies = np.bincount(types.candidates, types.count, minlength=len(types.sets.matrix)).astype(int)
    can = route(supplies, types.sets.matrix, part.capacities).routed == problem.subscribers
    state = Coverage(part)
    done = repair(state)
    assert (done is not None) == can
    for branch, boxes in enumerate(state.filters):
        assert len(boxes) <= branches.complexities[branch]
    if done is not None:
        assert not state.is_missed().any()


@pytest.mark.slow
def test_slp_is_feasible_where_the_greedy_ones_are_not():
    seeds = []
    for seed in (0, 1, 4, 7, 8):
        loose = drawn(seed, subscribers=300, leaves=12, inner=3, max_delay=0.25)
        floor = solve(loose, "balance").load_factor
        tight = drawn(
            seed,
            subscribers=300,
            leaves=12,
            inner=3,
            max_delay=0.25,
            beta=max(1.01, 1.03 * floor),
            beta_max=max(1.02, 1.04 * floor),
        )
        assert solve(tight, "slp").status is Status.FEASIBLE
        if all(solve(tight, each).status is Status.INFEASIBLE for each in ("gr", "gr_star")):
            seeds.append(seed)
    assert len(seeds) >= 3


def test_on_one_level_slp_is_slp1():
    problem = drawn(4)
    one, other = solve(problem, "slp", seed=3), solve(problem, "slp1", seed=3)
    assert (one.assignment == other.assignment).all()
    assert one.bounds.fractional == other.bounds.fractional is not None
    assert solve(drawn(4, inner=2), "slp").bounds.fractional is None


@pytest.mark.parametrize("algorithm", ["slp1", "slp"])
def test_a_solver_that_fails_leaves_a_verified_answer(monkeypatch, algorithm):
    monkeypatch.setattr(program, "_solve", lambda *_: None)
    placement = solve(drawn(3, inner=2 if algorithm == "slp" else 0, beta=2.4, beta_max=2.6), algorithm)
    assert verify(placement).is_valid
    assert placement.status is Status.FEASIBLE
    assert placement.bounds.fractional is None


def test_a_solver_that_has_no_time_left_leaves_a_verified_answer(monkeypatch):
    monkeypatch.setattr(program, "_SIMPLEX_COLUMNS", 0)
    monkeypatch.setattr(program, "_PASSES", 1)
    placement = solve(drawn(3), "slp1")
    assert placement.status is Status.FEASIBLE
    assert placement.bounds.fractional is None


@pytest.mark.parametrize(
    ("misses", "programs", "kept"),
    [([60, 30, 40, 20], 3, 1), ([60, 60], 2, 0), ([60, 0], 2, 1), ([2, 0], 1, 0)],
)
def test_programs_end_when_few_are_missed_or_no_fewer_than_before(monkeypatch, misses, programs, kept):
    part = part_of(drawn(7, subscribers=400))
    seldom = np.argsort(part.types.count, kind="stable")
    solved = []

    def is_missed(state):
        is_missed = np.zeros(len(part.types), np.bool_)
        is_missed[seldom[: misses[len(solved) - 1]]] = True
        return is_missed

    def counted(*given, **more):
        solved.append(1)
        return relax_sample(*given, **more)

    relax_sample = split.relax_sample
    empty = Coverage(part).filters
    monkeypatch.setattr(split, "relax_sample", counted)
    monkeypatch.setattr(split, "_draw_often", lambda *_: [[np.full((1, 4), len(solved) - 1.0), *empty[1:]]])
    monkeypatch.setattr(Coverage, "is_missed", is_missed)
    monkeypatch.setattr(split, "_serve_all", lambda state: part.types.of)
    found = split.split(part, np.random.default_rng(0), sampled=20)
    assert (len(solved), found.filters[0][0, 0]) == (programs, kept)
    assert found.fractional is not None


def test_of_several_draws_the_one_is_kept_whose_filters_are_least_when_all_are_served(monkeypatch):
    part = part_of(drawn(7, subscribers=100))
    hull = part.problem.interests.boxes
    whole = np.hstack([hull[:, :2].min(axis=0), hull[:, 2:].max(axis=0)])[None]
    dear = [whole] * len(part.branches)
    cheap = Coverage(part).filters
    state = Coverage(part, cheap)
    served_by = split._serve_all(state)
    for draws in ([dear, cheap], [cheap, dear]):
        found = split._repair_cheapest(part, draws)
        assert (found[0] == served_by).all()
        assert all((ours == theirs).all() for ours, theirs in zip(found[1], state.filters, strict=True))


def test_intervals_double_in_length_and_reach_from_end_to_end():
    lows, highs = np.array([0.0, 1.0, 6.0]), np.array([1.0, 2.0, 8.0])
    found = cover_axis(lows, highs).tolist()
    assert [0.0, 8.0] in found
    assert [0.0, 2.0] in found
    assert all(any(low == each for each in lows) for low, _ in found)
