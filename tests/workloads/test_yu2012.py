"""The networks and subscribers of yu2012: the figures that the paper gives, and what it leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from thatch.errors import ParameterError
from thatch.placement import BrokerTree, PlacementProblem
from thatch.workloads.yu2012 import LEVELS, LOAD_FACTORS, SETS, network, one_level, population, two_levels


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def problem(made, tree, number: int, **more) -> PlacementProblem:
    people = population(random(10), made, 2_000, number, **more)
    beta, beta_max = LOAD_FACTORS[number]
    return PlacementProblem.of(
        BrokerTree.of(tree.parents, tree.locations),
        people.locations,
        people.lows,
        people.highs,
        domain=people.domain,
        beta=beta,
        beta_max=beta_max,
    )


def test_a_network_has_the_nodes_and_the_regions_of_the_paper():
    made = network(random(1))
    assert made.nodes.shape == (1_019, 5)
    assert made.brokers.shape == (100, 5)
    assert np.bincount(made.broker_regions).tolist() == [45, 11, 44]
    share = np.bincount(made.node_regions) / 1_019
    assert share == pytest.approx([4 / 9, 1 / 9, 4 / 9], abs=0.05)
    middle = made.nodes[made.node_regions == 1].mean(axis=0)
    assert np.linalg.norm(made.publisher - middle) < 40


@pytest.mark.parametrize("ratio", [(3, 3, 3), (2, 5, 2), (1, 7, 1), (7, 1, 1), (0, 1, 0)])
def test_brokers_stand_in_the_regions_asked_for(ratio):
    made = network(random(1), 90, ratio=ratio)
    wanted = 90 * np.asarray(ratio) / sum(ratio)
    assert np.bincount(made.broker_regions, minlength=3) == pytest.approx(wanted, abs=1)
    assert len(np.unique(made.brokers, axis=0)) == 90


def test_a_fifth_of_the_brokers_are_candidates():
    made = network(random(1))
    sets = problem(made, one_level(made), 3).candidate_sets()
    assert 0.12 < sets.matrix[sets.of].mean() < 0.26


def test_the_tree_of_two_levels_has_thirteen_inner_brokers_of_bounded_degree():
    made = network(random(1), 187)
    tree = two_levels(random(2), made)
    assert len(tree.parents) == 201
    checked = BrokerTree.of(tree.parents, tree.locations)
    assert len(checked.leaves) == 187
    assert max(len(checked.children(node)) for node in range(201)) <= 15
    assert min(len(checked.children(node)) for node in range(1, 14)) >= 1


@pytest.mark.parametrize("number", SETS)
def test_interests_lie_in_event_space_and_their_subscribers_at_nodes(number):
    made = network(random(1))
    people = population(random(2), made, 3_000, number)
    low, high = people.domain
    assert (people.lows >= low).all()
    assert (people.highs <= high).all()
    assert (people.lows < people.highs).all()
    nodes = {row.tobytes() for row in made.nodes}
    assert {row.tobytes() for row in people.locations} <= nodes


@pytest.mark.parametrize("number", SETS)
def test_nobody_shares_a_location_or_a_box_in_the_continuous_variants(number):
    made = network(random(1))
    plain = population(random(2), made, 2_000, number)
    moved = population(random(2), made, 2_000, number, spread=2.0, jitter=0.1)
    assert len(np.unique(plain.locations, axis=0)) < 1_020
    assert len(np.unique(plain.lows, axis=0)) < 1_500
    assert len(np.unique(moved.locations, axis=0)) == 2_000
    assert len(np.unique(moved.lows, axis=0)) == 2_000
    assert (moved.lows >= plain.lows).all()
    assert (moved.highs <= plain.highs).all()
    assert np.abs(moved.locations - plain.locations).std() == pytest.approx(2.0 * 0.6, rel=0.1)


def test_the_second_set_has_fifty_squares_at_ten_places_each():
    people = population(random(2), network(random(1)), 20_000, 2)
    squares, number, count = np.unique(people.lows, axis=0, return_inverse=True, return_counts=True)
    assert len(squares) == 50
    assert people.highs - people.lows == pytest.approx(1.0)
    for square in range(50):
        assert len(np.unique(people.locations[number.reshape(-1) == square], axis=0)) <= 10
    assert np.sort(count)[-1] / 20_000 == pytest.approx(1 / (np.arange(1, 51) ** -0.5).sum() * 1, rel=0.15)


def test_the_third_set_has_hot_cells_and_five_widths():
    people = population(random(2), network(random(1)), 20_000, 3)
    inner = (people.lows > 0).all(axis=1) & (people.highs < 10).all(axis=1)
    assert set(np.unique((people.highs - people.lows)[inner])) == {1.0, 2.0, 3.0, 4.0, 5.0}


def volume(people) -> np.ndarray:
    return (people.highs - people.lows).prod(axis=1)


def test_the_four_loads_of_the_first_set_differ_in_skew_and_in_broad_interests():
    made = network(random(1))
    loads = {
        (skewness, broad): population(random(2), made, 30_000, 1, skewness=skewness, broad=broad)
        for skewness in LEVELS
        for broad in LEVELS
    }
    for level in LEVELS:
        # Generalisation: more large boxes. Diffusion: the most popular topics have less.
        assert (volume(loads[level, "H"]) > 500).mean() > 2 * (volume(loads[level, "L"]) > 500).mean()
        top = {
            skewness: np.sort(np.unique(loads[skewness, level].lows, axis=0, return_counts=True)[1])[
                -50:
            ].sum()
            for skewness in LEVELS
        }
        assert top["H"] > 1.2 * top["L"]


def test_regions_want_different_topics():
    made = network(random(1))
    people = population(random(2), made, 20_000, 1)
    region_of = {row.tobytes(): region for row, region in zip(made.nodes, made.node_regions, strict=True)}
    regions = np.array([region_of[row.tobytes()] for row in people.locations])
    assert np.bincount(regions) / 20_000 == pytest.approx([4 / 9, 1 / 9, 4 / 9], abs=0.02)
    _, topic = np.unique(people.lows, axis=0, return_inverse=True)
    counts = np.zeros((topic.max() + 1, 3))
    np.add.at(counts, (topic.reshape(-1), regions), 1)
    shares = counts / counts.sum(axis=0)
    assert np.minimum(shares[:, 0], shares[:, 2]).sum() < 0.8  # what Asia and Europe have in common


@pytest.mark.parametrize("number", SETS)
def test_the_same_seed_gives_the_same_people(number):
    first, second = (population(random(3), network(random(1), 20), 500, number) for _ in range(2))
    assert (first.lows == second.lows).all()
    assert (first.locations == second.locations).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: network(random(0), 0), "at least one broker"),
        (lambda: network(random(0), 5, ratio=(1, -1, 1)), "a share for each of three regions"),
        (lambda: two_levels(random(0), network(random(0), 20), inner=1), "with room for 20 leaves"),
        (lambda: population(random(0), network(random(0), 5), 10, 4), "one of 1, 2, 3"),
        (lambda: population(random(0), network(random(0), 5), 0), "at least one subscriber"),
        (lambda: population(random(0), network(random(0), 5), 5, skewness="M"), '"L" or "H"'),
        (lambda: population(random(0), network(random(0), 5), 5, jitter=0.5), "below 0.5"),
        (lambda: population(random(0), network(random(0), 5), 5, spread=-1), "a spread from 0"),
    ],
)
def test_what_makes_no_workload_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
